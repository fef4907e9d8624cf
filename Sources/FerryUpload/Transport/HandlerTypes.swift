import NIOCore
import NIOHTTP1

/// The generic classes that every connection is made of.
enum HandlerTypes {
    /// Makes them known to Swift's runtime, before two event loops do so at one moment.
    ///
    /// The runtime of Swift 6.3 reads the superclass of a generic class that another thread is still completing, and a null pointer where it has
    /// none (`swift_conformsToProtocol`). Two threads of a small program that used such a class first at one moment crashed in 2 of 3,000 runs,
    /// and in none of as many where it had been used before.
    static let areKnown: Void = { _ = ByteToMessageHandler(HTTPResponseDecoder()) }()
}
