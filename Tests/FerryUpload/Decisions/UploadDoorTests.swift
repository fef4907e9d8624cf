import FerrySpool
import TestSupport
import Testing

@testable import FerryUpload

@Suite("What a server, the kernel and the environment say")
struct UploadDoorTests {
    @Test(
        "Whatever a server asks for, the wait is a day at most",
        arguments: ["9223372036854775807", "4294967297", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func retryAfter(text: String) {
        #expect(RetryAfter.parse(text, now: .distantPast, serverDate: nil) == .seconds(86_400))
    }

    @Test(
        "A wait that is no number or moment is none",
        arguments: ["-1", "1e3", "Fri, 31 Feb 2026 00:00:00 GMT"])
    func noRetryAfter(text: String) {
        #expect(RetryAfter.parse(text, now: .distantPast, serverDate: nil) == nil)
    }

    @Test("Messages of the kernel that were cut or changed anywhere are passed over")
    func netlink() {
        var generator = Seeded(seed: 77)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...96, using: &generator)).map { _ in
                UInt8.random(in: 0...(Bool.random(using: &generator) ? 32 : 255), using: &generator)
            }
            if bytes.count >= 6 { bytes[4] = [16, 24].randomElement(using: &generator)! }
            if bytes.count >= 4 { (bytes[1], bytes[2], bytes[3]) = (0, 0, 0) }
            let table = bytes.withUnsafeBytes { RouteTable(NetlinkMessage.parse($0)) }
            _ = table.defaultInterface
        }
    }

    @Test("A proxy's port is a port", arguments: ["http://p:0", "http://p:65536", "http://p:99999999999"])
    func proxyPorts(url: String) {
        #expect(throws: DestinationURLError.self) { try ProxySettings(environment: ["HTTP_PROXY": url]) }
    }
}
