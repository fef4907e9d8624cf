import FerrySpool
import Testing

@testable import FerryReceiver
@testable import ferry

@Suite("What the log of a receiver has about requests")
struct ReceiverLogTests {
    private let start = ContinuousClock.now
    private let press = Sender(MachineName("press-7"), at: "10.0.0.7")

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private func received(_ name: String = "a.gz", events: Int64? = 10, isKnown: Bool = false, from sender: Sender)
        -> ReceiverEvent
    {
        .received(
            ReceivedSegment(
                name: name, bytes: ByteCount(100), events: events,
                digest: BodyDigest(hexadecimal: String(repeating: "0", count: 64))!,
                isDuplicate: isKnown), from: sender)
    }

    private func refused(_ status: RefusedRequestError, from sender: Sender) -> ReceiverEvent {
        .refused(Refusal(status, from: sender))
    }

    @Test("The first segment of a machine is told at once, with machine and address; then a line a minute, with how many")
    func taken() throws {
        var log = ReceiverLog()
        let first = log.add(received(from: press), at: at(0))
        #expect(first.map(\.text) == ["received a.gz, 10 events, 100 B from press-7 at 10.0.0.7"])
        #expect(first[0].about["machine"] == "press-7")
        #expect(first[0].about["address"] == "10.0.0.7")
        #expect(first[0].about["segment"] == "a.gz")
        #expect(log.add(received(from: press), at: at(1)).isEmpty)
        #expect(log.add(received(isKnown: true, from: press), at: at(2)).isEmpty)
        #expect(log.add(received(from: Sender(MachineName("press-7"), at: "10.0.0.8")), at: at(3)).isEmpty)
        let later = log.over(all: false, at: at(60))
        #expect(
            later.map(\.text) == [
                "received 2 segments and 1 that were known (30 events, 300 B) from press-7 at 10.0.0.8 and elsewhere"
            ])
        #expect(later[0].about["segments"] == "2")
        #expect(later[0].about["known"] == "1")
        #expect(later[0].about["segment"] == nil)
    }

    @Test("What was known already is told as known")
    func known() {
        var log = ReceiverLog()
        #expect(
            log.add(received(events: nil, isKnown: true, from: press), at: at(0)).map(\.text)
                == ["known a.gz, 100 B from press-7 at 10.0.0.7"])
    }

    @Test("Strangers, however many, hide no refusal of a machine that is known")
    func strangers() {
        var log = ReceiverLog()
        let wrong = RefusedRequestError(RefusedRequestError.insufficientStorage, "no room for strangers")
        for number in 0..<500 { _ = log.add(refused(wrong, from: Sender(at: "10.1.\(number / 250).\(number % 250)")), at: at(0)) }
        let full = RefusedRequestError(RefusedRequestError.insufficientStorage, "no room")
        #expect(
            log.add(refused(full, from: press), at: at(1)).map(\.text)
                == ["refused a request of press-7 at 10.0.0.7 with 507: no room"])
        let later = log.over(all: true, at: at(120)).map(\.text)
        #expect(later == ["refused 400 more requests of other senders, the last of - at 10.1.1.249"])
    }

    @Test("A sender without a name is told by its address, with a hyphen in place of the name, and each address by itself")
    func nameless() {
        var log = ReceiverLog()
        for address in ["10.0.0.1", "10.0.0.2"] {
            let lines = log.add(received(from: Sender(at: address)), at: at(0))
            #expect(lines.map(\.text) == ["received a.gz, 10 events, 100 B from - at \(address)"])
            #expect(lines.first?.about["machine"] == "-")
        }
    }

    @Test("Ten thousand senders that come once have as many lines as a hundred, and one")
    func manySenders() {
        var log = ReceiverLog()
        var told = 0
        for number in 0..<10_000 {
            told += log.add(received(from: Sender(at: "10.0.\(number / 256).\(number % 256)")), at: at(0)).count
        }
        #expect(told == 100)
        #expect(
            log.over(all: false, at: at(60)).map(\.text)
                == ["received 9900 segments (99000 events, 990 kB) from other senders"])
    }

    @Test("A refusal names machine and address; the next ones of the machine with the status are counted, also for other reasons")
    func refusals() {
        var log = ReceiverLog()
        let first = log.add(refused(RefusedRequestError(.conflict(key: "k\u{1b}[31m")), from: press), at: at(0))
        #expect(
            first.map(\.text) == [
                "refused a request of press-7 at 10.0.0.7 with 422: the key k\\u001b[31m came before, with other bytes"
            ])
        #expect(first[0].isWarning)
        #expect(first[0].about == ["machine": "press-7", "address": "10.0.0.7", "requests": "1", "status": "422"])
        #expect(log.add(refused(RefusedRequestError(.conflict(key: "l")), from: press), at: at(1)).isEmpty)
        #expect(log.add(refused(RefusedRequestError(.conflict(key: "x")), from: Sender(at: "10.0.0.7")), at: at(1)).count == 1)
        #expect(
            log.over(all: false, at: at(60)).map(\.text) == ["refused 1 more request of press-7 at 10.0.0.7 with 422"])
    }

    @Test("Why the receiver takes nothing is told once for all senders, with the last of them")
    func outage() {
        var log = ReceiverLog()
        let reason = RefusedRequestError(.store("the store is away", retryAfter: .zero))
        var lines: [ReceiverLine] = []
        for number in 1...50 {
            lines += log.add(refused(reason, from: Sender(MachineName("m\(number)"), at: "10.0.0.\(number)")), at: at(0))
        }
        #expect(lines.map(\.text) == ["refused a request of m1 at 10.0.0.1 with 503: the store is away"])
        #expect(
            log.over(all: true, at: at(1)).map(\.text)
                == ["refused 49 more requests with 503, the last of m50 at 10.0.0.50: the store is away"])
    }

    @Test("A disk that is full is told once, not again as refusals; and that the machine's segments are stored again")
    func fullDisk() {
        var log = ReceiverLog()
        let error = FileError("write", "/hub/x", code: 28)
        var lines: [ReceiverLine] = []
        for number in 1...50 {
            let sender = Sender(MachineName("m\(number)"), at: "10.0.0.\(number)")
            lines += log.add(.failed(error, from: sender), at: at(0))
            lines += log.add(refused(RefusedRequestError(.file(error)), from: sender), at: at(0))
        }
        #expect(lines.count == 1)
        #expect(
            lines.first?.text.hasPrefix("cannot store what is received from m1 at 10.0.0.1: cannot write") == true, "\(lines)")
        #expect(log.add(received(isKnown: true, from: Sender(MachineName("m1"), at: "10.0.0.1")), at: at(30)).count == 1)
        let end = log.add(received(from: Sender(MachineName("m1"), at: "10.0.0.1")), at: at(300))
        #expect(end.first?.text == "stores again what is received from m1 at 10.0.0.1, after 5 min")
        #expect(log.add(received(from: Sender(MachineName("m1"), at: "10.0.0.1")), at: at(301)).isEmpty)
    }
}
