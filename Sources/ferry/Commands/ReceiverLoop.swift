import Dispatch
import FerryReceiver
import FerrySpool
import FerryUpload
import Glibc
import Synchronization

/// Receives into a spool until a signal comes, and opens it again when its folder was made anew.
struct ReceiverLoop {
    private let spoolOptions: SpoolOptions
    private let options: ReceiverOptions
    private let listen: String
    private let log: Log

    private enum End { case signal, lost }

    init(_ spoolOptions: SpoolOptions, _ options: ReceiverOptions, listen: String) {
        self.spoolOptions = spoolOptions
        self.options = options
        self.listen = listen
        log = spoolOptions.log
    }

    func run(_ spool: Spool) async throws {
        // What is being received may take long on a slow line, and is waited for; the end of a TLS connection takes some seconds more.
        let signals = try SignalQueue(EarlySignals.ofCommand, patience: options.endPatience + .seconds(10))
        var spool = spool
        var options = options
        while try await serve(spool, &options, signals) == .lost {
            log.warn("the folder of the spool \(spool.path) is gone, or another one: nothing is received until a spool is there")
            guard let found = await Self.first(signals, reopen) else { return }
            spool = found
        }
    }

    private func serve(_ spool: Spool, _ options: inout ReceiverOptions, _ signals: SignalQueue) async throws -> End {
        let failures = FailureLog(log)
        let receiver: Receiver
        do throws(ReceiverError) {
            receiver = try Receiver(spool, options: options) { [log] segment in
                let events = segment.events.map { ", \(counted($0, "event"))" } ?? ""
                log.note("\(segment.isDuplicate ? "known" : "received") \(segment.name)\(events), \(segment.bytes)")
            } onFailure: {
                failures.add($0)
            } onSentDeleted: { [log] in
                log.note(sentDeletedText($0))
            }
        } catch {
            throw CommandFailure(.localFailure, error.description)
        }
        let scheme = options.certificate == nil ? "http" : "https"
        let host = options.host.contains(":") ? "[\(options.host)]" : options.host
        let state = Mutex((end: End.lost, port: options.port))
        do {
            try await receiver.run {
                guard await Self.first(signals, { spool.isAtItsPath ? nil : End.lost }) == nil else { return }
                state.withLock { $0.end = .signal }
                // A second one ends the process at once: what was answered is on the disk.
                for number in EarlySignals.ofCommand { signal(number, SIG_DFL) }
            } onRunning: { [log] port in
                state.withLock { $0.port = port }
                log.note("listening on \(scheme)://\(host):\(port)/v1/segments, storing into \(spool.path)")
            }
        } catch let error as ReceiverError {
            throw CommandFailure(.badConfiguration, error.description)
        } catch is CancellationError {
            // What took too long was cut off.
        } catch {
            throw CommandFailure(.localFailure, "cannot listen on \(listen): \(ListenAddress.reason(error))")
        }
        options.port = state.withLock(\.port)
        return state.withLock(\.end)
    }

    private func reopen() -> Spool? {
        // One that is being copied back has none yet.
        guard Glibc.access("\(spoolOptions.path)/.ferry/spool-id", F_OK) == 0 else { return nil }
        return try? spoolOptions.open(.write)
    }

    /// What `ask` returns as soon as that is something; `nil` if a signal comes before.
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

/// Warns of each kind of failure once a minute: every sender tries again.
private final class FailureLog: Sendable {
    private let log: Log
    private let last = Mutex<[Int32: ContinuousClock.Instant]>([:])

    init(_ log: Log) { self.log = log }

    func add(_ error: FileError) {
        let now = ContinuousClock.now
        let isNew = last.withLock { last in
            if let before = last[error.code], now - before < .seconds(60) { return false }
            last[error.code] = now
            return true
        }
        if isNew { log.warn("cannot store what is received: \(error)") }
    }
}
