import Crypto
import FerrySpool
import FoundationEssentials
import Glibc

/// Encrypts segments to a recipient, piece by piece: HPKE (RFC 9180) with X25519, SHA-256 and ChaCha20-Poly1305.
///
/// A file is a mark, the encapsulated key, and pieces of 64 KiB with their lengths. Each piece is bound to the bundle, the segment, its
/// place, and whether it is the last: pieces cannot be moved, and a file cannot be cut off unnoticed.
enum Sealing {
    private static let mark = Array("FERRYENC1".utf8)
    private static let keyLength = 32
    private static let tagLength = 16
    private static let piece = 1 << 16
    private static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly

    /// Returns how large a segment is when it is encrypted.
    static func size(of plain: Int64) -> Int64 {
        let pieces = max(1, plain.adding(Int64(piece) - 1) / Int64(piece))
        return plain.adding(Int64(mark.count + keyLength) + pieces * Int64(4 + tagLength))
    }

    /// Encrypts a region into a file.
    static func seal(_ region: FileRegion, into file: OpenFile, for keys: PublicKeys, context: String) throws {
        var region = region
        var sender = try HPKE.Sender(recipientKey: keys.agreement, ciphersuite: suite, info: Data(context.utf8))
        try file.write(mark + Array(sender.encapsulatedKey))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 16)
        defer { buffer.deallocate() }
        var left = region.size
        repeat {
            let count = try region.read(into: buffer)
            guard count == min(Int64(piece), left) else { throw FileError("read", region.file.path, code: EIO) }
            left -= Int64(count)
            let sealed = try sender.seal(Data(buffer[..<count]), authenticating: Data([left == 0 ? 1 : 0]))
            var length = UInt32(sealed.count).littleEndian
            try file.write(withUnsafeBytes(of: &length) { Array($0) } + Array(sealed))
        } while left > 0
    }

    /// Why a segment cannot be decrypted.
    enum SealingError: Error {
        /// It is not encrypted to this key, or its bytes are damaged.
        case unreadable
        /// It ends too early.
        case truncated
    }

    /// Decrypts a region, piece by piece.
    static func open(
        _ region: FileRegion, with keys: PrivateKeys, context: String, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var region = region
        func read(_ count: Int) throws -> [UInt8] {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
            defer { buffer.deallocate() }
            guard try region.read(into: .init(rebasing: buffer[..<count])) == count else { throw SealingError.truncated }
            return Array(buffer[..<count])
        }
        guard try read(mark.count) == mark else { throw SealingError.unreadable }
        let encapsulated = try read(keyLength)
        guard
            var recipient = try? HPKE.Recipient(
                privateKey: keys.agreement, ciphersuite: suite, info: Data(context.utf8), encapsulatedKey: Data(encapsulated))
        else { throw SealingError.unreadable }
        var left = region.size - Int64(mark.count + keyLength)
        repeat {
            let length = try read(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            guard length >= tagLength, length <= piece + tagLength else { throw SealingError.unreadable }
            let sealed = try read(length)
            left -= Int64(4 + length)
            guard let plain = try? recipient.open(Data(sealed), authenticating: Data([left == 0 ? 1 : 0])) else {
                throw SealingError.unreadable
            }
            try Array(plain).withUnsafeBytes(body)
        } while left > 0
    }
}
