@preconcurrency import Dispatch
import Glibc
import Synchronization

/// The signals that a process gets, instead of their usual effects.
final class SignalStream: Sendable {
    private final class Listeners: Sendable {
        private struct State {
            var all: [AsyncStream<Int32>.Continuation] = []
            /// What came while nobody listened.
            var missed: [Int32] = []
        }
        private let state = Mutex(State())

        func tell(_ number: Int32) {
            state.withLock { state in
                state.all.removeAll { if case .terminated = $0.yield(number) { true } else { false } }
                if state.all.isEmpty { state.missed.append(number) }
            }
        }

        func add(_ listener: AsyncStream<Int32>.Continuation) {
            state.withLock { state in
                for number in state.missed { listener.yield(number) }
                state.missed = []
                state.all.append(listener)
            }
        }
    }

    private let listeners: Listeners
    private let sources: [any DispatchSourceSignal]

    init(_ numbers: [Int32]) {
        let listeners = Listeners()
        self.listeners = listeners
        sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { listeners.tell(number) }
            source.resume()
            return source
        }
    }

    deinit { for source in sources { source.cancel() } }

    /// The signals from now on. A stream ends with the task that reads it, so each reader needs its own.
    func listen() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        listeners.add(continuation)
        return stream
    }
}
