import Glibc

/// A segment in the making that small ones are gathered in, by appending their gzip members: an arrival of several keys.
///
/// The log has for each of them how far the file reaches with it. After a crash the file is cut back to the last of these, and becomes a segment.
package struct Gathering: Sendable {
    /// The hidden file that they are gathered in.
    package let arrival: Arrival
    /// The segment that it will be.
    package let segment: SegmentName
    /// How much of the file is logged.
    package fileprivate(set) var length = ByteCount.zero
    /// A write to the log failed, and could not be read back: what is behind ``length`` may be logged. The next process that opens the spool goes on.
    package fileprivate(set) var isUnsure = false

    /// Appends a file, which is not logged yet.
    ///
    /// - Returns: How far this one reaches then.
    fileprivate func append(_ file: OpenFile, at start: ByteCount) throws(FileError) -> ByteCount {
        var end = start.bytes
        var offset: Int64 = 0
        while true {
            let bytes = try file.readBytes(Self.step, at: offset)
            if bytes.isEmpty { return ByteCount(end) }
            try arrival.file.write(bytes, at: end)
            (offset, end) = (offset + Int64(bytes.count), end + Int64(bytes.count))
        }
    }

    private static let step = 1 << 16
}

extension Arrivals {
    /// Begins a segment in the making, with the priority, the stream and the time of the first one that is to be gathered in it.
    ///
    /// - Parameter arrival: The first one's, whose way and clock it takes over.
    package func beginGathering(like first: SegmentName, _ arrival: Arrival) throws(FileError) -> Gathering {
        let segment = first.with(id: .random())
        let gathering = Gathering(arrival: try begin(), segment: segment)
        gathering.arrival.file.inheritAttributes(of: arrival.file)
        do throws(FileError) {
            // The log will name it: the hidden name is on the disk before.
            try spool.directory.sync()
        } catch {
            discard(gathering.arrival)
            throw error
        }
        return gathering
    }

    /// Appends arrivals to segments in the making: their contents to the disk, then their keys into the log. The arrivals are removed.
    ///
    /// - Parameters:
    ///   - arrivals: Each with the place in `gatherings` of the one that it belongs to.
    ///   - follower: Learns what other processes have logged before `isKnown` is asked.
    ///   - isKnown: Asked for each under the lock of the log, which no other process can add to until the keys are logged.
    /// - Returns: Which of them were taken; the others are known.
    /// - Throws: ``FileError``; then what was logged of them all the same stays, and its senders find it known.
    package func gather(
        _ arrivals: [(arrival: Arrival, entry: ReceivedEntry, place: Int)], in gatherings: inout [Gathering],
        following follower: ReceivedLogFollower? = nil, isKnown: (ReceivedEntry) throws(FileError) -> Bool
    ) throws(FileError) -> [Bool] {
        defer { for item in arrivals { discard(item.arrival) } }
        guard let time = arrivals.first?.entry.at else { return [] }
        var isTaken = [Bool](repeating: false, count: arrivals.count)
        var ends = gatherings.map(\.length)
        let before = gatherings
        do throws(FileError) {
            try spool.received.append(on: time, following: follower) { () throws(FileError) -> [UInt8] in
                var lines: [UInt8] = []
                for (index, item) in arrivals.enumerated() {
                    if try isKnown(item.entry) { continue }
                    let gathering = before[item.place]
                    ends[item.place] = try gathering.append(item.arrival.file, at: ends[item.place])
                    var entry = item.entry
                    entry.file = gathering.arrival.fileName
                    (entry.gathered, entry.end) = (gathering.segment.fileName, ends[item.place].bytes)
                    lines += JSONLine.encode(entry)
                    isTaken[index] = true
                }
                for place in before.indices where ends[place] > before[place].length { try before[place].arrival.file.sync() }
                return lines
            }
        } catch {
            takeBack(&gatherings, appendedTo: ends, on: time)
            throw error
        }
        for place in gatherings.indices { gatherings[place].length = ends[place] }
        return isTaken
    }

    /// Cuts off what is not logged. A part of the lines may be there, on a disk that is full.
    ///
    /// - Parameter ends: How far they reach with what was appended.
    private func takeBack(_ gatherings: inout [Gathering], appendedTo ends: [ByteCount], on time: Timestamp) {
        let isAnyLogged = gatherings.indices.contains { ends[$0] > gatherings[$0].length }
        let logged = isAnyLogged ? try? loggedEnds(on: time) : [:]
        for place in gatherings.indices {
            guard ends[place] == gatherings[place].length || logged != nil else {
                gatherings[place].isUnsure = true
                continue
            }
            if let end = logged?[gatherings[place].arrival.fileName] {
                gatherings[place].length = max(gatherings[place].length, ByteCount(end))
            }
            do throws(FileError) {
                let file = gatherings[place].arrival.file
                if try file.status().size > gatherings[place].length { try file.cut(to: gatherings[place].length.bytes) }
            } catch {
                gatherings[place].isUnsure = true
            }
        }
    }

    /// Returns how far a day's log knows hidden files to reach.
    func loggedEnds(on time: Timestamp) throws(FileError) -> [String: Int64] {
        var ends: [String: Int64] = [:]
        try spool.received.forEachLine(on: time) { line in
            // A receiver knows no key by one that broke off.
            guard line.last == UInt8(ascii: "}"), let end = line.number(after: "\"end\":"),
                let name = line.text(after: "\"file\":\"")
            else { return }
            ends[name] = max(ends[name] ?? 0, end)
        }
        return ends
    }
}

extension OpenFile {
    private func fill(_ gap: Range<Int64>) throws(FileError) {
        var position = gap.lowerBound
        while position < gap.upperBound {
            let rest = gap.upperBound - position
            // In pieces, of which the last is long enough for a member.
            guard let empty = EmptyMembers.filling(Int(rest < 2 * Self.gapStep ? rest : Self.gapStep)) else {
                throw FileError(FileError.findingAllLogged, path, code: EIO)
            }
            try write(empty, at: position)
            position += Int64(empty.count)
        }
    }

    private static let gapStep: Int64 = 1 << 16

    /// Cuts a gathered file back to the parts that the log has, durably. A power cut may leave some lines of one write to the log, and others not:
    /// what is between those that are there becomes empty members, so that each stays where its line says.
    fileprivate func fillGaps(between parts: [Range<Int64>]) throws(FileError) {
        var reached: Int64 = 0
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if part.lowerBound > reached {
                try fill(reached..<part.lowerBound)
            }
            reached = max(reached, part.upperBound)
        }
        if try status().size.bytes > reached { try cut(to: reached) }
    }

    func keep(_ parts: [Range<Int64>]) throws(FileError) {
        guard let end = parts.map(\.upperBound).max(), try status().size.bytes >= end else {
            throw FileError(FileError.findingAllLogged, path, code: EIO)
        }
        try fillGaps(between: parts)
        try sync()
    }
}
