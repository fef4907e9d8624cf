import Glibc

@testable import FerryReplay
@testable import FerrySpool

extension FuzzTarget {
    /// What sidecars and the files of destinations hold, and why segments were rejected.
    static let sidecars = FuzzTarget("sidecars") { bytes in
        try expectSoundState(RejectionReason.self, bytes)
        guard let state = try expectSoundState(RetryState.self, bytes) else { return }
        try expect(state.attempts >= 0 && state.failures >= 0 && state.broken ?? 0 >= 0, "no count is negative")
        try expect(state.attempts + 1 > state.attempts, "another try can be counted")
        let now = Timestamp(milliseconds: 1_793_000_000_000)
        for longest in [.zero, .seconds(3600), Duration.century] {
            guard let until = state.wait(at: now, longestWait: longest) else { continue }
            try expect(until > now && until <= now + longest, "no wait is longer than the longest")
        }
    }

    /// What a spool is told, what it may hold, whose events it holds, who uses it, and where a replay stands.
    static let controlFiles = FuzzTarget("control-files") { bytes in
        try expectSoundState(SpoolControl.self, bytes)
        try expectSoundState(SpoolIdentity.self, bytes)
        if let mark = try expectSoundState(UploaderMark.self, bytes) {
            try expect(mark.interval.map { $0 > .zero && $0 < Duration.century } ?? true, "an interval is one to wait for")
        }
        try expectSoundState(OtherFiles.self, bytes)
        if let settings = try expectSoundState(SpoolSettings.self, bytes) {
            try expect(
                settings.retention.maxAge.map { $0 > .zero && $0 <= Duration.century } ?? true,
                "an age is one that can be counted with")
            try expect(settings.retention.maxBytes.map { $0 > .zero } ?? true, "a size is one")
        }
        if let position = try expectSoundState(ReplayRun.Position.self, bytes), position.isCredible {
            try expect(position.sources + 1 > 0 && position.lines + 1 > 0, "a replay can go on from its position")
        }
    }

    /// What is remembered of the clocks.
    static let clockFiles = FuzzTarget("clock-files") { bytes in
        if let latest = LatestCreation(bytes) {
            try expect(latest.line == bytes, "a line is replaced by one of its length")
            let reading = Timestamp(milliseconds: 1_793_000_000_000)
            let time = CreationTime(reading: reading, after: [latest.created])
            try expect(time.created >= reading, "a new segment is not before the clock")
            try expect(time.created - reading <= CreationTime.longestLead + .milliseconds(1), "nor more than a day after it")
        }
        guard let previous = try expectSoundState(ClockJumpDetector.self, bytes) else { return }
        for boot in [previous.bootID, "another"] {
            let reading = ClockJumpDetector.Reading(
                bootID: boot, sinceBoot: 1000, wall: Timestamp(milliseconds: 1_793_000_000_000))
            let first = ClockJumpDetector(previous: previous, reading: reading)
            let second = ClockJumpDetector(
                previous: first,
                reading: ClockJumpDetector.Reading(
                    bootID: boot, sinceBoot: 1000 + ClockJumpDetector.settlingTime.wholeMilliseconds,
                    wall: reading.wall + ClockJumpDetector.settlingTime))
            try expect(second.trustedNow != nil, "a clock that was steady for long enough is trusted")
        }
    }

    /// What a bundle has taken out of a spool.
    static let exportMarks = FuzzTarget("export-marks") { bytes in
        guard let mark = try ExportsFolder.readMark(FileInMemory(bytes).file) else { return }
        let again = try ExportsFolder.readMark(FileInMemory(ExportsFolder.lines(of: mark)).file)
        try expect(again == mark, "a mark reads as it was written")
    }

    /// What dead processes had under way.
    static let requestNotes = FuzzTarget("request-notes") { bytes in
        let notes = RequestNote.Content(bytes).notes
        for note in notes {
            try expect(note.segments.allSatisfy { SegmentName($0.name) != nil }, "a note leads to segments alone")
            for segment in note.segments {
                try expect(segment.attempts + 1 > segment.attempts, "another try can be counted")
                try expect(segment.from.map { $0 <= segment.to ?? -1 } ?? (segment.to == nil), "lines are a range")
            }
        }
        let again = RequestNote.Content(notes.flatMap { JSONLine.encode($0) })
        try expect(again.notes == notes && !again.isDamaged, "notes read as they were written")
    }

    /// Reads bytes as a state file, and what was read once more as it would be written.
    @discardableResult
    private static func expectSoundState<State: Codable & Equatable>(_ type: State.Type, _ bytes: [UInt8]) throws -> State? {
        guard let state = bytes.withUnsafeBufferPointer({ JSONLine.decode(type, $0) }) else { return nil }
        let again = JSONLine.encode(state).withUnsafeBufferPointer { JSONLine.decode(type, $0) }
        try expect(again == state, "\(type) reads as it was written")
        return state
    }
}
