import Dispatch
import FerryReceiver
import FerrySpool
import FerryUpload
import Glibc
import Synchronization

/// Receives until a signal comes, and opens a spool again when its folder was made anew.
struct ReceiverLoop {
    /// Where what comes is stored.
    enum Place {
        case spool(Spool, SpoolOptions)
        case machines(MachineFolder)
        /// - Parameter scratch: The folder of the bodies under way.
        case store(ObjectStore, scratch: String)

        /// Of which spools a page tells.
        fileprivate var spools: HubPlaces {
            switch self {
            case .spool(let spool, _): HubPlaces([SpoolPattern(spool.path)])
            case .machines(let folder): HubPlaces([SpoolPattern("\(folder.path)/*")])
            case .store: HubPlaces([])
            }
        }

        /// The spools are machines'.
        fileprivate var isHub: Bool { if case .machines = self { true } else { false } }
    }

    private let place: Place
    private let options: ReceiverOptions
    private let listen: String
    private let metricsAddress: ListenAddress?
    private let dashboard: Dashboard?
    private let log: Log
    private let reports: ReceiverReports

    private enum End { case signal, lost }

    /// - Parameter dashboard: Where the page is served; `nil`: nowhere.
    /// - Throws: ``HeaderError`` where the page's token cannot be read.
    init(
        _ place: Place, _ options: ReceiverOptions, listen: String, metrics: ListenAddress?, dashboard: DashboardOptions?,
        log: Log
    ) throws {
        self.place = place
        self.options = options
        self.listen = listen
        metricsAddress = metrics
        self.log = log
        let reports = ReceiverReports(log)
        self.reports = reports
        self.dashboard = try dashboard.map { dashboard in
            let readings = ReceiverReadings(places: place.spools, isHub: place.isHub, metrics: reports.metrics)
            return try Dashboard(dashboard, option: "--dashboard", of: place.spools, log: log) { readings.readings() }
        }
    }

    func run() async throws {
        Log.style = .ofService
        // A disk that hangs keeps it no longer than that, and some seconds of grace: 10 s in all.
        let signals = try SignalQueue(EarlySignals.ofCommand, patience: .seconds(5))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            if let metricsAddress {
                let gauges = ReceiverGauges(place)
                tasks.addTask { [log, reports] in
                    try await MetricsServer.run(metricsAddress, option: "--metrics", log: log) {
                        let look = await gauges.look()
                        return reports.metrics.families(look, now: .now())
                    }
                }
            }
            if let dashboard {
                tasks.addTask { try await dashboard.serve() }
                tasks.addTask { await dashboard.record() }
            }
            tasks.addTask { [reports] in await reports.tellOfHeldBack() }
            tasks.addTask { try await receive(signals) }
            defer { tasks.cancelAll() }
            // The first that fails, or is to end.
            try await tasks.next()
        }
    }

    private func receive(_ signals: SignalQueue) async throws {
        var options = options
        switch place {
        case .machines(let folder):
            let receiver = try receiver { () throws(ReceiverError) in
                try Receiver(machines: folder, options: options, onEvent: reports.add)
            }
            _ = try await serve(receiver, storingInto: "\(folder.path)/*", &options, signals) { true }
        case .store(let store, let scratch):
            let receiver = try receiver { () throws(ReceiverError) in
                try Receiver(store, scratch: scratch, options: options, onEvent: reports.add)
            }
            _ = try await serve(receiver, storingInto: store.description, &options, signals) { true }
        case .spool(var spool, let spoolOptions):
            while true {
                let receiver = try receiver { () throws(ReceiverError) in
                    try Receiver(spool, options: options, onEvent: reports.add)
                }
                let end = try await serve(receiver, storingInto: spool.path, &options, signals) { [spool] in spool.isAtItsPath }
                guard end == .lost, !Task.isCancelled else { return }
                log.warn(
                    "the folder of the spool \(spool.path) is gone, or another one: nothing is received until a spool is there")
                guard let found = await Self.first(signals, { Self.reopen(spoolOptions) }) else { return }
                spool = found
            }
        }
    }

    private func receiver(_ make: () throws(ReceiverError) -> Receiver) throws -> Receiver {
        do throws(ReceiverError) { return try make() } catch { throw CommandError(.localFailure, error.description) }
    }

    /// Serves until a signal comes, or the place that it stores into is gone.
    ///
    /// - Parameter isThere: Asked now and then: whether that place is still there.
    private func serve(
        _ receiver: Receiver, storingInto path: String, _ options: inout ReceiverOptions, _ signals: SignalQueue,
        while isThere: @escaping @Sendable () -> Bool
    ) async throws -> End {
        let scheme = options.certificate == nil ? "http" : "https"
        let host = options.host.contains(":") ? "[\(options.host)]" : options.host
        let state = Mutex((end: End.lost, port: options.port))
        do {
            try await receiver.run { [log, options] in
                guard await Self.first(signals, { isThere() ? nil : End.lost }) == nil, !Task.isCancelled else { return }
                state.withLock { $0.end = .signal }
                log.note("ending: what has begun is finished, for \(options.endPatience.forPeople) at most")
                // A second one ends the process at once: what was answered is on the disk.
                for number in EarlySignals.ofCommand { signal(number, SIG_DFL) }
            } onRunning: { [log] port in
                state.withLock { $0.port = port }
                log.note("listening on \(scheme)://\(host):\(port)/v1/segments, storing into \(path)")
            }
        } catch let error as ReceiverError {
            throw CommandError(.badConfiguration, error.description)
        } catch is CancellationError {
            log.warn("what was not finished by then was cut off: its senders send it again")
        } catch {
            throw CommandError(.localFailure, "cannot listen on \(listen): \(ListenAddress.reason(error))")
        }
        options.port = state.withLock(\.port)
        return state.withLock(\.end)
    }

    private static func reopen(_ spoolOptions: SpoolOptions) -> Spool? {
        // One that is being copied back has none yet.
        guard Glibc.access("\(spoolOptions.path)/.ferry/spool-id", F_OK) == 0 else { return nil }
        return try? spoolOptions.open(.write)
    }

    /// Returns what `ask` returns as soon as that is something; `nil` if a signal comes before.
    private static func first<Value: Sendable>(
        _ signals: SignalQueue, _ ask: @escaping @Sendable () -> Value?
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { tasks in
            tasks.addTask {
                _ = await signals.next()
                return nil
            }
            tasks.addTask {
                let (answers, continuation) = AsyncStream.makeStream(of: Value?.self, bufferingPolicy: .bufferingNewest(1))
                Self.poll(continuation, on: DispatchQueue(label: "ferry.folder"), ask)
                for await case let answer? in answers { return answer }
                return nil
            }
            defer { tasks.cancelAll() }
            return await tasks.next() ?? nil
        }
    }

    /// How soon a folder that went or came is seen.
    private static let pause = DispatchTimeInterval.seconds(2)

    /// Asks again and again, on a thread of its own, until no task waits: a file system that does not answer keeps no signal waiting.
    private static func poll<Value: Sendable>(
        _ continuation: AsyncStream<Value?>.Continuation, on queue: DispatchQueue, _ ask: @escaping @Sendable () -> Value?
    ) {
        queue.asyncAfter(deadline: .now() + pause) {
            if case .terminated = continuation.yield(ask()) { return }
            poll(continuation, on: queue, ask)
        }
    }
}
