import Foundation
import TestSupport

/// A proxy that knows CONNECT and nothing else.
enum Tunnel {
    static func proxy() -> ScriptedServer {
        ScriptedServer { peer in
            guard let (line, headers, _) = peer.head(), line.hasPrefix("CONNECT "),
                headers["proxy-authorization"] == "Basic dTpw",
                let port = line.split(separator: " ")[1].split(separator: ":").last.flatMap({ Int($0) }),
                let far = try? RawClient(port: port)
            else {
                peer.send(ScriptedServer.answer(407))
                return
            }
            peer.send("HTTP/1.1 200 Connected\r\n\r\n")
            let isAnswered = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                while let bytes = far.read(), !bytes.isEmpty, peer.send(bytes) {}
                peer.shutDown()
                isAnswered.signal()
            }
            while let bytes = peer.read(), !bytes.isEmpty { far.send(bytes) }
            far.shutDown()
            // The peer's descriptor is another connection's as soon as this returns.
            isAnswered.wait()
        }
    }
}
