import Foundation
import Glibc

/// A client that sends what a test wants, byte by byte.
package final class RawClient: Sendable {
    private let descriptor: Int32

    /// - Parameter source: The address of this end, of 127.0.0.0/8.
    package init(port: Int, from source: String = "127.0.0.1") throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        func with(_ host: in_addr_t, _ port: Int, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32) throws {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = host
            let status = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if status != 0 { throw CancellationError() }
        }
        try with(inet_addr(source), 0, bind)
        try with(INADDR_LOOPBACK.bigEndian, port, connect)
    }

    deinit { close(descriptor) }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Posts a body to the receiver's path on a connection of its own.
    package static func post(
        _ body: [UInt8], port: Int, headers: [String: String] = [:], from source: String = "127.0.0.1"
    ) async throws -> (status: Int, body: String) {
        let answer = try await wholeAnswer(to: body, port: port, headers: headers, from: source)
        let status = answer.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return (status, answer.range(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) } ?? "")
    }

    /// Posts a body, and returns the answer with its head.
    package static func wholeAnswer(
        to body: [UInt8], port: Int, headers: [String: String] = [:], from source: String = "127.0.0.1"
    ) async throws -> String {
        let client = try RawClient(port: port, from: source)
        let fields = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head = "POST /v1/segments HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\(fields)\r\n"
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                client.send(Array(head.utf8) + body)
                continuation.resume(returning: String(decoding: client.readToEnd(), as: UTF8.self))
            }
        }
    }

    package func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer[..<count])
    }

    package func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Ends both directions, so that a thread that reads wakes up.
    package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Ends the direction to the server.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Waits for what comes next on a thread of its own.
    package func nextAnswer() async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(returning: String(decoding: read() ?? [], as: UTF8.self)) }
        }
    }

    /// Waits for the other side's end on a thread of its own.
    package func answer() async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: String(decoding: self.readToEnd(), as: UTF8.self)) }
        }
    }

    package func readToEnd() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Waits for the other side's close, which a timeout of the socket bounds.
    package func isClosedByPeer(within limit: Duration) async -> Bool {
        let descriptor = descriptor
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
                setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
                var buffer = [UInt8](repeating: 0, count: 4096)
                var count = 1
                repeat { count = recv(descriptor, &buffer, buffer.count, 0) } while count > 0
                continuation.resume(returning: count == 0 || errno == ECONNRESET)
            }
        }
    }
}
