import FerrySpool
import Foundation
import ServiceSupport
import TestSupport
import Testing

@testable import FerryTracker

@Suite("A tracker's journals on their way to segments")
struct TrackerJournalTests {
    private let folder = TemporaryFolder()

    @Test("A critical journal that is rolled last is published first")
    func criticalFirst() throws {
        let recorder = Recorder(try folder.spool(), rules: BatchRules(), options: .init())
        for priority in [Priority.bulk, .critical] {
            _ = try Array("{}\n".utf8).withUnsafeBytes { try recorder.store($0, priority, at: .now()) }
            _ = recorder.rollAll()
        }
        #expect(recorder.take(at: .zero)?.batch.priority == .critical)
        #expect(recorder.take(at: .zero)?.batch.priority == .bulk)
    }

    @Test("What could not be published is put back, and published when that is possible again")
    func putBack() throws {
        let path = folder("spool")
        let tracker = try folder.tracker()
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

    private func published() throws -> [String] { try Spool.open(folder("spool"), access: .read).events(in: [.pending]) }

    /// Puts a folder where the journal of a priority would be sealed.
    ///
    /// - Returns: The folder.
    private func block(_ priority: Priority) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder("spool"))
        let journal = try #require(names.first { $0.hasPrefix(".\(priority.level)-") && $0.hasSuffix(".open") })
        let path = folder("spool/\(journal.dropLast(".open".count)).sealing")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    @Test("A journal that cannot be sealed keeps no other from being published by a flush, and is published when it can be")
    func oneStaysBehind() throws {
        let tracker = try folder.tracker()
        try tracker.track("first", priority: .critical)
        let obstacle = try block(.critical)
        try tracker.track("second")
        #expect(throws: TrackerError.self) { try tracker.flushAndWait() }
        #expect(try published().count { $0.contains("\"second\"") } == 1)
        try FileManager.default.removeItem(atPath: obstacle)
        try tracker.flushAndWait()
        #expect(try published().count { $0.contains("\"first\"") } == 1)
        try tracker.close()
    }

    @Test("A journal that cannot be sealed keeps no other from being published when its time has come")
    func oneStaysBehindInBackground() async throws {
        let tracker = try folder.tracker {
            $0.intervalRule.bounds.allowed = .zero ... .seconds(6)
            $0.batch.criticalInterval = .milliseconds(200)
            $0.batch.interval = .milliseconds(500)
        }
        repeat { try tracker.track("first", priority: .critical) } while (try? block(.critical)) == nil
        try tracker.track("second")
        try await eventually("the other one is published") { try published().contains { $0.contains("\"second\"") } }
        #expect(throws: TrackerError.self) { try tracker.close() }
    }

    @Test("Of journals that cannot be published only so many are kept open, and the newest grows on")
    func boundedFailures() throws {
        let recorder = Recorder(try folder.spool(), rules: BatchRules(), options: .init())
        for _ in 0..<100 {
            _ = try Array("{}\n".utf8).withUnsafeBytes { try recorder.store($0, .normal, at: .now()) }
            _ = recorder.rollAll()
            while let (batch, _) = recorder.take(at: .zero) { _ = recorder.putBack(batch, at: .zero) { _ in .seconds(1) } }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder("spool"))
        #expect(names.count { $0.hasSuffix(".open") } == BatchRules.mostWaiting + 1)
        var events = 0
        for _ in 0..<recorder.rollAll() { events += recorder.take(at: .zero)?.batch.fill.events ?? 0 }
        #expect(events == BatchRules.mostWaiting)
        _ = recorder.rollAll()
        #expect(recorder.take(at: .zero)?.batch.fill.events == 100 - BatchRules.mostWaiting)
    }
}
