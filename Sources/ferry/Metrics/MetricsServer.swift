import FerryReceiver
import FerrySpool
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Serves metrics to Prometheus.
enum MetricsServer {
    /// So few programs read them that no more connections are needed: each takes a descriptor of those that segments need.
    private static let limits = ConnectionLimits(
        most: 32, mostPerAddress: 16, idleTimeout: .seconds(30), bodiesEndPatience: .seconds(1))

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - option: Where the address was set, for the words of an error.
    ///   - families: Asked at each request.
    static func run(
        _ address: ListenAddress, option: String, log: Log, _ families: @escaping @Sendable () async -> [MetricFamily]
    ) async throws {
        let router = Router()
        router.get("metrics") { request, _ in
            let accept = request.headers[.accept] ?? ""
            let format = accept.contains("application/openmetrics-text") ? MetricsText.Format.openMetrics : .prometheus
            let text = MetricsText(await families()).text(format)
            return Response(
                status: .ok, headers: [.contentType: format.contentType], body: ResponseBody(byteBuffer: ByteBuffer(string: text))
            )
        }
        router.get("healthz") { _, _ in "ok\n" }
        var logger = Logger(label: "ferry.metrics")
        logger.logLevel = .critical
        let application = Application(
            router: router, server: .guarded(limits),
            configuration: .init(
                address: .hostname(address.host, port: address.port), serverName: "ferry/\(FerryVersion.current)"),
            onServerRunning: { channel in
                log.note("metrics at http://\(address.host):\(channel.localAddress?.port ?? 0)/metrics")
            }, logger: logger)
        do {
            try await application.runService(gracefulShutdownSignals: [])
        } catch  where !Task.isCancelled {
            throw CommandError(
                .localFailure,
                "\(option): cannot listen on \(address.host):\(address.port): \(ListenAddress.reason(error))")
        }
    }
}
