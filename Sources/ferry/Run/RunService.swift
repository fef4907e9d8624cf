import FerrySpool
import FerryUpload
import Glibc

/// Runs an uploader as a service: signals, metrics, and what the service manager wants to hear.
struct RunService {
    let config: ConfigOptions
    let log: Log
    let signals = SignalStream([SIGINT, SIGTERM, SIGHUP, SIGUSR1])
    let notifier = SystemdNotifier()

    /// What ended a run.
    private enum Step: Sendable {
        case asked(End)
        case runnerEnded
        case patienceOver
        case other
    }

    private enum End: Sendable {
        case signal(Int32)
        case reload(RunSetup)
    }

    /// What is under way is cut off after this time.
    private static let patience = Duration.seconds(10)
    /// How often metrics files and status lines are written: Prometheus' usual interval.
    private static let reportInterval = Duration.seconds(15)

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
        let runner: Runner
        do throws(UploadError) {
            runner = try Runner(setup.places, options: setup.options, onEvent: { events.show($0) })
        } catch {
            throw CommandFailure(.badConfiguration, error.description)
        }
        return try await withThrowingTaskGroup(of: Step.self) { group in
            group.addTask {
                await runner.run()
                return .runnerEnded
            }
            if let address = setup.metricsListen {
                group.addTask { [log] in
                    try await MetricsServer.run(address, runner, log: log)
                    return .other
                }
            }
            group.addTask { [self] in
                await report(runner, file: setup.metricsFile)
                return .other
            }
            group.addTask { [self] in .asked(await waitForEnd(of: runner)) }
            notifier.send("READY=1")
            var end = End.signal(SIGTERM)
            while let step = try await group.next() {
                switch step {
                case .asked(let asked):
                    end = asked
                    runner.stop()
                    let signals = signals.listen()
                    group.addTask {
                        try? await Task.sleep(for: Self.patience)
                        return .patienceOver
                    }
                    group.addTask {
                        for await number in signals where number == SIGINT || number == SIGTERM { break }
                        return .patienceOver
                    }
                case .runnerEnded, .patienceOver: group.cancelAll()
                case .other: break
                }
            }
            return end
        }
    }

    private func waitForEnd(of runner: Runner) async -> End {
        for await number in signals.listen() {
            switch number {
            case SIGUSR1: runner.flush()
            case SIGHUP:
                notifier.send("RELOADING=1\nMONOTONIC_USEC=\(SystemdNotifier.monotonicMicroseconds)")
                do {
                    return .reload(try config.setup())
                } catch {
                    for message in (error as? CommandFailure)?.messages ?? ["\(error)"] { log.error(message) }
                    log.error("the new configuration is refused; the old one stays")
                    notifier.send("READY=1")
                }
            default: return .signal(number)
            }
        }
        return .signal(SIGTERM)
    }

    /// Tells how things are, until cancelled.
    private func report(_ runner: Runner, file: String?) async {
        var nextReport = ContinuousClock.now
        let watchdog = notifier.watchdogInterval
        while !Task.isCancelled {
            // A runner that hangs is better restarted: the folder is the whole truth.
            if let watchdog, runner.sinceLastLook.map({ $0 < watchdog }) ?? true { notifier.send("WATCHDOG=1") }
            if ContinuousClock.now >= nextReport {
                nextReport += Self.reportInterval
                if notifier.isWanted || file != nil {
                    let snapshot = runner.snapshot()
                    notifier.send("STATUS=\(StatusLine.text(snapshot, now: .now()))")
                    if let file { writeMetrics(snapshot, to: file) }
                }
            }
            try? await Task.sleep(for: min(Self.reportInterval, watchdog.map { $0 / 2 } ?? Self.reportInterval))
        }
    }

    private func writeMetrics(_ snapshot: RunSnapshot, to path: String) {
        do throws(FileError) {
            // A reader must never see half of it.
            let temporary = path + ".tmp"
            let file = try OpenFile.creating(temporary)
            try file.write(Array(MetricsText(snapshot, now: .now()).text(.prometheus).utf8))
            guard chmod(temporary, 0o644) == 0, rename(temporary, path) == 0 else { throw FileError("write", path) }
        } catch {
            log.warn("metrics: \(error)")
        }
    }
}
