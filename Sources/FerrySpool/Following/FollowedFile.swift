/// What a file of a log is known by, and how much of it is stored.
///
/// A file is known by its bytes: those before the place up to which it is stored, the first ones, and those before some places in between, by which a
/// copy is known that is shorter. Its number is a hint: a copy has another one, and after a remount so may all files. Times and names prove nothing.
package struct FollowedFile: Equatable, Sendable {
    /// How many of the first bytes are kept.
    package static let longestHead = 256
    /// How many bytes before a place are hashed. Lines of logs have times: as many hold some.
    package static let longestWindow = 4096

    /// The number that the file had in its file system.
    package var inode: UInt64
    /// What is before this byte is stored.
    package var offset: Int64
    /// The first bytes, up to ``offset``.
    package var head: [UInt8]
    /// The hashes of the bytes before ``markPositions(upTo:)``, or of the first of them.
    package var marks: [UInt64]
    /// The hash of the bytes before ``offset``; `nil` when they could not be read.
    package var tail: UInt64?

    /// Creates what is known of a file.
    package init(inode: UInt64, offset: Int64 = 0, head: [UInt8] = [], marks: [UInt64] = [], tail: UInt64? = window([])) {
        self.inode = inode
        self.offset = offset
        self.head = head
        self.marks = marks
        self.tail = tail
    }

    /// Creates what is known of a file that counts as stored to its end.
    package init(whole sight: FileSight) {
        self.init(inode: sight.inode, offset: sight.size, head: sight.head, tail: sight.windows[sight.size])
    }

    /// The hash of the bytes before a place.
    package static func window(_ bytes: some Sequence<UInt8>) -> UInt64 { StableHash.of(bytes) }

    /// Returns the places whose bytes before them are hashed: so close to each other that one lies in the last third of each file.
    package static func markPositions(upTo end: Int64) -> [Int64] {
        var positions: [Int64] = []
        var base = Int64(longestHead)
        while base < 1 << 60 {
            for position in [base / 2 * 3, base * 2] {
                if position > end { return positions }
                positions.append(position)
            }
            base *= 2
        }
        return positions
    }

    /// Returns whether a file has all that is stored of this one.
    package func isHeld(by sight: FileSight) -> Bool {
        guard let tail, sight.size >= offset, sight.head.starts(with: head) else { return false }
        guard offset > 0 else { return true }
        guard sight.windows[offset] == tail else { return false }
        guard let mark = marks.last else { return true }
        return sight.windows[Self.markPositions(upTo: offset)[marks.count - 1]] == mark
    }

    /// Returns whether a file has nothing but the first part of what is stored of this one.
    package func isBegun(by sight: FileSight) -> Bool {
        guard sight.size > 0, sight.size < offset, head.count >= min(Int64(Self.longestHead), sight.size),
            head.starts(with: sight.head)
        else { return false }
        let positions = Self.markPositions(upTo: sight.size)
        guard let last = positions.last else { return true }
        return marks.count >= positions.count && sight.windows[last] == marks[positions.count - 1]
    }

    /// The places before which a file's bytes have to be hashed for the comparison with this one.
    package var comparedPositions: [Int64] { [offset] + Self.markPositions(upTo: offset).prefix(marks.count) }
}

/// What a look at a file showed: of one that is compressed, of what is in it.
package struct FileSight: Equatable, Sendable {
    /// The file's number in its file system.
    package var inode: UInt64
    /// How long it is.
    package var size: Int64
    /// Its first bytes, at most ``FollowedFile/longestHead``.
    package var head: [UInt8]
    /// The hashes of the bytes before some places, with ``size`` among them.
    package var windows: [Int64: UInt64]
    /// The file is compressed.
    package var isCompressed: Bool

    /// Creates what a look showed.
    package init(inode: UInt64, size: Int64, head: [UInt8], windows: [Int64: UInt64], isCompressed: Bool = false) {
        self.isCompressed = isCompressed
        self.inode = inode
        self.size = size
        self.head = head
        self.windows = windows
    }

    /// Returns whether a file is as long or longer, and begins with what is in this one.
    func isStart(of other: FileSight) -> Bool {
        size <= other.size && size > 0 && other.head.starts(with: head) && other.windows[size] != nil
            && other.windows[size] == windows[size]
    }
}
