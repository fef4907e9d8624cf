import FerrySpool
import NIOCore
import NIOExtras
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Opens connections: directly, to a socket file, or through a proxy.
struct Connector: Sendable {
    private let options: TransportOptions
    private let security: TransportSecurity
    /// Shared by all connections.
    let throttle: Throttle
    private let open = OpenChannels()

    /// - Parameter usesTLS: Whether certificate files are to be checked now. Otherwise a redirect to https may need them later.
    /// - Throws: ``TransportSetupError`` when a certificate or key file cannot be used.
    init(options: TransportOptions, usesTLS: Bool, bandwidth: ByteCount? = nil) throws(TransportSetupError) {
        self.options = options
        security = TransportSecurity(options)
        throttle = Throttle(limit: bandwidth)
        if usesTLS { _ = try security.context() }
    }

    func connect(to origin: Origin, on eventLoop: any EventLoop) async throws(TransportFailure) -> HTTPConnection {
        let proxy = options.proxies.proxy(for: origin)
        do {
            let channel = try await connect(to: origin, on: eventLoop, proxy: proxy)
            open.add(channel)
            return HTTPConnection(
                channel: channel, usesAbsoluteTarget: proxy != nil && !origin.isSecure,
                proxyAuthorization: origin.isSecure ? nil : proxy?.authorization)
        } catch {
            if Task.isCancelled { throw .cancelled }
            throw TransportFailure(
                connecting: error, to: "\(origin)" + (proxy.map { " through the proxy \($0.host):\($0.port)" } ?? ""))
        }
    }

    private func connect(to origin: Origin, on eventLoop: any EventLoop, proxy: ProxySettings.Proxy?) async throws -> any Channel
    {
        let deadline = NIODeadline.now() + TimeAmount(options.connectTimeout)
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(options.connectTimeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        let isTunnel = proxy != nil && origin.isSecure
        let setUp: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.eventLoop.makeCompletedFuture {
                if !isTunnel { try addHandlers(to: channel, origin: origin, deadline: deadline) }
            }
        }
        let channel: any Channel
        switch (proxy, origin.address) {
        case (let proxy?, _):
            channel = try await bootstrap.channelInitializer { channel in
                setUp(channel)
            }.connect(host: proxy.host, port: proxy.port).get()
        case (nil, .host(let host, let port)):
            channel = try await bootstrap.channelInitializer(setUp).connect(host: host, port: port).get()
        case (nil, .unixSocket(let path)):
            // TCP options do not apply to socket files.
            channel = try await ClientBootstrap(group: eventLoop).connectTimeout(TimeAmount(options.connectTimeout))
                .channelInitializer(setUp).connect(unixDomainSocketPath: path).get()
        }
        if let proxy, isTunnel {
            try await openTunnel(channel, to: origin, proxy: proxy, deadline: deadline)
            try await channel.eventLoop.submit { try addHandlers(to: channel, origin: origin, deadline: deadline) }.get()
        }
        if origin.isSecure { try await handshake(on: channel) }
        return channel
    }

    /// Closes every connection: the network under them has changed.
    func closeAll() { open.closeAll() }

    private func addHandlers(to channel: any Channel, origin: Origin, deadline: NIODeadline) throws {
        let pipeline = channel.pipeline.syncOperations
        if origin.isSecure {
            try pipeline.addHandler(security.makeHandler(origin))
            try pipeline.addHandler(HandshakeWaiter(channel.eventLoop, deadline: deadline), name: Self.waiterName)
        }
        try pipeline.addHandler(RequestWriter())
        try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)))
        try pipeline.addHandler(ExchangeHandler(idleTimeout: options.idleTimeout, isSecure: origin.isSecure, throttle: throttle))
    }

    private static let waiterName = "ferry.handshake"

    private func handshake(on channel: any Channel) async throws {
        try await channel.eventLoop.flatSubmit { () -> EventLoopFuture<Void> in
            do {
                return try channel.pipeline.syncOperations.handler(type: HandshakeWaiter.self).finished
            } catch {
                // Removed with the channel's other handlers: it closed at once.
                return channel.eventLoop.makeFailedFuture(NIOSSLError.uncleanShutdown)
            }
        }.get()
    }

    /// Asks the proxy for a connection (RFC 9110, section 9.3.6).
    private func openTunnel(
        _ channel: any Channel, to origin: Origin, proxy: ProxySettings.Proxy, deadline: NIODeadline
    ) async throws {
        guard case .host(let host, let port) = origin.address else { return }
        try await channel.eventLoop.flatSubmit { () -> EventLoopFuture<Void> in
            let connected = channel.eventLoop.makePromise(of: Void.self)
            var headers = HTTPHeaders([("Host", "\(origin.hostHeader)")])
            if let authorization = proxy.authorization { headers.add(name: "Proxy-Authorization", value: authorization) }
            let encoder = HTTPRequestEncoder()
            let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes))
            let connect = NIOHTTP1ProxyConnectHandler(
                targetHost: host.contains(":") ? "[\(host)]" : host, targetPort: port, headers: headers, deadline: deadline,
                promise: connected)
            let pipeline = channel.pipeline.syncOperations
            do {
                try pipeline.addHandlers([encoder, decoder, connect])
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
            // The connecting handler leaves by itself.
            return connected.futureResult.assumeIsolated().flatMap {
                pipeline.removeHandler(decoder)
            }.flatMap {
                pipeline.removeHandler(encoder)
            }.nonisolated()
        }.get()
    }
}

/// The connections that are open.
private final class OpenChannels: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        channels.withLock { $0[id] = channel }
        channel.closeFuture.whenComplete { [weak self] _ in self?.remove(id) }
    }

    private func remove(_ id: ObjectIdentifier) { channels.withLock { $0[id] = nil } }

    func closeAll() { for channel in channels.withLock({ Array($0.values) }) { channel.close(promise: nil) } }
}
