import FerrySpool

/// Leaving a file of a log for the next one.
extension FollowSession {
    /// A file that is to be read next.
    struct Turn {
        let file: OpenFile
        let offset: Int64
        /// Which known file it is; `nil`: a new one.
        var entry: Int?
        var form = InputForm.plain
        var isLog = false
        /// It is shorter than what was stored of it.
        var isCut = false
    }

    /// Begins with the next file.
    ///
    /// - Returns: `false` when it changed meanwhile.
    func begin(
        _ turn: Turn, _ look: FollowLook, _ current: FollowedFile, _ resuming: (offset: Int64, stored: Int64)
    ) throws -> Bool {
        let isCopy = look.match.isCopying && !turn.isLog
        func source(at offset: Int64, carrying carried: [UInt8]) throws -> FollowedSource {
            try FollowedSource(
                turn.file, at: offset, form: turn.form, isFinal: turn.form != .plain, goesOn: isCopy, carrying: carried)
        }
        // What is read next begins a segment.
        if self.source != nil { try writer.roll() }
        let carried = turn.offset == 0 || isResuming ? carried(look) : []
        var offset = turn.offset
        var file = turn.entry.map { $0 == 0 ? current : place.known[$0 - 1] }
        if isResuming, turn.entry == 0 {
            offset = turn.isCut ? min(resuming.offset, turn.offset) : resuming.offset
            if resuming.stored > 0 {
                let passed = try source(at: offset, carrying: carried)
                offset = try skip(resuming.stored, in: passed, from: offset)
                passed.bytes.advance(to: offset)
                file = passed.bytes.file
            }
        }
        let new = try source(at: offset, carrying: carried)
        if turn.form == .plain {
            // It may have been emptied meanwhile.
            if let file, file.offset == offset, offset > 0, file.tail != nil, file.tail != new.bytes.file.tail { return false }
            file = new.bytes.file
        }
        leave(for: turn, look, isCarrying: !carried.isEmpty)
        if turn.isLog || isCopy { place.log = look.logStatus?.inode } else { place.log = nil }
        isResuming = false
        var known = file ?? new.bytes.file
        known.inode = new.bytes.file.inode
        try begin(new, known, at: offset, carrying: carried)
        return true
    }

    /// Keeps the file that was read among the known ones.
    private func leave(for turn: Turn, _ look: FollowLook, isCarrying: Bool) {
        if let source, source.isFinal || source.goesOn && !isEmptied, isCarrying || source.unfinished.isEmpty {
            source.bytes.advance(to: source.bytes.end)
        }
        let left = source?.bytes.file ?? place.file
        if let entry = turn.entry, entry > 0 { place.known.remove(at: entry - 1) }
        if turn.entry != 0, left.offset > 0 { place.known.append(left) }
        let numbers = look.numbers
        place.limit { numbers.contains($0.inode) }
    }

    /// Returns the first part of the next file's first line.
    private func carried(_ look: FollowLook) -> [UInt8] {
        guard let source else { return place.carried }
        // The end of a copy; or what the copy has not, since it was made before.
        if source.goesOn || isEmptied && look.match.rotated.contains(.start(of: 0)) { return source.unfinished }
        // Of a log of which nothing was taken.
        return offset == 0 && (isEmptied || source.bytes.end == 0) ? place.carried : []
    }
}
