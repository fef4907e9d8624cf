import FerrySpool
import NIOCore
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Slow and bad links: what is decided without one")
struct LinkTests {
    // MARK: how much of a body the other side may have

    @Test(
        "A body is whole for the other side only when nothing of it is left on this one",
        arguments: [
            (true, 0, 100, .whole), (true, 0, 0, .whole), (true, 0, nil, .whole), (true, 1, 100, .part), (true, 1, 0, .nothing),
            (false, 0, 100, .part), (false, 500, 100, .part), (false, 0, 0, .nothing), (false, 0, -300, .nothing),
            (false, 0, nil, .part),
        ] as [(Bool, Int64, Int64?, Departure)])
    func departure(isHandedOver: Bool, unsent: Int64, acknowledged: Int64?, expected: Departure) {
        #expect(Departure(isHandedOver: isHandedOver, unsent: unsent, acknowledged: acknowledged) == expected)
    }

    // MARK: when a segment is split because the link breaks

    private func sidecar(broken: Int?) -> RetryState {
        let time = Timestamp(milliseconds: 0)
        return RetryState(
            attempts: 1, failures: 0, firstAttemptAt: time, lastAttemptAt: time, nextAttemptAt: time,
            lastError: .init(scope: .segment, kind: "closed", message: "x"), broken: broken)
    }

    @Test(
        "Two tries that broke off ask for a split",
        arguments: [
            ([.part], false), ([.part, .part], true), ([.part, .nothing, .part], true), ([.nothing, .nothing], false),
            ([.part, .whole, .part, .part], false), ([.whole, .part, .part, .part], false), ([.part, .part, .part], true),
        ] as [([Departure], Bool)])
    func brokenTries(departures: [Departure], splits: Bool) {
        var state: RetryState?
        for departure in departures.dropLast() { state = sidecar(broken: BrokenTries.count(before: state, departure)) }
        let last = departures[departures.count - 1]
        #expect(BrokenTries.asksForSplit(.on, before: state, last) == splits)
        #expect(!BrokenTries.asksForSplit(.off, before: state, last))
    }

    @Test(
        "With --split-broken always a segment that may have arrived is split after two tries without an answer",
        arguments: [
            ([.whole], false), ([.whole, .whole], true), ([.whole, .part], true), ([.part, .part], true),
            ([.whole, .nothing], false),
        ] as [([Departure], Bool)])
    func splitAlways(departures: [Departure], splits: Bool) {
        var state: RetryState?
        for departure in departures.dropLast() { state = sidecar(broken: BrokenTries.count(before: state, departure)) }
        #expect(BrokenTries.asksForSplit(.always, before: state, departures[departures.count - 1]) == splits)
    }

    @Test("A try that was answered asks for no split, whatever the user wants")
    func splitAfterAnswer() {
        var state = sidecar(broken: nil)
        state.lastError.kind = "status"
        #expect(!BrokenTries.asksForSplit(.always, before: state, .whole))
    }

    @Test("What is not split though its link breaks says why, and how to change that; what may still be split does not")
    func splitHint() {
        #expect(BrokenTries.hint(.on, before: sidecar(broken: nil), .part).contains("--split-broken always"))
        #expect(BrokenTries.hint(.on, before: sidecar(broken: 1), .whole).contains("--split-broken always"))
        #expect(BrokenTries.hint(.on, before: sidecar(broken: 1), .part).isEmpty)
        #expect(BrokenTries.hint(.on, before: nil, .whole).isEmpty)
        #expect(BrokenTries.hint(.off, before: sidecar(broken: nil), .part).isEmpty)
    }

    @Test("A sidecar of an older version does not say whether a try arrived whole: such a segment is never split for its link")
    func oldSidecar() {
        #expect(BrokenTries.count(before: sidecar(broken: nil), .part) == nil)
    }

    @Test("Impossible numbers in a sidecar harm nothing", arguments: [Int.min, -1, Int.max])
    func impossibleNumbers(broken: Int) throws {
        let count = try #require(BrokenTries.count(before: sidecar(broken: broken), .part))
        #expect((1...3).contains(count))
    }

    // MARK: slow or standing still

    private func time(_ milliseconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .milliseconds(milliseconds) }

    @Test("What drains from the kernel's buffer is progress, however slow")
    func drains() {
        var watch = ProgressWatch(timeout: .seconds(1))
        watch.start(at: time(0))
        for tick in 1...100 {
            let standsStill = watch.standsStill(at: time(Int64(tick) * 250)) {
                // A byte in three looks.
                .init(acknowledged: Int64(tick / 3), queued: 1000 - Int64(tick / 3), unsent: 0)
            }
            #expect(!standsStill)
        }
    }

    @Test("What is not acknowledged for the whole timeout stands still")
    func standsStill() {
        var watch = ProgressWatch(timeout: .seconds(1))
        watch.start(at: time(0))
        let looks = (1...4).map { tick in
            watch.standsStill(at: time(Int64(tick) * 250)) { .init(acknowledged: 5, queued: 9, unsent: 0) }
        }
        #expect(looks == [false, false, false, true])
    }

    @Test("A machine that was busy for longer than the timeout looks twice before it gives up")
    func starved() {
        var watch = ProgressWatch(timeout: .seconds(1))
        watch.start(at: time(0))
        #expect(!watch.standsStill(at: time(5000)) { .init(acknowledged: 5, queued: 9, unsent: 0) })
        #expect(!watch.standsStill(at: time(5250)) { .init(acknowledged: 6, queued: 8, unsent: 0) })
        #expect(!watch.standsStill(at: time(6000)) { .init(acknowledged: 6, queued: 8, unsent: 0) })
        #expect(watch.standsStill(at: time(6250)) { .init(acknowledged: 6, queued: 8, unsent: 0) })
    }

    @Test("The kernel is not asked while things are seen to move")
    func asksSeldom() {
        var watch = ProgressWatch(timeout: .seconds(1))
        watch.start(at: time(0))
        let looks = Cell(0)
        for tick in 1...10 {
            watch.moved(at: time(Int64(tick) * 250 - 10))
            _ = watch.standsStill(at: time(Int64(tick) * 250)) {
                looks.value += 1
                return nil
            }
        }
        #expect(looks.value == 0)
    }

    // MARK: proxies

    @Test(
        "A proxy's answer to CONNECT",
        arguments: [
            ("HTTP/1.1 200 Connection established\r\n\r\n", .open(rest: [])),
            ("HTTP/1.0 200\r\nVia: x\r\n\r\nab", .open(rest: Array("ab".utf8))),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n", .open(rest: [])),
            ("HTTP/1.1 200 OK\r\n", .more), ("", .more),
            ("HTTP/1.1 407 Proxy Auth\r\nContent-Length: 3\r\n\r\nno!", .refused(status: 407)),
            ("HTTP/1.1 502 X\r\n\r\n", .refused(status: 502)), ("SSH-2.0-x y z\r\n\r\n", .garbage),
            ("HTTP/1.1 2x0 \r\n\r\n", .garbage),
            ("HTTP/1.1 999 \r\n\r\n", .garbage), ("\r\n\r\n", .garbage), (String(repeating: "x", count: 20_000), .garbage),
        ] as [(String, TunnelAnswer.Reading)])
    func tunnelAnswer(text: String, expected: TunnelAnswer.Reading) {
        var answer = TunnelAnswer()
        #expect(answer.read(text.utf8) == expected)
    }

    @Test("It may come byte by byte")
    func tunnelAnswerInPieces() {
        var answer = TunnelAnswer()
        let bytes = Array("HTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8)
        let readings = bytes.map { answer.read([$0]) }
        #expect(readings.dropLast().allSatisfy { $0 == .more })
        #expect(readings.last == .open(rest: []))
    }

    @Test(
        "A proxy that refuses is misconfigured, and 407 says what it wants; one that cannot now is unavailable",
        arguments: [407, 403, 502, 503])
    func proxyRefuses(status: Int) {
        switch Verdict(TransportError.proxy(status: status, "x")) {
        case .misconfigured(let reason):
            #expect(status < 500)
            #expect(reason.message.contains("password") == (status == 407))
        case .unavailable: #expect(status >= 500)
        default: Issue.record("\(status) is neither")
        }
    }

    @Test(
        "A certificate covers names label by label and addresses byte by byte",
        arguments: [
            ("hub.example", true), ("HUB.example.", true), ("a.hub.example", false), ("x.wild.example", true),
            ("x.y.wild.example", false), ("wild.example", false), ("10.0.0.1", true), ("10.0.0.2", false), ("::1", true),
            ("0:0:0:0:0:0:0:1", true), ("::2", false), ("example", false), ("192.0.2.7", false),
        ])
    func identity(host: String, isCovered: Bool) {
        let identity = ServerIdentity(
            names: ["Hub.Example", "*.wild.example", "*.example", "192.0.2.7"],
            addresses: [[10, 0, 0, 1], [UInt8](repeating: 0, count: 15) + [1], []])
        // `*.example` would cover every name below a top-level domain.
        #expect(identity.covers(host) == isCovered)
    }

    @Test("A certificate without names for hosts says so, and is for none")
    func namelessIdentity() {
        let identity = ServerIdentity(names: [], addresses: [])
        #expect(identity.problem(for: "hub.example")?.contains("names no host (subjectAltName)") == true)
        #expect(ServerIdentity(names: ["a.example"], addresses: []).problem(for: "b.example")?.contains("another host") == true)
        #expect(ServerIdentity(names: ["a.example"], addresses: []).problem(for: "a.example") == nil)
    }

    @Test("Forms of bodies are made where waiting is allowed, and so is what inflates files")
    func quickLooks() throws {
        var options = UploadOptions(destination: try DestinationURL("http://h/"))
        #expect(SegmentClaimer.isQuick(isForeign: false, options))
        #expect(!SegmentClaimer.isQuick(isForeign: true, options))
        options.body = .jsonArray
        #expect(!SegmentClaimer.isQuick(isForeign: false, options))
    }
}
