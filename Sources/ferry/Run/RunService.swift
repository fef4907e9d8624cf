import FerrySpool
import FerryUpload
import Glibc

/// Runs an uploader as a service: signals, metrics, and what the service manager wants to hear.
struct RunService {
    let config: ConfigOptions
    let log: Log
    let signals: SignalQueue
    let notifier = SystemdNotifier()
    private let looks = GaugeLooks()

    init(config: ConfigOptions, log: Log) throws {
        self.config = config
        self.log = log
        signals = try EarlySignals.take(EarlySignals.ofService)
    }

    /// What happened in a run.
    private enum Step: Sendable {
        case signal(Int32)
        case read(Result<RunSetup, CommandError>)
        case runnerEnded
        case patienceOver
        case other
    }

    private enum End: Sendable {
        case signal(Int32)
        case reload(RunSetup)
    }

    /// How often metrics files and status lines are written: Prometheus' usual interval.
    private static let reportInterval = Duration.seconds(15)
    /// How long the end waits for the metrics' file.
    private static let lastPatience = Duration.seconds(2)

    /// Runs until SIGINT or SIGTERM. Returns which it was.
    func run(_ first: RunSetup) async throws -> Int32 {
        var setup = first
        while true {
            switch try await serve(setup) {
            case .signal(let number):
                notifier.send("STOPPING=1")
                return number
            case .reload(let new):
                Log.writesJSON = new.logsJSON
                log.note("the configuration is read again")
                setup = new
            }
        }
    }

    private func serve(_ setup: RunSetup) async throws -> End {
        let events = RunLog(log: log)
        let runners: Runners
        // Before anything starts: a token that cannot be read is a mistake.
        let dashboardOptions = setup.dashboardListen.map { DashboardOptions(address: $0, tokenFile: setup.dashboardToken) }
        _ = try dashboardOptions?.token()
        do throws(UploadError) {
            await makeLanes(setup)
            runners = try Runners(setup) { events.show($0, of: $1) }
        } catch {
            throw CommandError(.badConfiguration, error.description)
        }
        let dashboard = try dashboardOptions.map {
            try Dashboard($0, option: "dashboard.listen", of: HubPlaces(setup.places), log: log) { runners.readings() }
        }
        return try await withThrowingTaskGroup(of: Step.self) { group in
            group.addTask {
                await runners.run()
                return .runnerEnded
            }
            if let address = setup.metricsListen {
                group.addTask { [self] in
                    await serveMetrics(address, runners)
                    return .other
                }
            }
            if let dashboard {
                group.addTask { [self] in
                    await keepServing { try await dashboard.serve() }
                    return .other
                }
                group.addTask {
                    await dashboard.record()
                    return .other
                }
            }
            group.addTask { [self] in
                await report(runners)
                return .other
            }
            let metricsFile = setup.metricsFile.map { MetricsFile($0, log: log) }
            if let metricsFile {
                group.addTask { [looks] in
                    await Self.write(metricsFile, runners, looks)
                    return .other
                }
            }
            group.addTask {
                await events.tellDeliveries()
                return .other
            }
            listen(&group)
            notifier.send("READY=1")
            var lifecycle = RunLifecycle()
            var new: RunSetup?
            while let step = try await group.next() {
                let action: RunLifecycle.Action
                switch step {
                case .signal(let number):
                    action = lifecycle.received(number)
                    listen(&group)
                case .read(.success(let setup)):
                    new = setup
                    action = lifecycle.read(isGood: true)
                case .read(.failure(let failure)):
                    for message in failure.messages { log.error(message) }
                    log.error("the new configuration is refused; the old one stays")
                    action = lifecycle.read(isGood: false)
                    notifier.send("READY=1")
                case .runnerEnded, .patienceOver: action = .cutOff
                case .other: action = .nothing
                }
                carryOut(action, runners, &group)
            }
            // What was counted since the last time; the file outlives the process.
            if let metricsFile {
                let text = MetricsText(await runners.metrics(looks)).text(.prometheus)
                await withTaskGroup(of: Void.self) { last in
                    last.addTask { await metricsFile.write(text) }
                    last.addTask { try? await Task.sleep(for: Self.lastPatience) }
                    await last.next()
                    last.cancelAll()
                }
            }
            events.tellDelivered()
            if lifecycle.readsAgain { signals.add(SIGHUP) }
            if let number = lifecycle.end { return .signal(number) }
            return new.map { .reload($0) } ?? .signal(SIGTERM)
        }
    }

    /// Makes the lanes of the spools that are there, so that they are watched from the beginning. What is missing is made with its first segment.
    private func makeLanes(_ setup: RunSetup) async {
        for folder in setup.places.flatMap({ (try? $0.folders()) ?? [] }) {
            guard let spool = try? Spool.openExisting(folder) else { continue }
            for destination in setup.destinations {
                do throws(FileError) { try spool.lanes.make(destination.lane.name) } catch { log.warn("\(error)") }
            }
            if !setup.destinations.isEmpty { await putTried(spool, setup) }
            let known = Set(setup.destinations.map(\.lane.name))
            for name in (try? spool.lanes.names()) ?? [] where !known.contains(name) {
                let path = spool.lanes.path(of: name)
                guard let count = try? Spool.open(path, access: .read).scan().entries.count, count > 0 else { continue }
                log.warn(
                    "\(path) belongs to no destination: \(counted(count, "segment")) stay there; ferry upload --destination \(name) --to URL sends them"
                )
            }
        }
    }

    /// Puts what was tried before the spool had lanes into them, before anything is sent from there: a request of several segments that is to be made
    /// again as it was needs all of them.
    private func putTried(_ spool: Spool, _ setup: RunSetup) async {
        // What a killed process had under way has its sidecars from here on.
        spool.requests.restore(keepsSent: setup.options.upload.keepsSent, sentGivesWay: setup.options.upload.sentGivesWay)
        guard let listing = try? spool.scan(), listing.entries.contains(where: \.hasSidecar) else { return }
        let events = RunLog(log: log)
        let path = spool.path
        let options = setup.options.upload
        _ = try? await UploadPass(
            spool, options: options,
            onEvent: { event in
                events.show(.upload(spool: path, event), of: "\(options.destination)")
            }
        ).run()
    }

    private func serveMetrics(_ address: ListenAddress, _ runners: Runners) async {
        await keepServing {
            try await MetricsServer.run(address, option: "metrics.listen", log: log) { [looks] in await runners.metrics(looks) }
        }
    }

    /// Serves something. An address that another program has, or that is not there yet after a boot, stops no delivery.
    private func keepServing(_ serve: () async throws -> Void) async {
        var told = ""
        while !Task.isCancelled {
            do { try await serve() } catch  where "\(error)" != told {
                told = "\(error)"
                log.error("\(told); delivery goes on, and it is tried again every \(Self.reportInterval.forPeople)")
            } catch {}
            try? await Task.sleep(for: Self.reportInterval)
        }
    }

    private func listen(_ group: inout ThrowingTaskGroup<Step, any Error>) {
        group.addTask { [signals] in await signals.next().map { .signal($0) } ?? .other }
    }

    private func carryOut(
        _ action: RunLifecycle.Action, _ runners: Runners, _ group: inout ThrowingTaskGroup<Step, any Error>
    ) {
        switch action {
        case .nothing: break
        case .flush: runners.flush()
        case .readConfiguration:
            notifier.send("RELOADING=1\nMONOTONIC_USEC=\(SystemdNotifier.monotonicMicroseconds)")
            // A file on a disk that hangs must not keep the process from ending.
            group.addTask { [config] in
                let result: Result<RunSetup, CommandError>? = await abandonable {
                    do {
                        return .success(try config.setup())
                    } catch {
                        return .failure(error as? CommandError ?? CommandError(.badConfiguration, "\(error)"))
                    }
                }
                guard case .success(let setup)? = result else { return result.map { .read($0) } ?? .other }
                do {
                    try await setup.requireCredentials()
                } catch {
                    return .read(.failure(error as? CommandError ?? CommandError(.badConfiguration, "\(error)")))
                }
                return .read(.success(setup))
            }
        case .stop:
            runners.stop()
            group.addTask {
                try? await Task.sleep(for: Interruptible.patience)
                return .patienceOver
            }
        case .cutOff: group.cancelAll()
        }
    }

    /// Tells how things are, until cancelled.
    private func report(_ runners: Runners) async {
        var nextReport = ContinuousClock.now
        let watchdog = notifier.watchdogInterval
        while !Task.isCancelled {
            // A runner that hangs is better restarted: the folder is the whole truth.
            if let watchdog, runners.sinceLastLook.map({ $0 < watchdog }) ?? true { notifier.send("WATCHDOG=1") }
            if ContinuousClock.now >= nextReport {
                nextReport += Self.reportInterval
                if notifier.isWanted { notifier.send("STATUS=\(StatusLine.text(runners.snapshots(), now: .now()).printable())") }
            }
            try? await Task.sleep(for: min(Self.reportInterval, watchdog.map { $0 / 2 } ?? Self.reportInterval))
        }
    }

    /// Writes the metrics' file now and then, until cancelled: a disk that hangs keeps nothing else waiting.
    private static func write(_ file: MetricsFile, _ runners: Runners, _ looks: GaugeLooks) async {
        // Until the spools are looked at, what the file says of the time before is nearer to the truth than that there are none.
        while !runners.haveLooked, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(100)) }
        while !Task.isCancelled {
            await file.write(MetricsText(await runners.metrics(looks)).text(.prometheus))
            try? await Task.sleep(for: reportInterval)
        }
    }
}
