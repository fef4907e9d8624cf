import FerrySpool
import Glibc

/// Tells the service manager how things are (sd_notify(3)): datagrams to the socket in `$NOTIFY_SOCKET`.
struct SystemdNotifier: Sendable {
    private let path: String?
    /// How often the manager wants a sign of life; `nil` when it does not.
    let watchdogInterval: Duration?

    init() {
        func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        path = variable("NOTIFY_SOCKET")
        let isOurs = variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        watchdogInterval =
            isOurs ? variable("WATCHDOG_USEC").flatMap { Int64($0) }.map { .microseconds($0) } : nil
    }

    var isWanted: Bool { path != nil }

    /// The time that `RELOADING=1` has to come with.
    static var monotonicMicroseconds: Int64 {
        KernelClock.nanoseconds(CLOCK_MONOTONIC) / 1000
    }

    /// Sends assignments, one a line. A manager that does not listen is no reason to stop.
    func send(_ text: String) {
        guard let path else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // A leading @ stands for the abstract namespace's zero byte.
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(text.utf8)
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
