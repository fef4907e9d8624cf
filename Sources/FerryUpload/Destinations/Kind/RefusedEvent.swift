/// Why a destination refused one event of a request.
struct RefusedEvent: Sendable {
    let status: Int
    let message: String

    /// Returns the message of a segment all of whose events were refused.
    ///
    /// - Parameter first: Why the first of them was.
    static func all(_ count: Int, _ first: String) -> String { "all \(count) events were refused: \(first)" }
}

/// A line that was refused, and why.
typealias RefusedLine = (line: RequestPart.Line, refusal: RefusedEvent)

extension RequestPart {
    /// Returns the lines of a segment that were refused, each with the reason.
    func refused(_ events: [Int: RefusedEvent], of segment: Int) -> [RefusedLine] {
        if events.isEmpty { return [] }
        return lines.enumerated().compactMap { place, line in
            line.segment == segment ? events[place].map { (line, $0) } : nil
        }
    }
}
