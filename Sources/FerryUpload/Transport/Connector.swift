import FerrySpool
import NIOCore
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
    /// What holds for all ways out, with a connection or without.
    var pace: DeliveryPace { DeliveryPace(throttle: throttle, patience: options.idleTimeout) }
    private let open = OpenConnections()

    /// - Parameter home: The destination. If it is secure, certificate files are checked now; otherwise a redirect to https may need them
    ///   later. Other origins never see the client's certificate.
    /// - Throws: ``TransportSetupError`` when a certificate or key file cannot be used.
    init(options: TransportOptions, home: Origin, bandwidth: ByteCount? = nil) throws(TransportSetupError) {
        self.options = options
        security = TransportSecurity(options, home: home)
        throttle = Throttle(limit: bandwidth)
        HandlerTypes.areKnown
        if home.isSecure { try security.check() }
    }

    /// Opens a connection within the time that the options allow. Cancelling the task ends the attempt at once.
    func connect(to origin: Origin, on eventLoop: any EventLoop) async throws(TransportError) -> HTTPConnection {
        let proxy = options.proxies.proxy(for: origin)
        let place = "\(origin)" + (proxy.map { " through the proxy \($0.host):\($0.port)" } ?? "")
        let attempt = ConnectionAttempt(to: place, on: eventLoop)
        let id = ObjectIdentifier(attempt)
        let exchanges = NIOLoopBoundBox<ExchangeHandler?>.makeEmptyBox(eventLoop: eventLoop)
        open.add(id) { attempt.cutOff($0) }
        defer { open.remove(id) }
        do {
            let channel = try await attempt.run(limit: options.connectTimeout) {
                connect(to: origin, proxy: proxy, attempt, exchanges, on: eventLoop)
            }
            open.add(channel)
            return HTTPConnection(
                channel: channel, exchanges: exchanges, usesAbsoluteTarget: proxy != nil && !origin.isSecure,
                proxyAuthorization: origin.isSecure ? nil : proxy?.authorization)
        } catch {
            if Task.isCancelled { throw .cancelled }
            throw TransportError(connecting: error, to: place)
        }
    }

    private func connect(
        to origin: Origin, proxy: ProxySettings.Proxy?, _ attempt: ConnectionAttempt,
        _ exchanges: NIOLoopBoundBox<ExchangeHandler?>, on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        let bootstrap = ClientBootstrap(group: eventLoop).connectTimeout(TimeAmount(options.connectTimeout))
        let speaking = bootstrap.channelInitializer { channel in
            attempt.note(channel)
            return channel.eventLoop.makeCompletedFuture { try addHandlers(to: channel, exchanges, origin: origin) }
        }
        let noDelay = ChannelOptions.tcpOption(.tcp_nodelay)
        switch (proxy, origin.address) {
        case (let proxy?, .host(let host, let port)) where origin.isSecure:
            return bootstrap.channelOption(noDelay, value: 1).channelInitializer { channel in
                attempt.note(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }.connect(host: proxy.host, port: proxy.port).flatMap { channel in
                attempt.enter("no answer from the proxy")
                return openTunnel(on: channel, to: host, port, proxy: proxy)
            }.flatMapThrowing { channel in
                try addHandlers(to: channel, exchanges, origin: origin)
                return channel
            }.flatMap { handshake(on: $0, attempt) }
        case (let proxy?, _):
            return speaking.channelOption(noDelay, value: 1).connect(host: proxy.host, port: proxy.port)
        case (nil, .host(let host, let port)):
            let connected = speaking.channelOption(noDelay, value: 1).connect(host: host, port: port)
            return origin.isSecure ? connected.flatMap { handshake(on: $0, attempt) } : connected
        // TCP options do not apply to socket files.
        case (nil, .unixSocket(let path)): return speaking.connect(unixDomainSocketPath: path)
        }
    }

    /// Cuts off every connection, and those that are just being opened: the network under them has changed.
    func closeAll() { open.closeAll("the network changed") }

    private func addHandlers(
        to channel: any Channel, _ exchanges: NIOLoopBoundBox<ExchangeHandler?>, origin: Origin
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        if origin.isSecure, case .host(let host, _) = origin.address {
            try pipeline.addHandler(security.makeHandler(origin))
            try pipeline.addHandler(HandshakeWaiter(channel.eventLoop.makePromise(), expecting: host))
        }
        let strays = StrayGuard()
        try pipeline.addHandler(strays)
        try pipeline.addHandler(RequestWriter())
        try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)))
        let handler = ExchangeHandler(idleTimeout: options.idleTimeout, origin: origin, throttle: throttle, strays: strays)
        try pipeline.addHandler(handler)
        exchanges.value = handler
    }

    private func handshake(on channel: any Channel, _ attempt: ConnectionAttempt) -> EventLoopFuture<any Channel> {
        attempt.enter("no TLS handshake")
        do {
            return try channel.pipeline.syncOperations.handler(type: HandshakeWaiter.self).finished.map { channel }
        } catch {
            // Removed with the channel's other handlers: it closed at once.
            return channel.eventLoop.makeFailedFuture(NIOSSLError.uncleanShutdown)
        }
    }

    private func openTunnel(
        on channel: any Channel, to host: String, _ port: Int, proxy: ProxySettings.Proxy
    ) -> EventLoopFuture<any Channel> {
        let opened = channel.eventLoop.makePromise(of: Void.self)
        do {
            try channel.pipeline.syncOperations.addHandler(TunnelHandler(to: host, port: port, proxy: proxy, opened: opened))
        } catch {
            opened.fail(error)
        }
        return opened.futureResult.map { channel }
    }
}
