import FerrySpool

/// Taking the lines of a file.
extension FollowSession {
    func take(_ piece: InputReader.Piece, _ carried: Int, _ end: Int64) throws {
        switch piece {
        case .line(let bytes):
            taken += 1
            let parts = split(bytes, at: carried)
            for part in parts {
                try take(part)
                // What it was carried for is done, also when a segment ends here.
                if parts.count > 1 { place.carried = [] }
            }
        case .tooLong(let bytes, let isStart):
            if isStart { taken += 1 }
            try refuse(bytes, endsLine: false, isFirstPiece: isStart, "the line is longer than 1 MiB")
            // The next process has to know where the line began.
            guard bytes.last == UInt8(ascii: "\n") else { return }
        case .invalid: break
        }
        advance(to: end)
    }

    private func advance(to end: Int64) {
        offset = end
        placed = taken
        if writer.firstUnstored == nil { stored = end }
    }

    /// Returns a line, or two where its first part is no beginning of it: the rest of that was lost when the log was copied.
    private func split(_ line: UnsafeBufferPointer<UInt8>, at carried: Int) -> [UnsafeBufferPointer<UInt8>] {
        guard carried > 0, carried < line.count, !lines.isEvent(line) else { return [line] }
        let parts = [UnsafeBufferPointer(rebasing: line[..<carried]), UnsafeBufferPointer(rebasing: line[carried...])]
        return parts.contains { lines.isEvent($0) } ? parts : [line]
    }

    private func take(_ line: UnsafeBufferPointer<UInt8>) throws {
        let problem: (column: Int, reason: String)? = try lines.withVerdict(line) { verdict in
            switch verdict {
            case .blank: return nil
            case .event(let event):
                try writer.append(event, number: taken, at: .now)
                events += 1
                return nil
            case .invalid(let column, let reason): return (column, reason)
            }
        }
        if let problem { try refuse(line, endsLine: true, "column \(problem.column): \(problem.reason)") }
    }

    private func refuse(
        _ bytes: UnsafeBufferPointer<UInt8>, endsLine: Bool, isFirstPiece: Bool = true, _ reason: String
    ) throws {
        let what = "\(source?.file.path ?? log.path), the line at byte \(offset), \(reason)"
        guard case .skip = invalidLines else { throw FollowError(description: what, isAboutLine: true) }
        if isFirstPiece {
            invalid += 1
            if invalid <= 10 { messages.warn("\(what); skipped") }
        }
        _ = try invalidLines.keep(bytes, endsLine: endsLine)
    }

    /// Takes a last line that has no line feed.
    func finish(_ source: FollowedSource) throws {
        try source.finish { try take($0, $1, $2) }
        advance(to: source.bytes.end)
        try note()
    }

    /// Passes over as many lines as a journal holds.
    ///
    /// - Returns: Behind the last of them.
    func skip(_ stored: Int64, in source: FollowedSource, from start: Int64) throws -> Int64 {
        var (left, end) = (stored, start)
        while left > 0 {
            do {
                let reading = try source.read { piece, carried, behind in
                    if case .line(let line) = piece {
                        for part in split(line, at: carried) {
                            let length = lines.withVerdict(part) {
                                if case .event(let event) = $0 { Int64(event.count) + 1 } else { Int64(0) }
                            }
                            // A part of a line at the end of the journal was cut off.
                            guard left > 0, length <= left else { throw Skipped() }
                            left -= length
                        }
                    }
                    end = behind
                }
                guard reading == .lines else { break }
            } catch is Skipped {
                break
            }
        }
        return end
    }

    private struct Skipped: Error {}
}
