import FerrySpool
package import HummingbirdCore
import NIOCore

extension HTTPServerBuilder {
    /// Builds a server of HTTP/1.1 whose connections are limited (``ConnectionGuard``).
    ///
    /// - Parameter onRefused: Told of each connection and request that is refused before it can be handled, from any thread.
    package static func guarded(
        _ limits: ConnectionLimits, onRefused: @escaping @Sendable (Refusal) -> Void = { _ in }
    ) -> HTTPServerBuilder {
        let connections = Connections(most: limits.most, perAddress: limits.mostPerAddress)
        let idleTimeout = TimeAmount(limits.idleTimeout)
        let bodiesEnd = TimeAmount(limits.bodiesEndPatience)
        return .http1(
            configuration: .init(
                additionalChannelHandlers: [
                    ConnectionGuard(connections, patience: idleTimeout, endPatience: bodiesEnd) { refused, address in
                        onRefused(Refusal(refused, from: Sender(at: address)))
                    }, ContinueHandler(),
                ],
                // Hummingbird's own also counts the time that the receiver takes for a body.
                idleTimeout: nil))
    }
}

extension TimeAmount {
    /// Converts a duration, a century at most.
    fileprivate init(_ duration: Duration) {
        self = .milliseconds(min(duration.wholeMilliseconds, Duration.century.wholeMilliseconds))
    }
}
