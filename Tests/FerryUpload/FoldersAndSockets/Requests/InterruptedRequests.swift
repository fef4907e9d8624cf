import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

/// A way to send, and what it makes of what failed.
enum RequestWay: String, CaseIterable, Sendable {
    case strict, eachRequest, judged, joinedStrict, joined

    func options(to url: String) throws -> UploadOptions {
        var options = UploadOptions(destination: try DestinationURL(url))
        (options.ignoresWaits, options.parallel) = (true, 1)
        switch self {
        case .strict, .joinedStrict: options.order = .strict
        case .eachRequest: options.blame = .eachRequest(retries: 5)
        case .judged, .joined: break
        }
        if self == .joined || self == .joinedStrict {
            options.coalesce = .upTo(.mebibytes(1))
        } else {
            (options.body, options.requestLimits) = (.jsonArray, RequestLimits(events: 20))
        }
        return options
    }
}

/// A server that keeps the first request waiting.
final class HoldingServer: Sendable {
    let requests = RequestServer()
    private let isHeld = Mutex(true)
    private let count = Mutex(0)

    var hasRequest: Bool { count.withLock { $0 > 0 } }
    func letGo() { isHeld.withLock { $0 = false } }

    func answer(_ request: ReceivedRequest) -> String {
        let isFirst = count.withLock { count in
            count += 1
            return count == 1
        }
        let answer = requests.answer(request)
        while isFirst, isHeld.withLock(\.self) { usleep(1000) }
        return answer
    }
}

/// Tests of requests whose processes have died.
protocol InterruptedRequests {}

extension InterruptedRequests {
    typealias Way = RequestWay

    func put(_ spool: Spool, _ second: Int, events: Int = 1) throws {
        let text = (0..<events).map { "{\"n\":\(second * 100 + $0)}\n" }.joined()
        try spool.put(Segments.gzip(text), as: Segments.name(second: second))
    }

    /// Copies the spool while a request is under way: what a dead process leaves is there, and no process holds its locks.
    func copyDuringRequest(
        _ spool: Spool, _ way: Way, _ server: HoldingServer, _ listener: ScriptedServer, to copy: String
    ) async throws -> Spool {
        let pass = try UploadPass(spool, options: way.options(to: listener.url))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await pass.run() }
            group.addTask {
                defer { server.letGo() }
                try await eventually("the request is under way") { server.hasRequest }
                let status = try await ChildProcess("/bin/cp", ["-a", spool.path, copy]).end()
                #expect(status == 0)
            }
            try await group.waitForAll()
        }
        return try Spool.open(copy, access: .write)
    }

    func notes(in path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/.ferry/requests"))?.sorted() ?? []
    }

    func note(
        _ spool: Spool, _ names: [String], request: String?, lines: [Range<Int64>?]? = nil, events: Int64? = nil,
        attempts: Int = 0
    ) throws -> RequestNote {
        let segments = try names.enumerated().map { index, name in
            guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "the claim") }
            return try RequestNote.Segment(claim, attempts: attempts, lines: lines?[index] ?? nil)
        }
        return RequestNote(at: .now(), destination: "d", request: request, requestEvents: events, segments: segments)
    }

    func leave(_ bytes: [UInt8], in spool: Spool) throws -> String {
        let path = "\(spool.path)/.ferry/requests"
        mkdir(path, 0o700)
        let name = "\(SegmentID.random())"
        try OpenFile.creating("\(path)/\(name)").write(bytes)
        return name
    }

    /// The files that were delivered and are kept.
    func kept(in spool: Spool) -> [String] {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: "\(spool.path)/sent")) ?? []
        return files.filter { $0.hasSuffix(".gz") }.compactMap { $0.split(separator: "/").last.map(String.init) }.sorted()
    }

    /// The segments of the ledger's lines.
    func ledger(of spool: Spool) throws -> [String] {
        var segments: [String] = []
        for name in try spool.ledger.names().sorted() {
            let text = try String(contentsOfFile: "\(spool.path)/.ferry/\(name)", encoding: .utf8)
            segments += text.split(separator: "\n").compactMap { line in
                Array(line.utf8).withUnsafeBufferPointer { $0.text(after: "\"segment\":\"") }
            }
        }
        return segments
    }

    /// The numbers of the events in a body of any form.
    func allNumbers(in body: [UInt8]) throws -> [Int] {
        let file = try OpenFile.inMemory()
        try file.write(body)
        let text = try Segments.lines(of: file).joined(separator: "\n")
        return text.split(separator: "\"n\":").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
    }

    func record(
        _ spool: Spool, _ names: some Collection<String>, _ outcome: LedgerEntry.Outcome, at time: Timestamp
    ) throws {
        let endings = try names.map { name in
            guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "the claim") }
            let entry = LedgerEntry(at: time, segment: name, outcome: outcome, bytes: claim.status.size)
            return Ending(claim, .sent(keep: true), entry)
        }
        try spool.endings.record(endings)
    }
}
