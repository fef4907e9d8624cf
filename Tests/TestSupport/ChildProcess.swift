import Foundation
import Synchronization

/// A program that runs, with files for its standard streams.
///
/// Not Foundation's `Process`: that copies 256 bytes of each name that `readdir` gives it (`findMaximumOpenFromProcSelfFD`, Foundation 6.3),
/// also where the memory ends sooner, and then ends the tests.
package final class ChildProcess: Sendable {
    package let processIdentifier: Int32
    /// The status with which it ended; a signal's number if one ended it.
    private let status: AsyncStream<Int32>
    private let isRunning = Mutex(true)

    /// Begins a program.
    ///
    /// - Parameters:
    ///   - path: The program's path.
    ///   - environment: All of its environment; `nil`: that of the tests.
    ///   - input: The path of the file that it reads.
    ///   - output: The path of the file that it writes.
    ///   - errors: The path of the file for its errors.
    /// - Throws: `POSIXError` if it cannot be begun.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String]? = nil,
        input: String = "/dev/null", output: String = "/dev/null", errors: String = "/dev/null"
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, path) in [input, output, errors].enumerated() {
            let flags = descriptor == 0 ? O_RDONLY : O_WRONLY | O_CREAT
            posix_spawn_file_actions_addopen(&actions, Int32(descriptor), path, flags, 0o644)
        }
        // A file of the tests that another program kept open would stay locked, a port taken.
        _ = Self.closeFrom(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var identifier: pid_t = 0
        let error = Self.withCStrings([path] + arguments) { arguments in
            Self.withCStrings((environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }) { environment in
                posix_spawn(&identifier, path, &actions, &attributes, arguments, environment)
            }
        }
        guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EINVAL) }
        processIdentifier = identifier
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        status = stream
        Thread.detachNewThread { [self] in
            continuation.yield(wait())
            continuation.finish()
        }
    }

    // Swift does not see the functions that only GNU's library has.
    private static let closeFrom = unsafeBitCast(
        dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"),
        to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt).self)

    private static func withCStrings<Value>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        let copies = texts.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return copies.withUnsafeBufferPointer { body($0.baseAddress!) }
    }

    private func wait() -> Int32 {
        // Its number stays its own until it is waited for, which happens under the lock: no signal goes to another program.
        var information = siginfo_t()
        while waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        return isRunning.withLock { isRunning in
            isRunning = false
            var status: Int32 = 0
            while waitpid(processIdentifier, &status, 0) < 0 && errno == EINTR {}
            return status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f
        }
    }

    /// Sends it a signal if it still runs.
    package func send(_ signal: Int32) { isRunning.withLock { if $0 { kill(processIdentifier, signal) } } }

    /// Waits for the end, once.
    ///
    /// - Returns: The status with which it ended; a signal's number if one ended it.
    package func end() async -> Int32 {
        for await status in status { return status }
        return -1
    }
}
