import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("What the kernel says of routes")
struct NetlinkTests {
    private func message(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        let length = 16 + payload.count
        return [UInt8(length & 0xff), UInt8(length >> 8), 0, 0, UInt8(type & 0xff), UInt8(type >> 8)]
            + [UInt8](repeating: 0, count: 10) + payload + [UInt8](repeating: 0, count: (4 - length % 4) % 4)
    }

    private func attribute(_ type: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [UInt8(4 + bytes.count), 0, type, 0] + bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    private func link(_ index: UInt8, _ name: String, isRunning: Bool = true) -> [UInt8] {
        // IFF_UP 0x1, IFF_RUNNING 0x40.
        message(
            16, [0, 0, 0, 0, index, 0, 0, 0, isRunning ? 0x41 : 1, 0, 0, 0, 0, 0, 0, 0] + attribute(3, Array(name.utf8) + [0]))
    }

    private func route(to prefix: UInt8 = 0, by link: UInt8, metric: UInt8 = 0, flags: UInt8 = 0, type: UInt8 = 1) -> [UInt8] {
        message(
            24,
            [2, prefix, 0, 0, 254, 3, 0, type, flags, 0, 0, 0] + attribute(4, [link, 0, 0, 0]) + attribute(6, [metric, 0, 0, 0]))
    }

    private func table(_ bytes: [[UInt8]]) -> RouteTable {
        Array(bytes.joined()).withUnsafeBytes { RouteTable(NetlinkMessage.parse($0)) }
    }

    @Test("Of several default routes the one with the smallest metric counts, if its link is there")
    func defaults() {
        let eth = link(2, "eth0"), wlan = link(3, "wlan0")
        #expect(table([eth, wlan, route(by: 3, metric: 9), route(by: 2, metric: 1)]).defaultInterface == "eth0")
        #expect(
            table([link(2, "eth0", isRunning: false), wlan, route(by: 3, metric: 9), route(by: 2)]).defaultInterface == "wlan0")
        #expect(table([eth, wlan, route(by: 2, flags: 16), route(by: 3, metric: 9)]).defaultInterface == "wlan0", "link down")
        #expect(table([eth, route(to: 24, by: 2)]).defaultInterface == nil)
        #expect(table([eth, route(by: 2, type: 7)]).defaultInterface == nil, "unreachable")
        #expect(table([]).defaultInterface == nil)
    }

    @Test("Only what the kernel says of the way is no way: an answer that got lost is none")
    func errors() {
        func code(_ error: Int32) -> Int32? {
            let bytes = message(2, withUnsafeBytes(of: error) { Array($0) } + [UInt8](repeating: 0, count: 16))
            return bytes.withUnsafeBytes { NetlinkMessage.parse($0) }.first?.errorCode
        }
        #expect(code(-101) == 101)
        #expect(code(0) == 0)
        #expect(code(.min) == .max)
        #expect(message(2, [1]).withUnsafeBytes { NetlinkMessage.parse($0) }.first?.errorCode == 74)
        #expect(link(2, "eth0").withUnsafeBytes { NetlinkMessage.parse($0) }.first?.errorCode == nil)
    }

    @Test("Of the ways to the destination's addresses one that is permitted decides, then one that is not")
    func ways() {
        let policy = NetworkPolicy()
        #expect(NetworkVerdict(interfaces: ["wwan0", nil, "eth0"], policy) == .usable(interface: "eth0"))
        #expect(NetworkVerdict(interfaces: [nil, "wwan0"], policy) == .denied(interface: "wwan0"))
        #expect(NetworkVerdict(interfaces: [nil], policy) == .noRoute)
        #expect(NetworkVerdict(interfaces: [], policy) == .noRoute)
    }

    @Test("A folder that is moved, removed or unmounted is gone; one in it that is, says nothing of segments")
    func goneFolders() {
        for mask in [UInt32(0x400), 0x800, 0x2000, 0x8000] {
            for isStateFolder in [false, true] {
                let event = FolderWatch.folderEvent(.init(watch: 1, mask: mask, name: ""), isStateFolder: isStateFolder)
                #expect(event == .gone)
            }
        }
    }

    @Test("Mutated messages are read or passed over, never more")
    func mutation() {
        let sound = Array([link(2, "eth0"), route(by: 2), route(to: 24, by: 2)].joined())
        var generator = Seeded(seed: 6)
        for _ in 0..<5000 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                bytes[.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            bytes.removeLast(.random(in: 0..<8, using: &generator))
            let table = bytes.withUnsafeBytes { RouteTable(NetlinkMessage.parse($0)) }
            _ = table.defaultInterface
        }
    }

    @Test("inotify's records are taken apart")
    func inotify() {
        let bytes: [UInt8] =
            [1, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0] + Array("a.jsonl.gz".utf8) + [0, 0, 0, 0, 0, 0]
            + [255, 255, 255, 255, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let events = bytes.withUnsafeBytes { InotifyEvent.parse($0) }
        #expect(events == [.init(watch: 1, mask: 0x80, name: "a.jsonl.gz"), .init(watch: -1, mask: 0x4000, name: "")])
        #expect(FolderWatch.folderEvent(events[0], isStateFolder: false) == .appeared("a.jsonl.gz"))
        #expect(bytes[..<30].withUnsafeBytes { InotifyEvent.parse($0) }.isEmpty)
    }
}
