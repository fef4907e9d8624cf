import FerrySpool
import FerryUpload
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("A dry run lists what an upload then sends")
struct DueSegmentsTests {
    private let folder = TemporaryFolder()

    /// What keeps segments from being sent, or changes their order.
    enum Condition: String, CaseIterable, Sendable {
        case nothing, paused, disabled, backsOff, destinationWaits, lateIsSent, lateIsHeld, lateIsDropped, travels, limit, size,
            age, retriesNow

        /// The letters of the segments that are sent under it alone, in their order.
        func sent(_ order: SendOrder) -> String {
            // What is live goes before what is ten days old; a deadline decides where there is one.
            if order == .live {
                switch self {
                case .nothing, .retriesNow: return "ACDBFE"
                case .backsOff: return "ADBFE"
                case .travels: return "ACBFE"
                case .limit: return "ACD"
                case .size: return "ACDBF"
                default: break
                }
            }
            return switch self {
            case .nothing, .retriesNow: "ABCDEF"
            case .paused, .disabled, .destinationWaits: ""
            case .backsOff: order == .strict ? "AB" : "ABDEF"
            case .lateIsSent: "ACDBFE"
            case .lateIsHeld, .lateIsDropped, .age: "ACDF"
            case .travels: "ABCEF"
            case .limit: "ABC"
            case .size: "ABCDF"
            }
        }
    }

    private static let day = Duration.seconds(86_400)

    /// Six segments: of each priority but the first, the oldest one is ten days old.
    private struct Source {
        let spool: Spool
        let now = Timestamp.now()
        private(set) var names: [Character: String] = [:]

        init(_ spool: Spool) throws {
            self.spool = spool
            let segments: [(Character, priority: Int, age: Duration)] = [
                ("A", 0, .seconds(60)), ("B", 5, DueSegmentsTests.day * 10), ("C", 5, .seconds(120)), ("D", 5, .seconds(90)),
                ("E", 9, DueSegmentsTests.day * 10),
                ("F", 9, .seconds(80)),
            ]
            for (letter, priority, age) in segments {
                let name = SegmentName(
                    priority: Priority(priority)!, created: now - age, id: SegmentID.random().text, stream: nil)!
                // Larger than a sidecar.
                let text = "{\"n\":\"\(try Segments.noise(2000).map { "\($0)" }.joined())\"}\n"
                names[letter] = try spool.put(Segments.gzip(text), as: name)
            }
        }

        /// The letters of some segments.
        func letters(_ sent: [String]) -> String {
            String(sent.map { name in names.first { $0.value == name }?.key ?? "?" })
        }

        private func failed(_ scope: RetryState.LastError.Scope) -> RetryState {
            RetryState(
                attempts: 1, failures: 1, firstAttemptAt: now, lastAttemptAt: now, nextAttemptAt: now + .seconds(3600),
                lastError: .init(scope: scope, kind: "status", message: "HTTP 503"))
        }

        func apply(_ condition: Condition, _ options: inout UploadOptions) throws {
            func due(_ late: DueTime.Late) -> DueTime { DueTime(time: .endOfDay, zone: .utc, late: late) }
            switch condition {
            case .nothing: break
            case .paused: _ = try spool.control.change(at: now) { $0.isPaused = true }
            case .disabled: _ = try spool.control.change(at: now) { $0.isDisabled = true }
            case .backsOff:
                guard case .claimed(let claim) = spool.claims.take(try #require(names["C"])) else { return }
                try spool.sidecars.write(failed(.segment), of: claim)
            case .destinationWaits:
                let id = DestinationID.id(of: "\(options.destination)")
                try spool.destinations.setState(failed(.destination), id)
            case .lateIsSent: options.due = due(.send)
            case .lateIsHeld: options.due = due(.hold)
            case .lateIsDropped: options.due = due(.drop)
            case .travels:
                let segment = ExportMark.Segment(name: try #require(names["D"]), sha256: "ab")
                try spool.exports.mark(ExportMark(bundle: "bundle", at: now, segments: [segment]))
            case .limit: options.limit = 3
            case .size:
                let bytes = try spool.scan(sizes: true).segmentBytes.bytes
                options.retention.maxBytes = ByteCount(bytes - 1)
            case .age: options.retention.maxAge = DueSegmentsTests.day * 5
            case .retriesNow: options.ignoresWaits = true
            }
        }
    }

    /// What is sent under some conditions, and what was said of it before.
    private func outcome(
        _ conditions: [Condition], _ order: SendOrder
    ) async throws -> (said: String, sent: String, reasons: [Character: NotSentReason]) {
        let seen = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            seen.withLock { $0.append(request["ferry-segment"] ?? "") }
            return ScriptedServer.answer(200)
        }
        let source = try Source(folder.spool("\(conditions.map(\.rawValue).joined(separator: "-")) \(order)"))
        var options = UploadOptions(destination: try DestinationURL(server.url))
        (options.order, options.parallel, options.coalesce) = (order, 1, .off)
        // In an earlier boot.
        source.spool.settleClock(at: .now())
        for condition in conditions { try source.apply(condition, &options) }
        let due = Array(try DueSegments(source.spool, options: options, now: .now()))
        _ = try await UploadPass(source.spool, options: options).run()
        var reasons: [Character: NotSentReason] = [:]
        for (letter, name) in source.names { reasons[letter] = due.first { $0.segment.name == name }?.reason }
        return (
            source.letters(due.filter { $0.reason == nil }.map(\.segment.name)), source.letters(seen.withLock { $0 }), reasons
        )
    }

    @Test("Under each condition, in either order", arguments: Condition.allCases, SendOrder.allCases)
    func single(_ condition: Condition, _ order: SendOrder) async throws {
        let (said, sent, reasons) = try await outcome([condition], order)
        #expect(said == condition.sent(order))
        #expect(sent == condition.sent(order))
        // Each one is either sent or has a reason.
        #expect(reasons.count + said.count == 6)
    }

    @Test("Under each two conditions, in either order", arguments: Condition.allCases, SendOrder.allCases)
    func pairs(_ condition: Condition, _ order: SendOrder) async throws {
        for other in Condition.allCases where other.rawValue < condition.rawValue {
            let (said, sent, _) = try await outcome([condition, other], order)
            #expect(said == sent, "\(condition) and \(other)")
        }
    }

    @Test("Why a segment is not sent is what then becomes of it")
    func reasons() async throws {
        func reason(_ letter: Character, _ conditions: Condition..., order: SendOrder = .priority) async throws -> NotSentReason?
        {
            try await outcome(conditions, order).reasons[letter]
        }
        #expect(try await reason("D", .travels) == .travels(bundle: "bundle"))
        #expect(try await reason("B", .lateIsHeld) == .late)
        #expect(try await reason("B", .lateIsDropped) == .dropped(why: "missed its deadline, 24:00 in UTC"))
        #expect(try await reason("B", .age) == .dropped(why: "older than \((Self.day * 5).forPeople)"))
        #expect(try await reason("D", .limit) == .overLimit)
        if case .dropped(let why) = try await reason("E", .size) {
            #expect(why.hasPrefix("the spool was larger than "))
        } else {
            Issue.record("E is not deleted for room")
        }
        if case .waits = try await reason("C", .backsOff) {} else { Issue.record("C does not wait") }
        if case .behind = try await reason("D", .backsOff, order: .strict) {} else { Issue.record("D is not behind C") }
    }

    @Test("What the ledger says of what was deleted is what the dry run said", arguments: [Condition.age, .size, .lateIsDropped])
    func ledger(_ condition: Condition) async throws {
        let name = "\(condition.rawValue) \(SendOrder.priority)"
        let reasons = try await outcome([condition], .priority).reasons.values
        let said = Set(reasons.compactMap { reason -> String? in if case .dropped(let why) = reason { why } else { nil } })
        let state = folder("\(name)/.ferry")
        let ledgers = try FileManager.default.contentsOfDirectory(atPath: state).filter { $0.hasPrefix("ledger-") }
        let lines = try ledgers.map { try String(contentsOfFile: "\(state)/\($0)", encoding: .utf8) }.joined()
        #expect(!said.isEmpty)
        for why in said { #expect(lines.contains("\"\(why)\"")) }
    }
}
