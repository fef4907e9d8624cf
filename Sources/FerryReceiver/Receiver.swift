public import FerrySpool
import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle

/// Why the receiver could not start.
public enum ReceiverError: Error, CustomStringConvertible {
    case file(FileError)
    /// A certificate or key cannot be used.
    case certificate(String)

    public var description: String {
        switch self {
        case .file(let error): error.description
        case .certificate(let text): text
        }
    }
}

/// The reference receiver: takes segments over HTTP into a spool, each key once.
public struct Receiver: Sendable {
    private let options: ReceiverOptions
    private let handler: SegmentHandler

    /// - Parameters:
    ///   - spool: Opened for writing.
    ///   - onReceived: Called for every segment that is answered with 200.
    ///   - onFailure: Called when a request is refused for the spool's folder or its disk.
    ///   - onSentDeleted: Called when delivered segments were deleted from `sent/`, because the disk was full.
    public init(
        _ spool: Spool, options: ReceiverOptions, onReceived: @escaping @Sendable (ReceivedSegment) -> Void = { _ in },
        onFailure: @escaping @Sendable (FileError) -> Void = { _ in },
        onSentDeleted: @escaping @Sendable (LedgerTotals.Count) -> Void = { _ in }
    ) throws(ReceiverError) {
        self.options = options
        do throws(FileError) {
            _ = try spool.recover()
            handler = SegmentHandler(
                spool: spool, options: options, admission: try Admission(spool), turns: IntakeTurns(), onReceived: onReceived,
                onFailure: onFailure,
                onSentDeleted: onSentDeleted)
        } catch {
            throw .file(error)
        }
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - end: When it returns, no new connection is taken, and requests that are being answered are finished, for
    ///     ``ReceiverOptions/endPatience`` at most: the sender of one that is cut off sends it again.
    ///   - onRunning: Called with the port once connections are accepted.
    public func run(
        until end: (@Sendable () async -> Void)? = nil, onRunning: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws {
        HandlerTypes.areKnown
        let router = Router()
        router.get("healthz") { _, _ in "ok\n" }
        router.post("v1/segments") { [options, handler] request, _ in
            if let token = options.token, !BearerToken.matches(request.headers[.authorization], token) {
                return Answer.refusal(.unauthorized, "a valid bearer token is needed")
            }
            return try await handler.handle(request)
        }
        var logger = Logger(label: "ferry.receiver")
        logger.logLevel = .critical
        let application = Application(
            router: router, server: try server(),
            configuration: .init(
                address: .hostname(options.host, port: options.port), serverName: "ferry/\(FerryVersion.current)"),
            onServerRunning: { channel in onRunning(channel.localAddress?.port ?? 0) }, logger: logger)
        var configuration = ServiceGroupConfiguration(services: [application], gracefulShutdownSignals: [], logger: logger)
        configuration.maximumGracefulShutdownDuration = options.endPatience
        let group = ServiceGroup(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            if let end {
                tasks.addTask {
                    await end()
                    await group.triggerGracefulShutdown()
                }
            }
            defer { tasks.cancelAll() }
            try await group.run()
        }
    }

    private func server() throws -> HTTPServerBuilder {
        let idleTimeout = TimeAmount.milliseconds(min(options.idleTimeout.wholeMilliseconds, Duration.century.wholeMilliseconds))
        let connections = Connections(most: options.mostConnections, perAddress: options.mostConnectionsPerAddress)
        let plain = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [ConnectionGuard(connections, patience: idleTimeout)], idleTimeout: idleTimeout))
        guard let certificate = options.certificate, let key = options.privateKey else { return plain }
        for path in [certificate, key] where access(path, R_OK) != 0 {
            throw ReceiverError.certificate("\(FileError("read", path))")
        }
        do {
            let configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
            return try .tls(plain, tlsConfiguration: configuration)
        } catch {
            throw ReceiverError.certificate(
                "cannot use certificate \(certificate) and key \(key): \(error); both must be PEM files")
        }
    }
}
