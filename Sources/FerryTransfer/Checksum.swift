import Crypto
import FerryIntake
import FerrySpool

extension FileRegion {
    /// SHA-256 of its bytes, and how many there were.
    func digest() throws(FileError) -> (digest: BodyDigest, bytes: Int64) {
        var region = self
        var hash = SHA256()
        var total: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try region.read(into: buffer)
            if count == 0 { return (BodyDigest(hash.finalize()), total) }
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            total += Int64(count)
        }
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
}
