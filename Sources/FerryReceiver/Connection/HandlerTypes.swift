import HummingbirdCore
import NIOCore
import NIOHTTP1

/// The generic classes that every connection is made of.
enum HandlerTypes {
    /// Makes them known to Swift's runtime, before two event loops do so at one moment, which may end the process in Swift 6.3: an uploader
    /// does the same, and says why.
    static let areKnown: Void = {
        _ = ByteToMessageHandler(HTTPRequestDecoder())
        _ = HTTP1Channel.Value.self
    }()
}
