import FerrySpool
import NIOCore

/// What a request carries.
enum RequestBody: Sendable {
    case bytes(ByteBuffer)
    /// A whole file, from its start.
    case file(OpenFile, size: Int64)

    var length: Int64 {
        switch self {
        case .bytes(let buffer): Int64(buffer.readableBytes)
        case .file(_, let size): size
        }
    }

    /// The body of a claimed segment.
    init(_ claim: Claim) throws(FileError) {
        let size = claim.status.size
        if size <= TransportOptions.smallBody {
            self = .bytes(ByteBuffer(bytes: try claim.file.readBytes(Int(size.bytes), at: 0)))
        } else {
            self = .file(claim.file, size: size.bytes)
        }
    }
}

/// One request on a connection.
struct Exchange: Sendable {
    /// Request line and header fields, with the empty line that ends them.
    var head: ByteBuffer
    var body: RequestBody
}

/// What came back.
struct Answer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    /// The first bytes.
    var body: [UInt8]

    /// The first header of that name, whatever its case.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }
}
