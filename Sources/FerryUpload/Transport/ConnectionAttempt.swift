import CForks
import FerrySpool
import NIOCore
import NIOSSL

/// One attempt to open a connection. It ends once: with a connection, a failure, at its time limit, or cut off; what it opened and did
/// not hand over is closed then.
final class ConnectionAttempt: Sendable {
    private struct State {
        /// What was opened for this attempt.
        var channels: [any Channel] = []
        /// What is being waited for.
        var stage = "no connection"
        var timer: Scheduled<Void>?
        var isOver = false
    }

    private let eventLoop: any EventLoop
    /// For messages.
    private let place: String
    private let opened: EventLoopPromise<any Channel>
    private let state: NIOLoopBoundBox<State>

    init(to place: String, on eventLoop: any EventLoop) {
        self.place = place
        self.eventLoop = eventLoop
        opened = eventLoop.makePromise()
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
    }

    /// Waits for a connection. Cancelling the task cuts the attempt off.
    ///
    /// - Parameters:
    ///   - limit: For name look-up, TCP, proxy and TLS together.
    ///   - open: Begins to connect, on the event loop.
    func run(limit: Duration, _ open: @escaping @Sendable () -> EventLoopFuture<any Channel>) async throws -> any Channel {
        try await withTaskCancellationHandler {
            try await eventLoop.flatSubmit { [self] in
                guard !state.value.isOver else { return opened.futureResult }
                state.value.timer = eventLoop.scheduleTask(in: TimeAmount(limit)) { [self] in
                    fail("\(state.value.stage) in \(limit.forPeople)")
                }
                open().whenComplete { self.end(with: $0) }
                return opened.futureResult
            }.get()
        } onCancel: {
            cutOff("stopped")
        }
    }

    /// Ends the attempt, from any thread.
    func cutOff(_ why: String) { eventLoop.execute { self.fail(why) } }

    /// Names what is being waited for. On the event loop.
    func enter(_ stage: String) { state.value.stage = stage }

    /// Notes a channel that was made for this attempt. On the event loop.
    func note(_ channel: any Channel) {
        // A child that a program forks would keep the connection open.
        _ = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { ferry_own_socket($0) }
        guard !state.value.isOver else { return channel.abort() }
        state.value.channels.append(channel)
    }

    private func fail(_ why: String) {
        end(with: .failure(TransportError.connect("cannot connect to \(place): \(why)")))
    }

    private func end(with result: Result<any Channel, any Error>) {
        guard !state.value.isOver else {
            // It came too late.
            if case .success(let channel) = result { channel.abort() }
            return
        }
        state.value.isOver = true
        state.value.timer?.cancel()
        state.value.timer = nil
        let channels = state.value.channels
        state.value.channels = []
        var kept: (any Channel)?
        if case .success(let channel) = result { kept = channel }
        for channel in channels where channel !== kept { channel.abort() }
        opened.completeWith(result)
    }
}

extension Channel {
    /// Closes the socket at once: on the event loop, before this returns. An orderly close waits for the other side's farewell, which a
    /// stalled one never sends.
    func abort() {
        if let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            tls.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }
}
