/// The segments of a spool at one moment, in upload order.
///
/// Compact, because a spool may hold a million: the names lie back to back in one buffer, an entry is 32 bytes.
package struct SpoolListing: Sendable {
    /// One segment.
    package struct Entry: Sendable {
        /// Priority and time in one number, so that sorting compares numbers and only ties compare names.
        var key: UInt64
        var nameStart: UInt32
        var nameLength: UInt16
        /// A name from another tool.
        package internal(set) var isForeign: Bool
        /// Whether there was a sidecar.
        package var hasSidecar: Bool
        /// `nil` when the listing was made without sizes, or the file could not be examined.
        package var size: ByteCount?
        /// For the caller that works through the listing.
        package var isTaken = false
        /// It was there when the folder was listed; the others were added later.
        var isScanned = false

        /// The priority in the segment's name.
        package var priority: Priority { Priority(clamping: Int(key >> 56)) }
        /// The time that the segment is sorted by.
        package var created: Timestamp {
            Timestamp(milliseconds: Int64(key & Self.timeMask) + Timestamp.distantPast.milliseconds)
        }

        private static let timeMask: UInt64 = (1 << 56) - 1

        init(priority: Priority, created: Timestamp, nameStart: Int, nameLength: Int, isForeign: Bool, size: ByteCount?) {
            // Not negative, and far below the mask: a timestamp lies in the years 0000 to 9999.
            let time = UInt64(created.milliseconds - Timestamp.distantPast.milliseconds)
            key = UInt64(priority.level) << 56 | time
            self.nameStart = UInt32(nameStart)
            self.nameLength = UInt16(nameLength)
            self.isForeign = isForeign
            hasSidecar = false
            self.size = size
        }
    }

    /// In upload order.
    package var entries: [Entry] = []
    /// Files that are no segments.
    package internal(set) var others = OtherFiles()
    /// Why names could not be examined, for the first of them. Their segments are listed without sizes.
    package private(set) var problems: [FileError] = []
    /// Sidecars whose segment was not there, by what their names begin with.
    var orphanSidecars: [String] = []
    var journals: [String] = []
    /// What a receiver has not named yet, or left behind.
    var arrivals: [String] = []
    var temporaries: [String] = []
    /// Bytes of the sidecars, when the listing was made with sizes.
    package internal(set) var sidecarBytes = ByteCount.zero
    private(set) var names: [UInt8] = []
    /// Entries were dropped.
    private var isPart = false

    /// Creates an empty listing.
    package init() {}

    /// Returns the file name of an entry.
    package func name(of entry: Entry) -> String {
        let start = Int(entry.nameStart)
        return String(decoding: names[start..<start + Int(entry.nameLength)], as: UTF8.self)
    }

    /// The bytes of all entries; zero when the listing was made without sizes.
    package var segmentBytes: ByteCount { entries.reduce(.zero) { $0 + ($1.size ?? .zero) } }

    /// Segments that are being written: open journals.
    package var openJournals: Int { journals.count }

    /// Notes a name that could not be examined.
    mutating func note(_ error: FileError) { if problems.count < Self.mostProblems { problems.append(error) } }

    private static let mostProblems = 20

    /// Stores a name and returns where.
    mutating func add(name: UnsafeBufferPointer<UInt8>) -> Int {
        names.append(contentsOf: name)
        return names.count - name.count
    }

    mutating func sort() {
        names.withUnsafeBufferPointer { names in
            entries.sort { left, right in
                if left.key != right.key { return left.key < right.key }
                return names[left].lexicographicallyPrecedes(names[right])
            }
        }
    }

    /// Puts an entry at its place in upload order among those from `start` on. Returns its index.
    mutating func insert(_ entry: Entry, from start: Int) -> Int {
        let index = names.withUnsafeBufferPointer { names in
            (start..<entries.count).partitioningIndex { index in
                let other = entries[index]
                return other.key != entry.key
                    ? other.key > entry.key : !names[other].lexicographicallyPrecedes(names[entry])
            }
        }
        entries.insert(entry, at: index)
        return index
    }

    /// Puts a segment that is known already at its place in upload order among the entries from `start` on.
    ///
    /// - Returns: Its index; `nil` when the listing is full.
    package mutating func insert(_ name: String, like entry: Entry, hasSidecar: Bool, after start: Int) -> Int? {
        var name = name
        return name.withUTF8 { name in
            guard names.count <= Int(UInt32.max) - name.count else { return nil }
            var added = Entry(
                priority: entry.priority, created: entry.created, nameStart: add(name: name), nameLength: name.count,
                isForeign: entry.isForeign, size: entry.size)
            added.hasSidecar = hasSidecar
            return insert(added, from: start)
        }
    }

    /// Returns the first index from `start` on whose entry has this priority or a lower one, and in this priority this time or a later one.
    package func index(of priority: Priority, from time: Timestamp, after start: Int) -> Int {
        let wanted = Entry(priority: priority, created: time, nameStart: 0, nameLength: 0, isForeign: false, size: nil).key
        return (start..<entries.count).partitioningIndex { entries[$0].key >= wanted }
    }

    /// Forgets the entries that are taken, and their names.
    package mutating func dropTaken() {
        isPart = true
        entries.removeAll(where: \.isTaken)
        var kept: [UInt8] = []
        for index in entries.indices {
            let start = Int(entries[index].nameStart)
            entries[index].nameStart = UInt32(kept.count)
            kept += names[start..<start + Int(entries[index].nameLength)]
        }
        names = kept
    }

    /// Marks the entries that have one of these sidecars and keeps the others as orphans.
    ///
    /// - Parameter stems: What the sidecars' names begin with.
    mutating func attach(sidecars stems: [String]) {
        guard !stems.isEmpty else { return }
        var foreign: [FileName: Int] = [:]
        for index in entries.indices where entries[index].isForeign {
            foreign[ForeignName.stem(of: name(of: entries[index]))] = index
        }
        for stem in stems {
            if let index = foreign[stem] ?? indexOfSegment(stem) {
                entries[index].hasSidecar = true
            } else {
                orphanSidecars.append(stem)
            }
        }
    }

    /// Returns whether a segment was there when the folder was listed, and neither a sidecar nor a half of it.
    package func isPlain(at index: Int) -> Bool {
        let entry = entries[index]
        guard entry.isScanned, !entry.hasSidecar, !isPart else { return false }
        // A half has its parent's priority and time, and a longer name.
        guard index + 1 < entries.count, entries[index + 1].key == entry.key else { return true }
        let name = name(of: entry)
        return SegmentName(name)?.firstHalf(ofFile: name).flatMap(indexOfSegment) == nil
    }

    /// Returns the index of a segment's entry, by binary search: names of the format sort as their bytes do.
    private func indexOfSegment(_ segment: String) -> Int? {
        guard let name = SegmentName(segment) else { return nil }
        let wanted = Entry(
            priority: name.priority, created: name.created, nameStart: 0, nameLength: 0, isForeign: false, size: nil)
        let bytes = Array(segment.utf8)
        return names.withUnsafeBufferPointer { names in
            let index = entries.indices.partitioningIndex { index in
                let entry = entries[index]
                return entry.key != wanted.key ? entry.key > wanted.key : !names[entry].lexicographicallyPrecedes(bytes)
            }
            return index < entries.count && names[entries[index]].elementsEqual(bytes) ? index : nil
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate subscript(entry: SpoolListing.Entry) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: self[Int(entry.nameStart)..<Int(entry.nameStart) + Int(entry.nameLength)])
    }
}
