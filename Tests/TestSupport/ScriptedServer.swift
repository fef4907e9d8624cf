import Foundation
import Glibc

/// A server on a loopback port that behaves as a test wants, well or badly: it speaks in bytes.
package final class ScriptedServer: Sendable {
    package let port: Int
    private let listener: Int32

    /// - Parameters:
    ///   - receiveBuffer: How much the kernel takes in before the script reads it.
    ///   - script: Called for every connection, on a thread of its own; the connection is closed when it returns.
    package init(port: Int = 0, receiveBuffer: Int32? = nil, _ script: @escaping @Sendable (Peer) -> Void) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        if var receiveBuffer {
            setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let status = bind(listener, pointer, length)
                getsockname(listener, pointer, &length)
                return status
            }
        }
        precondition(bound == 0 && listen(listener, 128) == 0, "cannot listen on loopback")
        self.port = Int(in_port_t(bigEndian: address.sin_port))
        // Threads of their own: scripts block, and dispatch queues have few threads to lend.
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard connection >= 0 else {
                    // Closed here alone: another server's listener may have the number by now, and this thread would take its connections.
                    close(listener)
                    return
                }
                Thread.detachNewThread {
                    let peer = Peer(connection)
                    script(peer)
                    close(connection)
                }
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    package var url: String { "http://127.0.0.1:\(port)/v1/segments" }

    /// Answers every request on every connection.
    package static func answering(
        port: Int = 0, _ answer: @escaping @Sendable (ReceivedRequest) -> String
    ) -> ScriptedServer {
        ScriptedServer(port: port) { peer in
            while let request = peer.request() { peer.send(answer(request)) }
        }
    }

    /// A whole answer without further headers.
    package static func answer(_ status: Int, _ headers: String = "", body: String = "") -> String {
        "HTTP/1.1 \(status) X\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}

/// A request as it came.
package struct ReceivedRequest: Sendable {
    package let line: String
    package let headers: [String: String]
    package let body: [UInt8]

    package init(line: String, headers: [String: String], body: [UInt8]) {
        self.line = line
        self.headers = headers
        self.body = body
    }

    /// A header, by its name in lower case.
    package subscript(name: String) -> String? { headers[name] }
}

/// The other end of one connection.
package struct Peer: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Reads a request's head only.
    package func head() -> (line: String, headers: [String: String], rest: [UInt8])? {
        var bytes: [UInt8] = []
        while true {
            guard let more = read(), !more.isEmpty else { return nil }
            bytes += more
            let end = Array("\r\n\r\n".utf8)
            if let index = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) {
                let lines = String(decoding: bytes[..<index], as: UTF8.self).split(separator: "\r\n")
                var headers: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
                }
                return (lines.first.map(String.init) ?? "", headers, Array(bytes[(index + 4)...]))
            }
        }
    }

    /// Reads a whole request; `nil` when the other side has closed.
    package func request() -> ReceivedRequest? {
        guard let (line, headers, rest) = head() else { return nil }
        var body = rest
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while body.count < length {
            guard let more = read(), !more.isEmpty else { return nil }
            body += more
        }
        return ReceivedRequest(line: line, headers: headers, body: body)
    }

    package func read(upTo limit: Int = 1 << 16) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer[..<count])
    }

    /// Waits until the other side closes.
    package func waitForClose() { while let more = read(), !more.isEmpty {} }

    /// `POLLRDHUP`, which Glibc's module lacks.
    private static let endOfPeer: Int16 = 0x2000

    /// Waits, without reading anything, until the other side ends the connection: orderly, or with a reset.
    package func waitForEnd() {
        var poll = pollfd(fd: descriptor, events: Self.endOfPeer, revents: 0)
        while Glibc.poll(&poll, 1, -1) < 0, errno == EINTR {}
    }

    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count }
    }

    /// Ends both directions, so that a thread that reads wakes up.
    package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Closes with a reset instead of an orderly end.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }
}
