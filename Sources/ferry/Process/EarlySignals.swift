import Glibc
import Synchronization

/// Hears signals from the first moment of the program on, for the commands that end gracefully. What comes before the command asks for them
/// is kept for it.
enum EarlySignals {
    private static let heard = Mutex<(queue: SignalQueue, numbers: [Int32])?>(nil)

    /// What `ferry run` reacts to.
    static let ofService = [SIGINT, SIGTERM, SIGHUP, SIGUSR1]
    /// What ends a command that does one thing. A terminal that is closed ends it like the others, unless nohup(1) has started it.
    static let ofCommand = [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP])

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        return sigaction(number, nil, &action) == 0 && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// Returns which of some signals end a process.
    static func ending(_ numbers: [Int32]) -> [Int32] { numbers == ofService ? [SIGINT, SIGTERM] : numbers }

    /// Begins to listen.
    static func listen(for numbers: [Int32]) {
        // Where there is no descriptor left, the command says so when it asks.
        guard let queue = try? SignalQueue(numbers) else { return }
        heard.withLock { $0 = (queue, numbers) }
    }

    /// Returns the queue of these signals, with what has come already. It is the command's own from here on.
    static func take(_ numbers: [Int32]) throws(CommandError) -> SignalQueue {
        let found = heard.withLock { heard in
            defer { heard = nil }
            return heard
        }
        if let found, found.numbers == numbers { return found.queue }
        return try SignalQueue(numbers)
    }
}
