import FerrySpool

/// The page of a running process: it is served, and what it shows of the past is noted.
struct Dashboard: Sendable {
    private let server: DashboardServer
    private let recorder: HistoryRecorder

    /// - Parameters:
    ///   - option: Where the address was set, for the words of an error.
    ///   - readings: What is noted every minute.
    /// - Throws: ``HeaderError`` where the token cannot be read.
    init(
        _ options: DashboardOptions, option: String, of places: HubPlaces, log: Log,
        readings: @escaping @Sendable () -> [HistoryRecorder.Reading]
    ) throws {
        let gathering = HubGathering(places: places)
        server = try DashboardServer(options, option: option, log: log) { gathering.report(at: .now()) }
        recorder = HistoryRecorder(log: log, readings)
    }

    /// Notes what the page shows of the past, until the task is cancelled.
    func record() async { await recorder.run() }

    /// Serves the page until the task is cancelled.
    func serve() async throws { try await server.run() }
}
