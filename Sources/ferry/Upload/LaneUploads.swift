import FerrySpool
import FerryUpload
import Synchronization

/// One upload to several destinations: what is pending is put into their lanes, and each lane is sent by itself, all at the same time.
struct LaneUploads: Sendable {
    /// How segments are put into the lanes.
    let routing: UploadOptions
    let destinations: [(lane: Lane, options: UploadOptions)]
    let isJSON: Bool
    let isQuiet: Bool
    let progress: Progress
    let log: Log

    /// Sends, and tells what came of it. Returns what to exit with.
    func run(_ spool: Spool, _ unfinished: [RecoveryError]) async throws -> ExitStatus {
        let running = RunningPasses()
        return try await Interruptible.run {
            try await run(spool, unfinished, running)
        } stop: {
            running.stop()
        }
    }

    private func run(
        _ spool: Spool, _ unfinished: [RecoveryError], _ running: RunningPasses
    ) async throws -> ExitStatus {
        progress.begin(ProgressLine(verb: "put", total: progress.isShown ? .init(pendingIn: spool) : nil))
        let routed = try await pass(spool, routing, unfinished, running)
        for problem in routed.report.unfinished { log.warn("\(problem)") }
        var status = say(routed, isRouting: true)
        let control = routed.report.control
        guard !control.stopsSending, routed.report.stopReason != .interrupted else {
            try StandardOutput.flush()
            return status
        }
        let lanes = destinations.map { spool.lanes.path(of: $0.lane.name) }
        progress.begin(ProgressLine(verb: "sent", total: progress.isShown ? .init(pendingIn: lanes) : nil))
        // What fails of one stops no other.
        let ends = await withTaskGroup(of: (Int, Result<UploadSummary, CommandError>).self) { group in
            for (index, destination) in destinations.enumerated() {
                group.addTask { (index, await end(of: destination, spool, running)) }
            }
            var ends: [(Int, Result<UploadSummary, CommandError>)] = []
            for await next in group { ends.append(next) }
            return ends.sorted { $0.0 < $1.0 }.map(\.1)
        }
        progress.pause()
        for (end, destination) in zip(ends, destinations) {
            let own: ExitStatus
            switch end {
            case .success(let summary): own = say(summary, isRouting: false)
            case .failure(let failure):
                own = failure.status
                for message in failure.messages { log.error("\(destination.lane.name): \(message)") }
            }
            if destination.lane.isRequired { status = Self.worse(status, own) }
        }
        try StandardOutput.flush()
        return status
    }

    private func end(
        of destination: (lane: Lane, options: UploadOptions), _ spool: Spool, _ running: RunningPasses
    ) async -> Result<UploadSummary, CommandError> {
        do {
            return .success(try await send(spool, destination, running))
        } catch let failure as CommandError {
            return .failure(failure)
        } catch {
            return .failure(CommandError(.localFailure, "\(error)"))
        }
    }

    private func send(
        _ spool: Spool, _ destination: (lane: Lane, options: UploadOptions), _ running: RunningPasses
    ) async throws -> UploadSummary {
        let lane: Spool
        do throws(FileError) {
            try spool.lanes.make(destination.lane.name)
            lane = try Spool.open(spool.lanes.path(of: destination.lane.name), access: .write)
        } catch {
            throw CommandError(error)
        }
        let recovery = try? lane.housekeeping.recover()
        var summary = try await pass(lane, destination.options, recovery?.problems ?? [], running)
        summary.name = destination.lane.name
        return summary
    }

    private func pass(
        _ spool: Spool, _ options: UploadOptions, _ unfinished: [RecoveryError], _ running: RunningPasses
    ) async throws -> UploadSummary {
        do throws(UploadError) {
            let pass = try UploadPass(spool, options: options, unfinished: unfinished, onEvent: { progress.show($0) })
            running.add(pass)
            return UploadSummary(report: try await pass.run(), destination: options.destination, now: .now())
        } catch {
            throw error.commandFailure
        }
    }

    /// Prints a summary. Returns what it alone would exit with.
    private func say(_ summary: UploadSummary, isRouting: Bool) -> ExitStatus {
        let name = summary.name.map { "\($0): " } ?? ""
        let isSilent = isRouting && summary.report.sent.segments == 0 && summary.status == .done
        if isJSON {
            if !isRouting, let json = try? summary.json() { try? StandardOutput.print(json) }
        } else if !isQuiet, !isSilent {
            let lines = summary.text.map {
                isRouting && $0.hasPrefix("sent ") ? "put " + $0.dropFirst(5).replacing(" to ", with: " into ") : $0
            }
            for line in lines { try? StandardOutput.print(name + line) }
        } else if isQuiet {
            for fault in summary.faults { log.warn(name + fault) }
        }
        if let problem = summary.problem(isQuiet: isQuiet) { log.error(name + problem) }
        return summary.status
    }

    /// Of several statuses the one that a person has to see first.
    private static func worse(_ one: ExitStatus, _ other: ExitStatus) -> ExitStatus {
        let order: [ExitStatus] = [.interrupted, .spoolFull, .localFailure, .misconfigured, .remaining, .badData, .done]
        return order.first { $0 == one || $0 == other } ?? one
    }

    /// Prints what would be sent to each destination: what is in its lane, then what is yet to be put there.
    func printDue(in spool: Spool) throws {
        for (lane, options) in destinations {
            let output = DryRunOutput(isJSON: isJSON, log: log, lane: lane)
            let path = spool.lanes.path(of: lane.name)
            if (try? Spool.exists(at: path)) == true, let own = try? Spool.open(path, access: .read) {
                try output.print(own, options)
            }
            try output.print(spool, options)
        }
    }
}

/// The passes that have begun: all end when the process is to end.
private final class RunningPasses: Sendable {
    private let state = Mutex((passes: [UploadPass](), isStopping: false))

    func add(_ pass: UploadPass) {
        let isStopping = state.withLock { state in
            state.passes.append(pass)
            return state.isStopping
        }
        if isStopping { pass.stop() }
    }

    func stop() {
        let passes = state.withLock { state in
            state.isStopping = true
            return state.passes
        }
        for pass in passes { pass.stop() }
    }
}
