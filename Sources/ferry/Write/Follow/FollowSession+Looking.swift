import FerrySpool

/// Going from one file of a log to the next.
extension FollowSession {
    /// How often the files beside the log are looked at while that is read: they may get late lines.
    private static let lookInterval = Duration.seconds(2)
    /// How long a rotated file is quiet before the next one is read.
    private static let patience = Duration.seconds(1)
    /// How long a line that has not ended is waited for; and how long a file that is not quiet keeps the others waiting.
    private static let longestPatience = Duration.seconds(10)

    /// Whether it is time to look at the other files, now that there is nothing more to read.
    func isTimeToLook(behind source: FollowedSource) throws(FileError) -> Bool {
        guard !source.isFinal, try log.status()?.identity == source.identity else { return true }
        // Then that was looked at before.
        if source.bytes.end == 0 { return false }
        return lookedAt.map { $0 + Self.lookInterval <= .now } ?? true
    }

    /// Looks at all files, and goes on with the next one that has something to read.
    ///
    /// - Returns: Whether there is one.
    func lookForNext() throws -> Bool {
        let isReading = source != nil && !isEmptied
        var current = source?.bytes.file ?? place.file
        let journal = isResuming ? try notes.journalSize(of: place) : nil
        let resuming = place.resuming(journal: journal)
        if isResuming, current.offset == 0, resuming.stored > 0, let ahead = place.ahead { current = ahead }
        let look = try FollowLook(
            at: log, [current] + place.known, logNumber: place.log, unchanged: unchanged, contents: contents)
        contents = look.contents
        guard look.isStable else { return false }
        let pause = lookedAt.map { ContinuousClock.now - $0 } ?? .zero
        lookedAt = .now
        let turn = try next(in: look, current, isReading: isReading)
        keep(look)
        guard let turn else { return false }
        if isReading, let source, !(try mayLeave(source)) { return false }
        if turn.entry != 0 { if isReading { tellGap(look, after: pause) } else { tellLost(look, current) } }
        return try begin(turn, look, current, resuming)
    }

    /// Returns the file that is to be read next; `nil` when none has anything to read.
    private func next(in look: FollowLook, _ current: FollowedFile, isReading: Bool) throws -> Turn? {
        let known = [current] + place.known
        func turn(_ found: FollowLook.Found, _ entry: Int?) -> Turn? {
            guard let file = found.file else { return nil }
            return Turn(file: file, offset: entry.map { known[$0].offset } ?? 0, entry: entry, form: found.form)
        }
        // Of a file that nothing was taken of nothing shows that it is the next one.
        if !isReading, current.offset > 0 {
            for (index, found) in look.rotated.enumerated() where look.match.rotated[index] == .known(0) {
                if let failure = found.failure { throw failure }
                return turn(found, 0)
            }
            if let log = look.log, look.match.log == .known(0) {
                return Turn(file: log, offset: current.offset, entry: 0, isLog: true)
            }
            if let log = look.log, look.match.log == .start(of: 0), let size = look.logStatus?.size.bytes {
                return Turn(file: log, offset: size, entry: 0, isLog: true, isCut: true)
            }
        }
        let firstKnown = look.match.rotated.firstIndex { if case .known = $0 { true } else { false } }
        for (index, found) in look.rotated.enumerated() where !found.isRaw {
            if isReading, found.rotated.status.identity == source?.identity { continue }
            switch look.match.rotated[index] {
            case .known(let entry) where found.size > known[entry].offset: if let turn = turn(found, entry) { return turn }
            case .new:
                // Those were there before the files that are known.
                if place.hasOlder, firstKnown.map({ index < $0 }) ?? false { continue }
                tellDoubt(look, current, index)
                if let turn = turn(found, nil) { return turn }
            default: break
            }
        }
        guard let log = look.log, let status = look.logStatus, !isReading || status.identity != source?.identity else {
            return nil
        }
        if case .known(let entry) = look.match.log {
            return status.size.bytes > known[entry].offset || !isReading
                ? Turn(file: log, offset: known[entry].offset, entry: entry, isLog: true) : nil
        }
        return status.size > .zero || !isReading ? Turn(file: log, offset: 0, isLog: true) : nil
    }

    /// Returns whether a file that was read to its end may be left.
    private func mayLeave(_ source: FollowedSource) throws -> Bool {
        if source.isFinal {
            guard !source.goesOn, source.bytes.end > offset else { return true }
            try finish(source)
            return true
        }
        // A late line in another file, or one that came between: it is returned to.
        if try log.status()?.identity == source.identity { return true }
        let hasWaited = source.endedAt.map { $0 + Self.longestPatience <= .now } ?? false
        // The number of the log may be another file's by now: a copy, too, may be one that gets more.
        guard source.bytes.end > offset, !source.goesOn else { return hasWaited || source.isQuiet(for: Self.patience) }
        guard source.isQuiet(for: Self.longestPatience) else { return hasWaited }
        try finish(source)
        // That may be a part of another file, too.
        return false
    }
}
