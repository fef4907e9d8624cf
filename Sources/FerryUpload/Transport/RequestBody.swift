import FerrySpool
import NIOCore

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
