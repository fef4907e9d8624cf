@testable import FerrySpool

extension FuzzTarget {
    /// Lines of events, as files, pipes and requests bring them.
    static let jsonLines = FuzzTarget("json-lines", longest: 2048) { bytes in
        let whole = counted(bytes, pieces: bytes.count)
        try expect(counted(bytes, pieces: 1) == whole, "lines count the same byte by byte")
        try expect(counted(bytes, pieces: 7) == whole, "lines count the same in pieces of 7 bytes")
        let lines = cut(bytes, pieces: 3)
        try expect(lines == cut(bytes, pieces: bytes.count), "lines are cut the same in pieces of 3 bytes")
        var events: Int64 = 0
        var firstProblem: Int?
        for (index, line) in lines.enumerated() {
            switch try verdict(line) {
            case .event: events += 1
            case .blank: break
            case .invalid: firstProblem = firstProblem ?? index
            }
        }
        switch whole {
        case .success(let count):
            try expect(firstProblem == nil && events == count, "what is sound as a whole is sound line by line")
            var counter = LineCounter()
            _ = bytes.withUnsafeBytes { counter.count($0) }
            try expect(counter.totalAtEnd == count, "sound lines count the same without a look into them")
        case .failure(let problem):
            try expect(firstProblem.map { Int64($0) + 1 } == problem.line, "the first unsound line is the one that is named")
        }
    }

    /// What is said fast of lines, beside what the scanner says.
    static let soundLines = FuzzTarget("sound-lines", longest: 2048) { bytes in
        var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
        let isEnded = bytes.last == UInt8(ascii: "\n")
        if isEnded { lines.removeLast() }
        var events: Int64 = 0
        var areSound = isEnded
        for line in lines {
            var checker = JSONLineChecker()
            switch line.withUnsafeBufferPointer({ checker.scan($0) }) {
            case .event: events += 1
            case .blank: break
            case .invalid: areSound = false
            }
        }
        // At every place in memory, so that what lies behind it is found to be read.
        for offset in [0, 1, 15] {
            let moved = [UInt8](repeating: 0x22, count: offset) + bytes
            let found = moved.withUnsafeBufferPointer { SoundLines(UnsafeBufferPointer(rebasing: $0[offset...])) }
            try expect((found != nil) == areSound, "sound is what the scanner says")
            if let found {
                try expect(found.lines == Int64(lines.count) && found.events == events, "lines and events are those there are")
            }
        }
    }

    private static func counted(_ bytes: [UInt8], pieces: Int) -> Result<Int64, JSONLineError> {
        var counter = JSONLinesCounter()
        do {
            try bytes.withUnsafeBytes { all in
                for start in stride(from: 0, to: all.count, by: max(pieces, 1)) {
                    try counter.feed(UnsafeRawBufferPointer(rebasing: all[start..<min(start + pieces, all.count)]))
                }
            }
            try counter.finish()
            return .success(counter.events)
        } catch let problem as JSONLineError {
            return .failure(problem)
        } catch {
            fatalError("counting throws nothing else: \(error)")
        }
    }

    private static func cut(_ bytes: [UInt8], pieces: Int) -> [[UInt8]] {
        var cutter = LineCutter()
        var lines: [[UInt8]] = []
        bytes.withUnsafeBytes { all in
            for start in stride(from: 0, to: all.count, by: max(pieces, 1)) {
                let piece = UnsafeRawBufferPointer(rebasing: all[start..<min(start + pieces, all.count)])
                try? cutter.feed(piece) { lines.append(Array($0)) }
            }
        }
        try? cutter.finish { lines.append(Array($0)) }
        return lines
    }

    /// What the checker says of a line, and whether everything else that reads lines agrees.
    private static func verdict(_ line: [UInt8]) throws -> JSONLineChecker.Verdict {
        try line.withUnsafeBufferPointer { bytes in
            var checker = JSONLineChecker()
            let verdict = checker.check(bytes)
            try expect(bytes.endOfPlainText(from: 0) == plainText(line), "plain text ends where it ends")
            var walker = JSONWalker(bytes)
            walker.skipSpace()
            let value = walker.value()
            walker.skipSpace()
            if case .invalid(let column, _) = verdict {
                try expect((1...line.count + 1).contains(column), "a column is in the line")
            }
            guard verdict == .event else { return verdict }
            try expect(value != nil && walker.position == line.count, "an event is walked through to its end")
            try expect(JSONLine.decode(Anything.self, bytes) != nil, "Foundation reads an event")
            try expect(bytes.event.map(Array.init) != nil, "an event is not blank")
            if let value { try expectSound(value, in: bytes) }
            return verdict
        }
    }

    private static func expectSound(_ value: JSONField, in line: UnsafeBufferPointer<UInt8>) throws {
        try expect(line.indices.contains(value.range) || value.range.isEmpty, "a value is in its line")
        switch value.kind {
        case .string:
            let text = value.string(line)
            let quoted = JSONText.quoted(text)
            try quoted.withUnsafeBufferPointer { bytes in
                var checker = JSONLineChecker()
                try expect(checker.check(bytes) == .event, "a quoted text is JSON")
                var walker = JSONWalker(bytes)
                try expect(walker.value()?.string(bytes) == text, "a quoted text reads as it was")
            }
            try expect(value.equals(Array(text.utf8), line), "a string equals its text")
        case .number: try expect(!value.number(line).isNaN, "a number is one")
        case .object:
            var walker = JSONWalker(line, at: value.range.lowerBound)
            let isObject = try walker.forEachMember { key, value in
                try expectSound(key, in: line)
                try expectSound(value, in: line)
            }
            try expect(isObject && walker.position == value.range.upperBound, "an object is walked through to its end")
        default: break
        }
    }

    private static func plainText(_ line: [UInt8]) -> Int {
        line.firstIndex { $0 < 0x20 || $0 >= 0x80 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") } ?? line.count
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}

extension Range<Int> {
    fileprivate func contains(_ other: Range<Int>) -> Bool { lowerBound <= other.lowerBound && other.upperBound <= upperBound }
}
