import Crypto
import FerrySpool
import Glibc
import NIOCore
import NIOHTTP1

/// What a request carries.
enum RequestBody: Sendable {
    case bytes(ByteBuffer)
    /// A whole file, from its start.
    case file(OpenFile, size: Int64)

    /// The body of a claimed segment.
    ///
    /// - Parameter content: The whole of it, when it is small.
    init(_ claim: Claim, content: [UInt8]?) {
        if let content {
            self = .bytes(ByteBuffer(bytes: content))
        } else {
            self = .file(claim.file, size: claim.status.size.bytes)
        }
    }
}

extension RequestBody {
    var size: ByteCount {
        switch self {
        case .bytes(let buffer): ByteCount(Int64(buffer.readableBytes))
        case .file(_, let size): ByteCount(size)
        }
    }

    /// Returns the SHA-256 of what it carries. Reads a file's bytes.
    ///
    /// - Throws: `FileError` for a file that cannot be read, or has become shorter.
    func digest() throws(FileError) -> BodyDigest {
        switch self {
        case .bytes(let buffer): return ContentHash.of(buffer.readableBytesView)
        case .file(let file, let size):
            let (digest, bytes) = try file.digest(size: size)
            guard bytes == size else { throw FileError("read", file.path, code: ESTALE) }
            return digest
        }
    }

    /// Returns the MD5 of what it carries, as object stores show it; `nil` when it cannot be read. Reads a file's bytes.
    func md5() -> [UInt8]? {
        var hash = Insecure.MD5()
        switch self {
        case .bytes(let buffer): buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        case .file(let file, let size):
            var offset: Int64 = 0
            while offset < size {
                guard let piece = try? file.readBytes(Int(min(size - offset, 1 << 18)), at: offset), !piece.isEmpty else {
                    return nil
                }
                hash.update(data: piece)
                offset += Int64(piece.count)
            }
        }
        return Array(hash.finalize())
    }

    /// Returns some of the bytes that it carries.
    ///
    /// - Throws: `FileError` for a file that cannot be read, or has become shorter.
    func read(_ count: Int64, at offset: Int64) throws(FileError) -> [UInt8] {
        switch self {
        case .bytes(let buffer): return buffer.getBytes(at: buffer.readerIndex + Int(offset), length: Int(count)) ?? []
        case .file(let file, _):
            let bytes = try file.readBytes(Int(count), at: offset)
            guard bytes.count == count else { throw FileError("read", file.path, code: ESTALE) }
            return bytes
        }
    }

    /// Whether its bytes are still to be read.
    var isFile: Bool {
        if case .file = self { return true }
        return false
    }

    /// Returns the bodies of several segments, one after the other.
    static func joined(_ bodies: [RequestBody]) throws(FileError) -> RequestBody {
        guard bodies.count > 1 else { return bodies[0] }
        var all = ByteBuffer()
        all.reserveCapacity(Int(bodies.reduce(.zero) { $0 + $1.size }.bytes))
        for body in bodies {
            switch body {
            case .bytes(var buffer): all.writeBuffer(&buffer)
            case .file(let file, let size):
                let bytes = try file.readBytes(Int(size), at: 0)
                guard bytes.count == size else { throw FileError("read", file.path, code: ESTALE) }
                all.writeBytes(bytes)
            }
        }
        return .bytes(all)
    }
}

/// One request on a connection.
struct Exchange: Sendable {
    /// Request line and header fields, with the empty line that ends them.
    var head: ByteBuffer
    var body: RequestBody
    /// Whether its method is HEAD.
    var isHead = false
    /// Whether the answer's body is what it is for: a larger one is kept, and may take its time as long as it moves.
    var isDownload = false
}

/// What came back.
struct Answer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    /// The first bytes.
    var body: [UInt8]
    /// The fields behind the body (RFC 9110, section 6.5).
    var trailers = HTTPHeaders()
    /// Whether it came to its end, and was not cut off or given up within its body.
    var isWhole = true
    /// From the request's last byte to the answer's head.
    var latency: Duration?
    /// Whether the other side had the whole request when it sent this. What comes earlier answers a part, or nothing at all.
    var isToWholeRequest = false
    /// How much of the body the other side may have.
    var departure = Departure.nothing

    /// Returns the first header of that name, in any case.
    func header(_ name: String) -> String? { headers.first(name: name) }

    /// Returns the first field of that name behind the body, in any case.
    func trailer(_ name: String) -> String? { trailers.first(name: name) }

    /// The body without the white space that it begins with: some servers send it while they work.
    var said: ArraySlice<UInt8> { body.drop { (0x09...0x0d).contains($0) || $0 == 0x20 } }
}
