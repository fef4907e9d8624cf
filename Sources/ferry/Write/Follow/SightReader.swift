import FerrySpool

/// Reads of files what tells them apart.
struct SightReader {
    /// How a file that is compared begins, and how long it is.
    struct Start {
        let size: Int64
        let head: [UInt8]

        init(of file: OpenFile) throws(FileError) {
            size = try file.status().size.bytes
            head = try file.readBytes(Int(min(size, Int64(FollowedFile.longestHead))), at: 0)
        }
    }

    private let known: [FollowedFile]
    private let starts: [Start]

    /// - Parameter starts: The files that are compared with each other.
    init(known: [FollowedFile], starts: [Start]) {
        self.known = known
        self.starts = starts
    }

    /// The places before which the bytes of a file are compared: with files that begin alike, which are few.
    private func positions(in head: [UInt8]) -> Set<Int64> {
        var positions: Set<Int64> = []
        for other in known where zip(other.head, head).allSatisfy({ $0 == $1 }) { positions.formUnion(other.comparedPositions) }
        for start in starts where head.starts(with: start.head) { positions.insert(start.size) }
        // Before the first byte all files are alike.
        positions.remove(0)
        return positions
    }

    /// Looks at a file's own bytes.
    func sight(of file: OpenFile) throws(FileError) -> FileSight {
        let status = try file.status()
        let size = status.size.bytes
        let head = try file.readBytes(Int(min(size, Int64(FollowedFile.longestHead))), at: 0)
        var windows: [Int64: UInt64] = [:]
        for position in positions(in: head).union([size]) where position <= size {
            windows[position] = FollowedFile.window(try file.window(before: position))
        }
        return FileSight(inode: status.inode, size: size, head: head, windows: windows)
    }

    /// Looks at what is in a compressed file.
    ///
    /// - Parameter last: What the last look at it showed. The file is read again only for places that were not compared then.
    func sight(of file: OpenFile, form: InputForm, last: FileSight?) throws -> FileSight {
        if let last, positions(in: last.head).allSatisfy({ $0 > last.size || last.windows[$0] != nil }) { return last }
        let head = try head(of: file, form)
        let positions = positions(in: head).sorted()
        var (next, size): (Int, Int64) = (0, 0)
        var window: [UInt8] = []
        var windows: [Int64: UInt64] = [:]
        try file.decoded(form) { piece in
            var rest = piece
            while !rest.isEmpty {
                while next < positions.count, positions[next] <= size { next += 1 }
                let step = next < positions.count ? min(Int64(rest.count), positions[next] - size) : Int64(rest.count)
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(step)))
                window += part.suffix(FollowedFile.longestWindow)
                if window.count > 1 << 16 { window.removeFirst(window.count - FollowedFile.longestWindow) }
                size += step
                if next < positions.count, positions[next] == size { windows[size] = Self.hash(window) }
                rest = UnsafeRawBufferPointer(rebasing: rest[Int(step)...])
            }
        }
        windows[size] = Self.hash(window)
        return FileSight(inode: try file.status().inode, size: size, head: head, windows: windows, isCompressed: true)
    }

    /// Returns the first bytes of what is in a compressed file.
    private func head(of file: OpenFile, _ form: InputForm) throws -> [UInt8] {
        var head: [UInt8] = []
        do {
            try file.decoded(form) { piece in
                head += piece.prefix(FollowedFile.longestHead - head.count)
                if head.count == FollowedFile.longestHead { throw Enough() }
            }
        } catch is Enough {}
        return head
    }

    private struct Enough: Error {}

    private static func hash(_ window: [UInt8]) -> UInt64 { FollowedFile.window(window.suffix(FollowedFile.longestWindow)) }
}

extension OpenFile {
    /// Reads the bytes before a place that tell what was read there.
    func window(before position: Int64) throws(FileError) -> [UInt8] {
        let count = min(position, Int64(FollowedFile.longestWindow))
        return try readBytes(Int(count), at: position - count)
    }

    /// Hands on all that is in a compressed file.
    func decoded(_ form: InputForm, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let decoder = try form.decoder()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try read(into: buffer, at: offset)
            if count == 0 { break }
            offset += Int64(count)
            try decoder?.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]), body)
        }
        try decoder?.finish(body)
    }
}
