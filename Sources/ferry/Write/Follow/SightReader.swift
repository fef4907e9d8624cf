import FerrySpool

/// Reads of files what tells them apart.
struct SightReader {
    private let known: [FollowedFile]
    /// How long the files are that are compared.
    private let sizes: [Int64]

    init(known: [FollowedFile], sizes: [Int64]) {
        self.known = known
        self.sizes = sizes
    }

    /// Looks at a file's own bytes.
    func sight(of file: OpenFile) throws(FileError) -> FileSight {
        let status = try file.status()
        let size = status.size.bytes
        let head = try file.readBytes(Int(min(size, Int64(FollowedFile.longestHead))), at: 0)
        var positions = Set(sizes)
        for other in known where zip(other.head, head).allSatisfy({ $0 == $1 }) {
            positions.formUnion(other.comparedPositions)
            if let last = FollowedFile.markPositions(upTo: size).last { positions.insert(last) }
        }
        positions.insert(size)
        var windows: [Int64: UInt64] = [:]
        for position in positions where position <= size {
            windows[position] = FollowedFile.window(try file.window(before: position))
        }
        return FileSight(inode: status.inode, size: size, head: head, windows: windows)
    }

    /// Looks at what is in a compressed file.
    func sight(of file: OpenFile, form: InputForm) throws -> FileSight {
        let marks = known.flatMap(\.comparedPositions)
        let positions = Set(sizes + marks).sorted()
        var (next, size): (Int, Int64) = (0, 0)
        var head: [UInt8] = []
        var window: [UInt8] = []
        var windows: [Int64: UInt64] = [:]
        try file.decoded(form) { piece in
            var rest = piece
            while !rest.isEmpty {
                while next < positions.count, positions[next] <= size { next += 1 }
                let step = next < positions.count ? min(Int64(rest.count), positions[next] - size) : Int64(rest.count)
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(step)))
                if head.count < FollowedFile.longestHead { head += part.prefix(FollowedFile.longestHead - head.count) }
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
