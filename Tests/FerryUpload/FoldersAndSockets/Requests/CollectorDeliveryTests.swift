import FerrySpool
import FerryUpload
import Foundation
import Synchronization
import TestSupport
import Testing

/// What a server was sent, and what the pass that sent it said.
final class CollectorRun: Sendable {
    let bodies = Mutex<[String]>([])
    let warnings = Mutex<[String]>([])

    /// Sends what waits in a spool to a server that answers by the number of the request, from 0.
    func upload(
        _ spool: Spool, as body: BodyFormat, _ change: (inout UploadOptions) -> Void = { _ in },
        _ answer: @escaping @Sendable (Int, ReceivedRequest) -> String
    ) async throws -> UploadReport {
        let server = ScriptedServer.answering { request in
            let text = (try? OpenFile.inMemory()).flatMap { file in
                (try? file.write(request.body)).flatMap { try? Segments.lines(of: file).joined(separator: "\n") }
            }
            let number = self.bodies.withLock { bodies in
                bodies.append(text ?? "")
                return bodies.count - 1
            }
            return answer(number, request)
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.body = body
        options.parallel = 1
        options.ignoresWaits = true
        change(&options)
        return try await UploadPass(
            spool, options: options,
            onEvent: { event in
                if case .warning(let text) = event { self.warnings.withLock { $0.append(text) } }
            }
        ).run()
    }

    static func answer(_ body: String, status: Int = 200) -> String {
        ScriptedServer.answer(status, "Content-Type: application/json\r\n", body: body)
    }
}

extension Spool {
    /// The ledger's lines, read.
    func ledgerLines() throws -> [NSDictionary] {
        let folder = URL(fileURLWithPath: directory.path).appending(path: ".ferry")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("ledger-") }.sorted()
            .flatMap { try String(contentsOf: folder.appending(path: $0), encoding: .utf8).split(separator: "\n") }
            .compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary }
    }
}

@Suite("Delivery to collectors and search engines")
struct CollectorDeliveryTests {
    private let folder = TemporaryFolder()

    @Test("OTLP: records that the receiver dropped are told, and stand in the ledger of a segment that is delivered")
    func partialSuccess() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<5)), as: Segments.name())
        let run = CollectorRun()
        // Of two requests the first drops some.
        let report = try await run.upload(spool, as: .otlp, { $0.requestLimits = RequestLimits(events: 3) }) { number, request in
            #expect(request["content-type"] == "application/json")
            return CollectorRun.answer(
                number == 0 ? #"{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too old"}}"# : "{}")
        }
        #expect(report.sent.segments == 1)
        let remark = "the receiver dropped 2 of the request's 3 log records: too old"
        #expect(try spool.ledgerLines().map { $0["detail"] as? String } == [remark])
        #expect(run.warnings.withLock(\.self).filter { $0.hasSuffix(remark) }.count == 1)
    }

    @Test("OTLP: of a request of several segments each has the remark")
    func joinedRemark() async throws {
        let spool = try folder.spool()
        for second in 0..<3 { try spool.put(Segments.gzip(Segments.lines(0..<2)), as: Segments.name(second: second)) }
        let run = CollectorRun()
        let report = try await run.upload(spool, as: .otlp) { _, _ in
            CollectorRun.answer(#"{"partialSuccess":{"rejectedLogRecords":"1"}}"#)
        }
        #expect(report.sent.segments == 3)
        #expect(run.bodies.withLock(\.count) == 1)
        #expect(
            try spool.ledgerLines().map { $0["detail"] as? String }
                == Array(repeating: "the receiver dropped 1 of the request's 6 log records", count: 3))
    }

    @Test(
        "OTLP: what was dropped of a segment stands in the ledger's line, whichever pass ends it, and however often it was said")
    func remarkOfEarlierPass() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<8)), as: Segments.name())
        // The third request ends the first pass.
        let server = ScriptedServer.answering { [count = Mutex(0)] _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 3 { return ScriptedServer.answer(503) }
            return CollectorRun.answer(number < 3 ? #"{"partialSuccess":{"rejectedLogRecords":"1"}}"# : "{}")
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        (options.body, options.parallel, options.ignoresWaits) = (.otlp, 1, true)
        options.requestLimits = RequestLimits(events: 2)
        for pass in 0..<2 {
            #expect(try await UploadPass(spool, options: options).run().sent.segments == pass)
        }
        #expect(
            try spool.ledgerLines().map { $0["detail"] as? String }
                == ["the receiver dropped 1 of the request's 2 log records (2 times)"])
    }

    // MARK: Elasticsearch and OpenSearch

    /// An index that takes documents as the reference of the bulk API says: each ID once, no `"bad"`.
    private final class Index: Sendable {
        let documents = Mutex<[String: String]>([:])
        /// How often each was asked for.
        let tries = Mutex<[String: Int]>([:])

        func answer(_ body: String, failing: (String, Int) -> Int? = { _, _ in nil }) -> String {
            let lines = body.split(separator: "\n").map(String.init)
            var hasErrors = false
            let items = stride(from: 0, to: lines.count - 1, by: 2).map { number in
                let id = String(lines[number].dropFirst(#"{"create":{"_id":""#.count).dropLast(3))
                let count = tries.withLock { tries in
                    tries[id, default: 0] += 1
                    return tries[id, default: 0]
                }
                let isNew = documents.withLock { documents in
                    if documents[id] != nil { return false }
                    if failing(id, count) == nil, !lines[number + 1].contains("bad") { documents[id] = lines[number + 1] }
                    return true
                }
                let status = !isNew ? 409 : failing(id, count) ?? (lines[number + 1].contains("bad") ? 400 : 201)
                hasErrors = hasErrors || status > 299
                let error = status > 299 ? #","error":{"type":"t_exception","reason":"because"}"# : ""
                return #"{"create":{"status":\#(status)\#(error)}}"#
            }
            return CollectorRun.answer(#"{"took":1,"errors":\#(hasErrors),"items":[\#(items.joined(separator: ","))]}"#)
        }
    }

    private func document(_ number: Int, isBad: Bool = false) -> String {
        #"{"n":\#(number)\#(isBad ? #","bad":1"# : "")}"# + "\n"
    }

    @Test("Elastic: refused events go into rejected/ with their reasons, and the others are delivered, in one request each")
    func refusedEvents() async throws {
        let spool = try folder.spool()
        let name = Segments.name(3, stream: "door")
        let text = (0..<10).map { document($0, isBad: $0 == 2 || $0 == 7) }.joined()
        try spool.put(Segments.gzip(text), as: name)
        let (run, index) = (CollectorRun(), Index())
        let report = try await run.upload(spool, as: .elastic, { $0.requestLimits = RequestLimits(events: 5) }) {
            number, request in
            #expect(request.line.hasPrefix("POST /v1/segments?filter_path=took,errors,"))
            return index.answer(run.bodies.withLock { $0[number] })
        }
        #expect(run.bodies.withLock(\.count) == 2)
        #expect(index.documents.withLock(\.count) == 8)
        #expect(index.documents.withLock { $0["\(name.id)-1"] } == #"{"n":0}"#)
        #expect(report.sent.segments == 1)
        #expect(report.sentEvents == 8)
        #expect(report.rejected == 2)
        #expect(report.remaining == 0)
        let rejected = try spool.rejected.segments()
        let lines = try rejected.flatMap { try Segments.lines(of: .reading(folder("spool/rejected/\($0.name)"))) }
        #expect(Set(lines) == [#"{"n":2,"bad":1}"#, #"{"n":7,"bad":1}"#])
        for segment in rejected {
            let kept = try #require(SegmentName(segment.name))
            #expect(kept.priority == name.priority)
            #expect(kept.stream == name.stream)
            #expect(kept.created == name.created)
            #expect(segment.reason?.status == 400)
        }
        #expect(
            Set(rejected.compactMap(\.reason?.message)) == [
                "refused, while the other lines of \(name.fileName) were taken: line 3: 400 t_exception: because",
                "refused, while the other lines of \(name.fileName) were taken: line 8: 400 t_exception: because",
            ])
        let ledger = try spool.ledgerLines()
        #expect(ledger.filter { $0["outcome"] as? String == "rejected" }.compactMap { $0["events"] as? Int } == [1, 1])
        let sent = try #require(ledger.first { $0["outcome"] as? String == "sent" })
        #expect((sent["detail"] as? String)?.contains("1 of its lines was refused, and is rejected/") ?? false, "\(sent)")
    }

    @Test("Elastic: a refused event that is brought back is a document of its own, made once")
    func broughtBack() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(document(1) + document(2, isBad: true)), as: Segments.name())
        let (run, index) = (CollectorRun(), Index())
        _ = try await run.upload(spool, as: .elastic) { number, _ in index.answer(run.bodies.withLock { $0[number] }) }
        let rejected = try #require(try spool.rejected.segments().first)
        #expect(try spool.rejected.retry(rejected.name, at: .now()) == .pending)
        let again = CollectorRun()
        let report = try await again.upload(spool, as: .elastic) { _, _ in
            CollectorRun.answer(#"{"took":1,"errors":false,"items":[{"create":{"status":201}}]}"#)
        }
        #expect(report.sent.segments == 1)
        #expect(report.sentEvents == 1)
        #expect(again.bodies.withLock(\.self).map { $0.contains(#"{"n":2,"bad":1}"#) && !$0.contains(#"{"n":1}"#) } == [true])
    }

    @Test("Elastic: while some events find no room nothing is refused, and at the next try each is made once")
    func busy() async throws {
        let spool = try folder.spool()
        let name = Segments.name()
        try spool.put(Segments.gzip((0..<4).map { document($0, isBad: $0 == 1) }.joined()), as: name)
        let index = Index()
        for pass in 0..<2 {
            let run = CollectorRun()
            let report = try await run.upload(spool, as: .elastic) { number, _ in
                index.answer(run.bodies.withLock { $0[number] }) { id, count in id.hasSuffix("-3") && count == 1 ? 429 : nil }
            }
            #expect(report.rejected == pass)
            #expect(report.sent.segments == pass)
        }
        #expect(index.documents.withLock { Set($0.keys) } == [1, 3, 4].reduce(into: []) { $0.insert("\(name.id)-\($1)") })
    }

    @Test("Elastic: a segment all of whose events are refused is kept as it is")
    func allRefused() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(document(1, isBad: true) + document(2, isBad: true)), as: Segments.name())
        let (run, index) = (CollectorRun(), Index())
        let report = try await run.upload(spool, as: .elastic) { number, _ in index.answer(run.bodies.withLock { $0[number] }) }
        #expect(report.sent.segments == 0)
        #expect(try spool.rejected.segments().map(\.name) == [name])
        #expect(try spool.rejected.segments().first?.reason?.message.contains("all 2 events were refused") ?? false)
    }

    @Test(
        "Elastic: of several segments in one request, each all of whose events are refused is rejected as it is, and none of them sent"
    )
    func allRefusedTogether() async throws {
        let spool = try folder.spool()
        let names = (0..<4).map { Segments.name(second: $0) }
        for (number, name) in names.enumerated() {
            try spool.put(Segments.gzip(document(1, isBad: number != 2) + document(2, isBad: number > 2)), as: name)
        }
        let (run, index) = (CollectorRun(), Index())
        try spool.put(Segments.gzip(document(1, isBad: true)), as: Segments.name(second: 4))
        let report = try await run.upload(spool, as: .elastic) { number, _ in index.answer(run.bodies.withLock { $0[number] }) }
        #expect(run.bodies.withLock(\.count) == 1)
        #expect(report.sent.segments == 3)
        #expect(report.rejected == 4)
        #expect(report.remaining == 0)
        let rejected = try spool.rejected.segments()
        #expect(rejected.count == 4)
        #expect(
            rejected.contains {
                $0.name == names[3].fileName && $0.reason?.message == "all 2 events were refused: 400 t_exception: because"
            })
        let outcomes = try spool.ledgerLines().map { "\($0["segment"] as? String ?? "") \($0["outcome"] as? String ?? "")" }
        #expect(outcomes.contains("\(names[3].fileName) rejected"))
        #expect(!outcomes.contains("\(names[3].fileName) sent"))
        #expect(index.documents.withLock(\.count) == 4)
    }

    @Test(
        "Elastic: a segment whose refused lines find no place waits, and is named; the others of its request are sent, and each document is made once",
        arguments: [nil, 3] as [Int64?])
    func noPlace(limit: Int64?) async throws {
        let spool = try folder.spool()
        let names = (0..<3).map { Segments.name(second: $0) }
        for (number, name) in names.enumerated() {
            try spool.put(Segments.gzip((0..<4).map { document($0, isBad: number == 1 && $0 == 2) }.joined()), as: name)
        }
        try spool.put(Segments.gzip(document(9)), as: Segments.name(9))
        try OpenFile.creating(folder("spool/rejected")).write([1])
        let index = Index()
        func upload() async throws -> (UploadReport, CollectorRun) {
            let run = CollectorRun()
            let report = try await run.upload(spool, as: .elastic, { $0.requestLimits = limit.map { RequestLimits(events: $0) } })
            {
                number, _ in index.answer(run.bodies.withLock { $0[number] })
            }
            return (report, run)
        }
        let (report, run) = try await upload()
        #expect(report.sent.segments == 3)
        #expect(report.rejected == 0)
        #expect(report.remaining == 1)
        #expect(report.unusableReasons.count == 1)
        #expect(
            run.warnings.withLock(\.self).contains {
                $0.contains("\(names[1].fileName) stays pending: 1 of its lines was refused")
            })
        #expect(try spool.pending() == [names[1].fileName])
        #expect(unlink(folder("spool/rejected")) == 0)
        let (again, _) = try await upload()
        #expect(again.sent.segments == 1)
        #expect(again.rejected == 1)
        #expect(try spool.pending() == [])
        #expect(index.documents.withLock(\.count) == 12)
        let outcomes = try spool.ledgerLines().compactMap { $0["outcome"] as? String }
        #expect(outcomes.sorted() == ["rejected", "sent", "sent", "sent", "sent"])
    }

    @Test("Elastic: on a full disk one segment whose refused lines find no room keeps no other from being sent") func fullDisk()
        async throws
    {
        guard folder.mount("size=2m") else { return }
        let spool = try folder.spool("m/spool")
        let noise = try Segments.noise(300_000).map { "\($0)" }.joined()
        let name = Segments.name(second: 0)
        try spool.put(Segments.gzip("{\"bad\":\"\(noise)\"}\n{\"n\":1}\n"), as: name)
        for second in 1..<5 { try spool.put(Segments.gzip(document(second)), as: Segments.name(second: second)) }
        let filler = try OpenFile.creating(folder("m/filler"))
        for size in [65_536, 4096] {
            var place = try filler.status().size.bytes
            while (try? filler.write([UInt8](repeating: 1, count: size), at: place)) != nil { place += Int64(size) }
        }
        let index = Index()
        for pass in 0..<2 {
            let run = CollectorRun()
            let report = try await run.upload(
                spool, as: .elastic, { $0.requestLimits = RequestLimits(events: 3, bytes: .mebibytes(5)) }
            ) {
                number, _ in index.answer(run.bodies.withLock { $0[number] })
            }
            #expect(report.sent.segments == (pass == 0 ? 4 : 1))
            #expect(report.rejected == pass)
            #expect(report.unusableReasons.contains(where: \.isOutOfSpace) == (pass == 0))
            #expect(try spool.pending() == (pass == 0 ? [name.fileName] : []))
            #expect(truncate(folder("m/filler"), 0) == 0)
        }
        #expect(index.documents.withLock(\.count) == 5)
        #expect(
            try spool.ledgerLines().compactMap { $0["outcome"] as? String }.sorted() == ["rejected"]
                + Array(repeating: "sent", count: 5))
    }

    @Test("Elastic: a request has a limit of events in any case: a longer answer could not be read to its end") func limited()
        async throws
    {
        let spool = try folder.spool()
        try spool.put(Segments.gzip((0..<1200).map { document($0) }.joined()), as: Segments.name())
        let (run, index) = (CollectorRun(), Index())
        _ = try await run.upload(spool, as: .elastic, { $0.requestLimits = RequestLimits() }) { number, _ in
            index.answer(run.bodies.withLock { $0[number] })
        }
        #expect(run.bodies.withLock { $0.map { $0.split(separator: "\n").count / 2 } } == [500, 500, 200])
    }

    @Test("Elastic: when the answer is lost, the documents that are there are the segment's, which is a duplicate")
    func lostAnswer() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(document(1) + document(2)), as: Segments.name())
        let (run, index) = (CollectorRun(), Index())
        var reports: [UploadReport] = []
        for pass in 0..<2 {
            reports.append(
                try await run.upload(spool, as: .elastic) { number, _ in
                    let answer = index.answer(run.bodies.withLock { $0[number] })
                    return pass == 0 ? "HTTP/1.1 504 X\r\nContent-Length: 0\r\n\r\n" : answer
                })
        }
        #expect(reports.map(\.sent.segments) == [0, 1])
        #expect(reports[1].duplicates == 1)
        #expect(index.documents.withLock(\.count) == 2)
    }

    @Test("Elastic: an answer that is cut off is asked for again with fewer events, and nothing is made twice")
    func cutOffAnswer() async throws {
        let spool = try folder.spool()
        let long = String(repeating: "x", count: 200)
        let count = 400
        try spool.put(Segments.gzip((0..<count).map { document($0, isBad: true) }.joined()), as: Segments.name())
        let run = CollectorRun()
        let report = try await run.upload(spool, as: .elastic) { number, _ in
            let events = run.bodies.withLock { $0[number] }.split(separator: "\n").count / 2
            let item = #"{"create":{"status":400,"error":{"type":"t","reason":"\#(long)"}}}"#
            return CollectorRun.answer(
                #"{"errors":true,"items":[\#(Array(repeating: item, count: events).joined(separator: ","))]}"#)
        }
        let sizes = run.bodies.withLock { $0.map { $0.split(separator: "\n").count / 2 } }
        #expect(sizes == [400, 200, 200])
        #expect(report.remaining == 0)
        let lines = try spool.rejected.segments().flatMap {
            try Segments.lines(of: .reading(folder("spool/rejected/\($0.name)")))
        }
        #expect(lines.count == count)
    }

    @Test("Elastic: a segment without events has nothing to deliver, also where a server refuses an empty request")
    func nothing() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("\n\n"), as: Segments.name())
        let run = CollectorRun()
        let report = try await run.upload(spool, as: .elastic) { _, _ in
            CollectorRun.answer(
                #"{"error":{"type":"parse_exception","reason":"request body is required"},"status":400}"#, status: 400)
        }
        #expect(report.sent.segments == 1)
        #expect(report.rejected == 0)
    }

    // MARK: Loki

    @Test("Loki: 204 delivers; what is made again after a lost answer has the same times, so that Loki drops it")
    func lokiRepetition() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name())
        let run = CollectorRun()
        for pass in 0..<2 {
            let report = try await run.upload(spool, as: .loki) { _, _ in ScriptedServer.answer(pass == 0 ? 502 : 204) }
            #expect(report.sent.segments == pass)
        }
        let bodies = run.bodies.withLock(\.self)
        #expect(Set(bodies).count == 1)
        #expect(bodies.count > 1)
    }

    @Test(
        "Loki: a segment that it refuses is kept with what it says",
        arguments: [
            "entry for stream '{job=\"ferry\"}' has timestamp too old: 2026-11-21T03:00:00Z", "entry too far behind",
        ])
    func lokiRefusal(text: String) async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name())
        let run = CollectorRun()
        let report = try await run.upload(spool, as: .loki) { _, _ in ScriptedServer.answer(400, body: text) }
        #expect(report.rejected == 1)
        #expect(try spool.rejected.segments().first?.reason?.message.contains(text) ?? false)
    }

    @Test("Loki: too much at once makes the destination wait, and no segment is to blame")
    func lokiRate() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name())
        let run = CollectorRun()
        let report = try await run.upload(spool, as: .loki) { _, _ in
            ScriptedServer.answer(429, body: "Ingestion rate limit exceeded for user fake")
        }
        #expect(report.remaining == 1)
        #expect(report.destinationWaitsUntil != nil)
    }

    // MARK: Splunk

    @Test("Splunk: a token file is a token of Splunk's; success is its code 0, and nothing else that answers 200")
    func splunk() async throws {
        let spool = try folder.spool()
        let path = folder("token")
        try "aaaa-bbbb\n".write(toFile: path, atomically: true, encoding: .utf8)
        let secrets = try SecretFile.watched(headers: nil, token: path, scheme: BodyFormat.splunk.tokenScheme)
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name())
        for (answer, sent) in [("ok", 0), (#"{"text":"Success","code":0}"#, 1)] {
            let run = CollectorRun()
            let report = try await run.upload(spool, as: .splunk, { $0.secretFiles = secrets }) { _, request in
                #expect(request["authorization"] == "Splunk aaaa-bbbb")
                return CollectorRun.answer(answer)
            }
            #expect(report.sent.segments == sent)
        }
    }

    @Test("Splunk: a token that wants acknowledgment stops the pass, and says what to do")
    func splunkChannel() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name())
        let run = CollectorRun()
        let report = try await run.upload(spool, as: .splunk) { _, _ in
            CollectorRun.answer(#"{"text":"Data channel is missing","code":10}"#, status: 400)
        }
        #expect(report.remaining == 1)
        guard case .misconfigured(let reason) = report.stopReason else { return #expect(Bool(false), "it stops") }
        #expect(reason.message == "HTTP 400: Data channel is missing, code 10; use a token without indexer acknowledgment")
    }
}
