import FerrySpool

/// Part of a file, to be read from its start.
struct FileRegion {
    let file: OpenFile
    let offset: Int64
    /// What it should have; a file that was cut off has less.
    let size: Int64
    private var position: Int64 = 0

    init(_ file: OpenFile, offset: Int64 = 0, size: Int64) {
        self.file = file
        self.offset = offset
        self.size = size
    }

    /// Reads on; 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        let wanted = Int(min(Int64(buffer.count), size - position))
        guard wanted > 0 else { return 0 }
        let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset + position)
        position += Int64(count)
        return count
    }

    /// Hands its bytes out, piece by piece.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var region = self
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try region.read(into: buffer)
            if count == 0 { return }
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private static let pieceSize = 1 << 18

    /// Reads all of it.
    ///
    /// - Parameter limit: More is not read: a wrong file must not fill the memory.
    func bytes(limit: ByteCount) throws(FileError) -> [UInt8] {
        try file.readBytes(Int(min(size, limit.bytes)), at: offset)
    }
}
