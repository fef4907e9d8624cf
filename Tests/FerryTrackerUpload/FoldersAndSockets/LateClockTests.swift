import FerryTracker
import FerryUpload
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool

@Suite("Writers, trackers and uploaders without a right clock")
struct LateClockTests {
    private let folder = TemporaryFolder()
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
    private let boot = Timestamp(milliseconds: 12_345)

    private func write(_ line: String, at time: Timestamp, into spool: Spool) throws -> SegmentName {
        let writer = SegmentWriter(spool: spool, options: .init(), wallClock: { time })
        var line = line
        try line.withUTF8 { try writer.append($0, at: .now) }
        return try #require(try writer.finish().first)
    }

    @Test("A writer and a tracker that start in 1970 publish after what is there, and the request tells both times")
    func requests() async throws {
        let spool = try folder.spool()
        let first = try write("1", at: now, into: spool)
        let second = try write("2", at: boot, into: spool)
        #expect(second.created > first.created)
        var configuration = TrackerConfiguration()
        configuration.sessions.tracksLifecycle = false
        configuration.sealsOnTermination = false
        configuration.reportsCrashes = false
        let tracker = try EventTracker(
            spool: spool.path, configuration: configuration, now: { [boot] in Moment(wall: boot, steady: .seconds(1)) })
        try tracker.track("late riser")
        try tracker.close()
        let names = try spool.pending()
        #expect(names.count == 3)
        #expect(Array(names[..<2]) == [first.fileName, second.fileName])

        let seen = Mutex<[[String?]]>([])
        let server = ScriptedServer.answering { request in
            seen.withLock { $0.append([request["ferry-created"], request["ferry-created-clock"]]) }
            return ScriptedServer.answer(200)
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.parallel = 1
        #expect(try await UploadPass(spool, options: options).run().sent.segments == 3)
        guard try spool.directory.contains("sent"), try spool.files(in: [.sent]).first?.open()?.clockReading == nil else {
            return
        }
        guard try spool.files(in: [.sent]).last?.open()?.clockReading != nil else {
            return print("NOT TESTED: no extended attributes")
        }
        #expect(
            Array(seen.withLock { $0 }[..<2]) == [[first.created.rfc3339, nil], [second.created.rfc3339, boot.rfc3339]])
    }
}
