import Glibc

extension Arrivals {
    /// Makes arrivals segments: contents and hidden names to the disk, then their keys into the log, then the names. Several share the forced writes.
    ///
    /// The line in the log decides. A crash before it leaves nothing but a hidden file that is removed; after it,
    /// ``finishLeft()`` completes the rename. So what is logged is never removed here, even if a step fails; what is not, always is. And nothing
    /// has a name whose key is not known, under which a program could take it and its sender bring it again.
    ///
    /// The names need no forced write of their own: until they are on the disk, the hidden ones are, with the line that tells what they become.
    ///
    /// - Parameter follower: Learns what other processes have logged before `isKnown` is asked.
    /// - Parameter isKnown: Asked for each under the lock of the log, which no other process can add to until the keys are logged.
    package func admit(
        _ arrivals: [(arrival: Arrival, entry: ReceivedEntry)], forcing: Forcing = .files,
        following follower: ReceivedLogFollower? = nil,
        isKnown: (ReceivedEntry) throws(FileError) -> Bool = { _ throws(FileError) -> Bool in false }
    ) throws(FileError) -> [Admitted] {
        var results = [Admitted](repeating: .nameTaken, count: arrivals.count)
        var new: [Int] = []
        for (index, item) in arrivals.enumerated() {
            if try spool.directory.contains(item.entry.segment) { discard(item.arrival) } else { new.append(index) }
        }
        guard !new.isEmpty else { return results }
        let known = try log(new.map { arrivals[$0] }, forcing, follower, isKnown)
        for index in new where known.contains(arrivals[index].arrival.fileName) { results[index] = .known }
        for index in new where results[index] != .known {
            // Any process may claim them from then on, before the last user of the files here has closed them.
            results[index] = finish(arrivals[index].arrival, as: arrivals[index].entry.segment)
        }
        return results
    }

    /// Forces the contents to the disk, then notes the keys.
    ///
    /// - Returns: The arrivals whose keys are known; they are removed.
    private func log(
        _ arrivals: [(arrival: Arrival, entry: ReceivedEntry)], _ forcing: Forcing, _ follower: ReceivedLogFollower?,
        _ isKnown: (ReceivedEntry) throws(FileError) -> Bool
    ) throws(FileError) -> Set<String> {
        do throws(FileError) {
            if forcing == .files { for item in arrivals { try item.arrival.file.sync() } }
            // A forced file's name need not be on the disk with it.
            if forcing == .fileSystem { try spool.directory.syncFileSystem() } else { try spool.directory.sync() }
        } catch {
            for item in arrivals { discard(item.arrival) }
            throw error
        }
        let entries = arrivals.map { item in
            var entry = item.entry
            entry.file = item.arrival.fileName
            return entry
        }
        var known: Set<String> = []
        do throws(FileError) {
            try spool.received.log(entries, following: follower) { entry throws(FileError) -> Bool in
                guard try isKnown(entry) else { return true }
                if let file = entry.file { known.insert(file) }
                return false
            }
        } catch {
            // The lines, or a part of them, may be there: on a disk that is full, or that could not be forced. Their sender learns at its next try
            // that they are known, so they become segments now, with names that are on the disk.
            if let logged = try? spool.received.loggedArrivals(ofDayOf: entries[0]) {
                for item in arrivals {
                    if logged.contains(item.arrival.fileName) {
                        _ = finish(item.arrival, as: item.entry.segment)
                    } else {
                        discard(item.arrival)
                    }
                }
                try? spool.directory.sync()
            }
            throw error
        }
        for item in arrivals where known.contains(item.arrival.fileName) { discard(item.arrival) }
        return known
    }

    /// Gives an arrival whose key is logged its name, and lets others claim it.
    package func finish(_ arrival: Arrival, as segment: String) -> Admitted {
        let result = name(arrival, as: segment)
        if result == .stored { arrival.file.unlock() }
        return result
    }

    private func name(_ arrival: Arrival, as segment: String) -> Admitted {
        do throws(FileError) {
            if try spool.directory.renameWithoutReplacing(arrival.fileName, to: segment) { return .stored }
            if let there = try spool.directory.open(segment), try there.hasSameContent(as: arrival.file) {
                // It came under another key, or another way, at the same moment: by a tool that does not force it, perhaps.
                try there.sync()
                discard(arrival)
                return .stored
            }
            return .left(FileError("rename", "\(spool.directory.pathOf(arrival.fileName)) to \(segment)", code: EEXIST))
        } catch {
            return .left(error)
        }
    }
}
