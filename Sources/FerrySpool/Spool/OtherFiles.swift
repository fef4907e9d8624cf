/// Files in a spool folder that are no segments, such as `events.json` or `batch.jsonl`: they are never sent, and a person should know.
public struct OtherFiles: Codable, Equatable, Sendable {
    /// How many there are.
    public private(set) var count = 0
    /// The names of the first of them, in the order of their bytes.
    public private(set) var names: [String] = []
    /// How many files would be segments, but for names with control characters or bytes that are not UTF-8: nothing can be said of them in headers
    /// or the ledger.
    public private(set) var misnamed = 0

    /// Enough to see what they are.
    private static let mostNames = 20
    /// What a folder may hold for people.
    private static let readme = "README.md"

    /// Creates a list of none.
    public init() {}

    /// Whether there are no such files, and none with names that cannot be used.
    public var isEmpty: Bool { count == 0 && misnamed == 0 }

    mutating func noteMisnamed() { misnamed += 1 }

    /// - Parameter isFile: Whether it is a regular file, asked only if that matters.
    mutating func note(_ name: UnsafeBufferPointer<UInt8>, isFile: () -> Bool) {
        let text = String(decoding: name, as: UTF8.self)
        guard !text.hasPrefix("."), text != Self.readme, isFile() else { return }
        count += 1
        let index = names.firstIndex { text.utf8.lexicographicallyPrecedes($0.utf8) } ?? names.count
        guard index < Self.mostNames else { return }
        names.insert(text, at: index)
        if names.count > Self.mostNames { names.removeLast() }
    }
}

extension OtherFiles: CustomStringConvertible {
    /// For people: how many, and the first names.
    public var description: String {
        let shown = names.prefix(3).joined(separator: ", ")
        let list = count > 3 ? "\(shown) and \(count - 3) more" : shown
        let others = count == 1 ? "1 file that is no segment: \(list)" : "\(count) files that are no segments: \(list)"
        let (what, it) = misnamed == 1 ? ("1 file that has", "it") : ("\(misnamed) files that have", "them")
        let misnames = "\(what) control characters, or bytes that are not UTF-8, in the name: rename \(it)"
        return [count > 0 ? others : nil, misnamed > 0 ? misnames : nil].compactMap(\.self).joined(separator: "; ")
    }
}
