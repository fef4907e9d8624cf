import Glibc
import Synchronization

/// Ports of 127.0.0.1 that stay a test's own, also while nothing listens on them.
///
/// The kernel gives a free port to whichever program asks for any, another test's server too: what is meant for a server that ended would be
/// taken by that one.
package enum LoopbackPort {
    /// Below the first port that Linux gives out by itself, 32768 (`ip_local_port_range`).
    private static let range = 20_000..<32_000
    private static let next = Atomic(Int.random(in: range))

    /// Returns a port that no other call of this process returns, and on which nothing listens.
    package static func own() -> Int {
        while true {
            let number = next.add(1, ordering: .relaxed).oldValue
            let port = range.lowerBound + number % range.count
            if isFree(port) { return port }
        }
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
