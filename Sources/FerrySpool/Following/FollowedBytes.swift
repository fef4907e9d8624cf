/// Takes note of what a file is known by while it is read.
package struct FollowedBytes: Sendable {
    /// What is known of the file up to the place that is noted.
    package private(set) var file: FollowedFile
    /// Behind what was read.
    package private(set) var end: Int64 = 0
    private var head: [UInt8] = []
    private var marks: [UInt64] = []
    /// The last bytes before ``end``, from the window before the place on.
    private var recent: [UInt8] = []

    /// No line is longer than a part of this.
    private static let mostRecent = 4 << 20

    /// Begins with a file of which nothing was read.
    package init(inode: UInt64) { file = FollowedFile(inode: inode) }

    /// Begins within a file.
    ///
    /// - Parameter read: Reads some bytes before a place.
    package init<Failure: Error>(
        inode: UInt64, at offset: Int64, _ read: (_ count: Int, _ end: Int64) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        file = FollowedFile(inode: inode)
        func before(_ end: Int64, _ longest: Int) throws(Failure) -> [UInt8] { try read(Int(min(end, Int64(longest))), end) }
        head = try before(min(offset, Int64(FollowedFile.longestHead)), FollowedFile.longestHead)
        for position in FollowedFile.markPositions(upTo: offset) {
            marks.append(FollowedFile.window(try before(position, FollowedFile.longestWindow)))
        }
        recent = try before(offset, FollowedFile.longestWindow)
        end = offset
        advance(to: offset)
    }

    /// Adds what was read next.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        if recent.count > Self.mostRecent { recent.removeFirst(recent.count - FollowedFile.longestWindow) }
        recent.append(contentsOf: bytes)
        end += Int64(bytes.count)
        if head.count < FollowedFile.longestHead { head += bytes.prefix(FollowedFile.longestHead - head.count) }
        for position in FollowedFile.markPositions(upTo: end).dropFirst(marks.count) { marks.append(window(before: position)) }
    }

    /// Moves the place behind a line that was read.
    package mutating func advance(to offset: Int64) {
        guard offset <= end, offset >= file.offset else { return }
        if offset > file.offset || file.offset == 0 { file.tail = window(before: offset) }
        file.offset = offset
        file.head = Array(head.prefix(Int(min(offset, Int64(FollowedFile.longestHead)))))
        file.marks = Array(marks.prefix(FollowedFile.markPositions(upTo: offset).count))
        let first = end - Int64(recent.count)
        let unneeded = offset - Int64(FollowedFile.longestWindow) - first
        // Not for each line: the rest would be moved each time.
        if unneeded > Int64(recent.count / 2) { recent.removeFirst(Int(unneeded)) }
    }

    private func window(before position: Int64) -> UInt64 {
        let behind = Int(end - position)
        guard behind <= recent.count else { return FollowedFile.window([]) }
        return FollowedFile.window(recent.dropLast(behind).suffix(FollowedFile.longestWindow))
    }

    /// What the file is known by up to ``end``.
    package var ahead: FollowedFile {
        FollowedFile(inode: file.inode, offset: end, head: head, marks: marks, tail: window(before: end))
    }

    /// The first bytes, for a comparison with what the file has now.
    package var firstBytes: [UInt8] { head }

    /// The bytes before ``end``, likewise.
    package var lastBytes: ArraySlice<UInt8> { recent.suffix(FollowedFile.longestWindow) }
}
