import Glibc

extension SpoolClock {
    /// Dates a new segment: never before what the spool's writers dated earlier, in this process or another, in this boot or an earlier one.
    ///
    /// Costs a read and a write of one small file, which is not forced to the disk: in the first use after a boot the names in the folder are
    /// looked at as well, and they were forced.
    ///
    /// - Parameters:
    ///   - reading: What the wall clock says.
    ///   - own: The time of the caller's last segment: where the file cannot be kept, a writer's own order holds.
    package func dateSegment(_ reading: Timestamp, after own: Timestamp? = nil) -> CreationTime {
        var earlier = own.map { [$0] } ?? []
        guard let file = (try? spool.stateDirectory?.openOrCreate(Self.creationName, flags: O_RDWR)) ?? nil,
            (try? file.status())?.isRegular == true
        else { return CreationTime(reading: reading, after: earlier + datedNames()) }
        // Another process holds it for microseconds. One that stands still holds up nothing: then two segments may get one time.
        try? file.lock(within: .milliseconds(2))
        let latest = (try? file.readBytes(LatestCreation.length, at: 0)).flatMap { LatestCreation($0) }
        if let latest { earlier.append(latest.created) }
        if latest?.boot != LatestCreation.thisBoot {
            earlier += datedNames()
            // The first look in a boot: when the clock is set right later, it shows that this was dated by one that was wrong.
            var clock = ClockJumpDetector.Reading.now()
            clock.wall = reading
            _ = watch(clock)
        }
        let time = CreationTime(reading: reading, after: earlier)
        try? file.write(LatestCreation(boot: LatestCreation.thisBoot, created: time.created).line, at: 0)
        return time
    }

    /// Returns what a writer last dated; `nil` where that cannot be read.
    func latestCreation() -> LatestCreation? {
        ((try? spool.stateDirectory?.open(Self.creationName)) ?? nil).flatMap { file in
            (try? file.readBytes(LatestCreation.length, at: 0)).flatMap { LatestCreation($0) }
        }
    }

    static let creationName = "created.json"

    /// Returns the times in the names of what is pending, being written, or was delivered last.
    private func datedNames() -> [Timestamp] {
        var times: [Timestamp] = []
        func look(_ folder: Directory) {
            try? folder.forEachName { name in
                if let fields = SegmentNameFields(name) {
                    times.append(fields.created)
                } else if EntryKind(name) == .journal {
                    let stem = String(decoding: name, as: UTF8.self).dropFirst().dropLast(
                        EntryKind.journalSuffix.utf8CodeUnitCount)
                    if let segment = SegmentName("\(stem).jsonl.gz") { times.append(segment.created) }
                }
            }
        }
        look(spool.directory)
        if let latest = (try? spool.sentDays())?.last { look(latest) }
        return times
    }
}
