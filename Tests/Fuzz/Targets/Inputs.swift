@testable import FerrySpool

extension FuzzTarget {
    /// Arrays, as files and pipes bring them.
    static let jsonArrays = FuzzTarget("json-arrays", longest: 2048) { bytes in
        let whole = elements(bytes, pieces: bytes.count)
        try expect(elements(bytes, pieces: 1) == whole, "elements are the same byte by byte")
        for case .success(let event) in whole {
            var checker = JSONLineChecker()
            let verdict = event.withUnsafeBufferPointer { checker.check($0) }
            try expect(verdict == .event, "an element that is an event is one line of JSON")
        }
    }

    /// Cuts arrays in pieces; the last element is what they end with.
    private static func elements(_ bytes: [UInt8], pieces: Int) -> [Result<[UInt8], JSONLineError>] {
        var cutter = JSONArrayCutter()
        var found: [Result<[UInt8], JSONLineError>] = []
        do {
            var rest = bytes[...]
            while !rest.isEmpty {
                try Array(rest.prefix(pieces)).withUnsafeBufferPointer { piece in
                    try cutter.feed(piece) { element in
                        switch element {
                        case .event(let text): found.append(.success(Array(text)))
                        case .invalid(_, let problem): found.append(.failure(problem))
                        }
                    }
                }
                rest = rest.dropFirst(pieces)
            }
            try cutter.finish()
        } catch let problem as JSONLineError {
            found.append(.failure(problem))
        } catch {}
        return found
    }
}
