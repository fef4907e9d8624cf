import Foundation

/// A link to a server that is slow, stands still now and then, or breaks.
package enum Bottleneck {
    /// What the link is like on the way to the server.
    package struct Link: Sendable {
        /// Bytes a second.
        package var rate: Int?
        /// Stands still for a while each time so many bytes have passed.
        package var stall: (every: Int, seconds: Double)?
        /// Breaks each connection with a reset when so many bytes have passed.
        package var cutAfter: Int?

        package init(rate: Int? = nil, stall: (every: Int, seconds: Double)? = nil, cutAfter: Int? = nil) {
            self.rate = rate
            self.stall = stall
            self.cutAfter = cutAfter
        }
    }

    /// - Parameter link: Asked for each connection.
    package static func leading(to port: Int, _ link: @escaping @Sendable () -> Link) -> ScriptedServer {
        // A small buffer: what is not read stays with the sender.
        ScriptedServer(receiveBuffer: 16_384) { peer in
            guard let far = try? RawClient(port: port) else { return }
            let isAnswered = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                while let bytes = far.read(), !bytes.isEmpty, peer.send(bytes) {}
                peer.shutDown()
                isAnswered.signal()
            }
            defer {
                far.shutDown()
                // The peer's descriptor is another connection's as soon as this returns.
                isAnswered.wait()
            }
            let link = link()
            var carried = 0
            while let bytes = peer.read(upTo: 4096), !bytes.isEmpty {
                far.send(bytes)
                carried += bytes.count
                if let limit = link.cutAfter, carried >= limit { return peer.reset() }
                if let rate = link.rate { Thread.sleep(forTimeInterval: Double(bytes.count) / Double(rate)) }
                if let stall = link.stall, carried / stall.every > (carried - bytes.count) / stall.every {
                    Thread.sleep(forTimeInterval: stall.seconds)
                }
            }
        }
    }
}
