import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload
@testable import ferry

@Suite("What metrics tell of spools")
struct RunMetricsTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
    private let folder = TemporaryFolder()

    private func text(isAvailable: Bool = true, _ gauges: [String: SpoolGauges]) -> String {
        let spool = RunSnapshot.Spool(path: "/s", isAvailable: isAvailable, pending: [:], blocker: nil)
        let run = RunSnapshot(spools: [spool], breaker: .closed, requestsUnderWay: 0, counters: .init())
        return MetricsText(RunMetrics([NamedSnapshot(name: nil, run: run)], gauges: .init(gauges), now: now).families).text(
            .prometheus)
    }

    @Test("Of a spool in which nothing has happened yet everything is there, at zero")
    func zeros() {
        let text = text(["/s": SpoolGauges()])
        for name in [
            "pending_segments", "pending_bytes", "oldest_pending_age_seconds", "late_segments", "sent_segments_total",
            "rejected_segments_total",
        ] {
            #expect(text.contains("\nferry_\(name){spool=\"/s\",priority=\"5\"} 0\n"), "\(name)")
        }
        for name in [
            "last_delivery_timestamp_seconds", "segments_in_rejected", "travelling_segments",
            "travelling_since_timestamp_seconds", "silent",
        ] {
            #expect(text.contains("\nferry_\(name){spool=\"/s\"} 0\n"), "\(name)")
        }
    }

    @Test("Of a spool that is gone, or was not looked at, nothing is told that may not be so")
    func gone() {
        let gone = text(isAvailable: false, ["/s": SpoolGauges()])
        #expect(gone.contains("ferry_spool_available{spool=\"/s\"} 0\n"))
        for text in [gone, text([:])] {
            #expect(!text.contains("ferry_segments_in_rejected{"))
            #expect(!text.contains("ferry_disk_free_bytes{"))
        }
        #expect(!gone.contains("ferry_pending_segments{"))
    }

    @Test("A spool with something that cannot be read has no gauges, and is not available")
    func unreadable() throws {
        let spool = try folder.spool()
        #expect(SpoolGauges(of: spool.path, at: now, locks: HeldLocks()) != nil)
        // A link that leads nowhere cannot be listed by root, either.
        #expect(symlink("nowhere/at/all", folder("spool/rejected")) == 0)
        #expect(SpoolGauges(of: spool.path, at: now, locks: HeldLocks()) == nil)
    }

    @Test("What was put into lanes is not delivered")
    func lanes() {
        let counters = RunCounters()
        let entry = { (outcome: LedgerEntry.Outcome) in
            LedgerEntry(at: now, segment: "\(Segments.name(second: 1))", outcome: outcome, bytes: ByteCount(5))
        }
        counters.count(.sent(entry(.routed)), in: "/s")
        #expect(counters.current.counts.isEmpty)
        counters.count(.sent(entry(.sent)), in: "/s")
        #expect(counters.current.counts.values.map(\.sent) == [1])
    }

    @Test("Times are seconds since 1970, and sizes bytes")
    func values() {
        var gauges = SpoolGauges()
        gauges.lastDelivery = now
        gauges.travellingSince = now + .milliseconds(500)
        gauges.travelling = 3
        gauges.rejected = 2
        gauges.isSilent = true
        gauges.disk = DiskSpace(free: ByteCount(5), size: ByteCount(1 << 40))
        let text = text(["/s": gauges])
        for line in [
            "last_delivery_timestamp_seconds{spool=\"/s\"} 1795262400", "segments_in_rejected{spool=\"/s\"} 2",
            "travelling_segments{spool=\"/s\"} 3", "travelling_since_timestamp_seconds{spool=\"/s\"} 1795262400.5",
            "silent{spool=\"/s\"} 1", "disk_free_bytes{spool=\"/s\"} 5", "disk_size_bytes{spool=\"/s\"} 1099511627776",
        ] {
            #expect(text.contains("\nferry_\(line)\n"), "\(line)\n\(text)")
        }
    }

    @Test("A look finds what lies in rejected/ and what is left of the disk; a folder that is no spool has no gauges")
    func look() throws {
        let spool = try folder.spool()
        let empty = try #require(SpoolGauges(of: spool.path, at: now, locks: HeldLocks()))
        #expect(empty.rejected == 0)
        #expect(empty.lastDelivery == nil)
        let disk = try #require(empty.disk)
        #expect(disk.free > .zero)
        #expect(disk.free <= disk.size)
        #expect(mkdir(spool.path + "/rejected", 0o700) == 0 || errno == EEXIST)
        let name = try #require(SegmentName(priority: .normal, created: now, id: "0123456789abcdef0123")).fileName
        try Data(Segments.gzip("1\n")).write(to: URL(filePath: "\(spool.path)/rejected/\(name)"))
        #expect(SpoolGauges(of: spool.path, at: now, locks: HeldLocks())?.rejected == 1)
        #expect(mkdir(folder("empty"), 0o700) == 0)
        for path in [folder("empty"), folder("none")] { #expect(SpoolGauges(of: path, at: now, locks: HeldLocks()) == nil) }
    }

    @Test("Looks are made once in a while, however often metrics are asked for")
    func pauses() async throws {
        let spool = try folder.spool()
        let looks = GaugeLooks()
        let asked = Mutex(0)
        for _ in 0..<20 {
            let found = await looks.gauges {
                asked.withLock { $0 += 1 }
                return [spool.path]
            }
            #expect(found[spool.path] != nil)
        }
        #expect(asked.withLock { $0 } < 20)
    }

    @Test("Machines that have sent nothing yet are in a receiver's metrics from the start")
    func machines() {
        var gauges = SpoolGauges()
        gauges.lastArrival = now
        gauges.isSilent = true
        let look = ReceiverLook(
            spools: [("a", SpoolGauges()), ("b", gauges)].map { .init(machine: $0.0, path: "/hub/\($0.0)", gauges: $0.1) },
            disks: [("/hub", DiskSpace(free: ByteCount(1), size: ByteCount(2)))])
        let text = MetricsText(ReceiverMetrics().families(look, now: now)).text(.prometheus)
        for line in [
            "received_segments_total{machine=\"a\"} 0", "last_received_timestamp_seconds{machine=\"a\"} 0",
            "silent{machine=\"a\",spool=\"/hub/a\"} 0", "silent{machine=\"b\",spool=\"/hub/b\"} 1",
            "last_received_timestamp_seconds{machine=\"b\"} 1795262400",
            "disk_free_bytes{spool=\"/hub\"} 1", "disk_size_bytes{spool=\"/hub\"} 2",
        ] {
            #expect(text.contains("\nferry_\(line)\n"), "\(line)\n\(text)")
        }
    }
}
