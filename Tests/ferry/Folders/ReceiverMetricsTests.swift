import FerrySpool
import FerryUpload
import Testing

@testable import FerryReceiver
@testable import ferry

@Suite("What a receiver's metrics tell by machine")
struct ReceiverMetricsTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    private func sender(_ spool: String) -> Sender { Sender(saying: spool, at: "10.0.0.1") }

    private func take(_ sender: Sender, _ metrics: ReceiverMetrics) {
        let segment = ReceivedSegment(
            name: "a", bytes: ByteCount(7), events: 2, digest: BodyDigest(hexadecimal: String(repeating: "0", count: 64))!,
            isDuplicate: false)
        metrics.count(.received(segment, from: sender), at: now)
    }

    private func text(_ metrics: ReceiverMetrics, _ look: ReceiverLook) -> String {
        MetricsText(metrics.families(look, now: now)).text(.prometheus)
    }

    private func shared(_ gauges: SpoolGauges = SpoolGauges()) -> ReceiverLook {
        ReceiverLook(spools: [.init(machine: nil, path: "/hub", gauges: gauges)])
    }

    @Test("Machines that send into one spool are told apart by the spools that they say they send from")
    func shared() {
        let metrics = ReceiverMetrics()
        take(sender("4xmsk2"), metrics)
        take(sender("4xmsk2"), metrics)
        take(Sender(at: "10.0.0.1"), metrics)
        metrics.count(.refused(Refusal(RefusedRequestError(.shorterThanNamed), from: sender("4xmsk2"))))
        metrics.count(.refused(Refusal(RefusedRequestError(.shorterThanNamed), from: sender("stranger"))))
        let text = text(metrics, shared())
        for line in [
            "received_segments_total{machine=\"4xmsk2\"} 2", "received_segments_total 1",
            "received_bytes_total{machine=\"4xmsk2\"} 14",
            "refused_requests_total{machine=\"4xmsk2\",status=\"400\"} 1", "refused_requests_total{status=\"400\"} 1",
        ] {
            #expect(text.contains("\nferry_\(line)\n") || text.hasPrefix("ferry_\(line)\n"), "\(line)\n\(text)")
        }
        #expect(metrics.bytesTaken(of: nil) == 21)
        #expect(!text.contains("stranger"))
    }

    @Test(
        "A client that names ten thousand spools gets a bounded number of lines, and takes no place of a machine that came before"
    )
    func many() {
        let metrics = ReceiverMetrics()
        var gauges = SpoolGauges()
        var known = SpoolSender("known")
        known.add(ByteCount(1), at: now - .seconds(60), inBundle: false)
        gauges.senders = [known]
        _ = text(metrics, shared(gauges))
        for number in 0..<10_000 { take(sender("s\(number)"), metrics) }
        take(sender("known"), metrics)
        let text = text(metrics, shared(gauges))
        #expect(
            text.split(separator: "\n").count { $0.hasPrefix("ferry_received_segments_total") } == ReceiverMetrics.mostSenders + 1
        )
        #expect(text.contains("\nferry_received_segments_total{machine=\"known\"} 1\n"))
        #expect(text.contains("\nferry_received_segments_total{machine=\"other\"} \(10_000 - ReceiverMetrics.mostSenders + 2)\n"))
    }

    @Test("What no spool's ID can be gives no name")
    func hostile() {
        for text in ["", "a b", "a\"b", String(repeating: "a", count: 65), "é"] { #expect(sender(text).name == nil) }
    }

    @Test("From the start everything is there, at zero: of each machine, and of requests of none")
    func zeros() {
        let look = ReceiverLook(
            spools: [.init(machine: "a", path: "/hub/a", gauges: SpoolGauges())],
            disks: [("/hub", DiskSpace(free: ByteCount(1), size: ByteCount(2)))])
        let text = text(ReceiverMetrics(), look)
        let place = "machine=\"a\",spool=\"/hub/a\""
        for line in [
            "received_segments_total{machine=\"a\"}", "refused_requests_total{status=\"401\"}",
            "refused_requests_total{status=\"404\"}",
            "refused_requests_total{machine=\"a\",status=\"429\"}", "refused_requests_total{machine=\"a\",status=\"507\"}",
            "pending_segments{\(place),priority=\"5\"}", "pending_bytes{\(place),priority=\"5\"}",
            "oldest_pending_age_seconds{\(place),priority=\"5\"}", "segments_in_rejected{\(place)}", "silent{\(place)}",
        ] {
            #expect(text.contains("\nferry_\(line) 0\n"), "\(line)\n\(text)")
        }
        #expect(text.contains("\nferry_spool_available{\(place)} 1\n"))
    }

    @Test("A machine whose spool cannot be looked at is there, and nothing is told of what is in it")
    func gone() {
        let text = text(ReceiverMetrics(), ReceiverLook(spools: [.init(machine: "a", path: "/hub/a", gauges: nil)]))
        #expect(text.contains("\nferry_spool_available{machine=\"a\",spool=\"/hub/a\"} 0\n"))
        #expect(text.contains("\nferry_received_bytes_total{machine=\"a\"} 0\n"))
        #expect(!text.contains("ferry_pending_segments{"))
    }

    @Test("What is pending is told by priority, with the age of the oldest")
    func pending() {
        var gauges = SpoolGauges()
        var urgent = RunSnapshot.Pending()
        (urgent.segments, urgent.bytes, urgent.oldest) = (3, ByteCount(300), now - .seconds(90))
        gauges.pending[.critical] = urgent
        gauges.rejected = 2
        let text = text(ReceiverMetrics(), shared(gauges))
        let level = Priority.critical.level
        for line in [
            "pending_segments{spool=\"/hub\",priority=\"\(level)\"} 3", "pending_bytes{spool=\"/hub\",priority=\"\(level)\"} 300",
            "oldest_pending_age_seconds{spool=\"/hub\",priority=\"\(level)\"} 90", "segments_in_rejected{spool=\"/hub\"} 2",
        ] {
            #expect(text.contains("\nferry_\(line)\n"), "\(line)\n\(text)")
        }
    }
}
