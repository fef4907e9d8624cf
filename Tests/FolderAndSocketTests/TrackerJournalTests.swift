import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import FerryTracker

@Suite("A tracker's journals on their way to segments")
struct TrackerJournalTests {
    private let folder = TemporaryFolder()

    @Test("A critical journal that is rolled last is published first")
    func criticalFirst() throws {
        let recorder = Recorder(try folder.spool(), rules: BatchRules(), maxBytes: nil, options: .init())
        for priority in [Priority.bulk, .critical] {
            _ = try Array("{}\n".utf8).withUnsafeBytes { try recorder.store($0, priority, at: .now()) }
            _ = recorder.rollAll()
        }
        #expect(recorder.take(at: .zero)?.batch.priority == .critical)
        #expect(recorder.take(at: .zero)?.batch.priority == .bulk)
    }

    @Test("What could not be published is put back, and published when that is possible again")
    func putBack() throws {
        var configuration = TrackerConfiguration()
        configuration.sessions.tracksLifecycle = false
        configuration.sealsOnTermination = false
        configuration.onWarning = { _ in }
        let path = folder("spool")
        let tracker = try EventTracker(spool: path, configuration: configuration)
        try tracker.track("kept")
        // The folder goes, and with it the journal's name; a file in its place keeps it from being made anew.
        try FileManager.default.removeItem(atPath: path)
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(throws: (any Error).self) { try tracker.flushAndWait() }
        try FileManager.default.removeItem(atPath: path)
        try tracker.flushAndWait()
        let spool = try Spool.open(path, access: .write)
        #expect(try spool.events(in: [.pending]).filter { $0.contains("\"kept\"") }.count == 1)
        try tracker.close()
    }
}
