@preconcurrency import Dispatch
import Glibc

/// The signals that a process gets, one after the other, instead of their usual effects.
final class SignalStream: Sendable {
    let signals: AsyncStream<Int32>
    private let sources: [any DispatchSourceSignal]

    init(_ numbers: [Int32]) {
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.signals = signals
        sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            return source
        }
    }

    deinit { for source in sources { source.cancel() } }
}
