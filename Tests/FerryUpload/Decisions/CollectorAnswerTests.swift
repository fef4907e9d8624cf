import FerrySpool
import Testing

@testable import FerryUpload

@Suite("What collectors and search engines answer")
struct CollectorAnswerTests {
    // MARK: OpenTelemetry

    @Test(
        "OTLP: a receiver that drops records says how many, and why",
        arguments: [
            (
                #"{"partialSuccess":{"rejectedLogRecords":"3","errorMessage":"too old"}}"#,
                "the receiver dropped 3 of the request's 9 log records: too old"
            ),
            (
                #"{"partialSuccess":{"rejectedLogRecords":2}}"#,
                "the receiver dropped 2 of the request's 9 log records"
            ),
            (#"{"partialSuccess":{"errorMessage":"slow down\u001b"}}"#, "taken with a warning: slow down\\u001b"),
        ])
    func partialSuccess(body: String, remark: String) {
        #expect(OTLPAnswer(Array(body.utf8))?.remark(ofRecords: 9) == remark)
    }

    @Test(
        "OTLP: an answer that says nothing of the kind, or not in JSON, is plain success",
        arguments: [
            "", "{}", #"{"partialSuccess":{}}"#, #"{"partialSuccess":{"rejectedLogRecords":"0"}}"#, "\u{0A}\u{04}\u{08}\u{03}",
            #"{"partialSuccess":{"rejectedLogRecords":"-3"}}"#, #"{"partialSuccess":3}"#,
            #"{"partialSuccess":{"rejectedLogRecords":"99999999999999999999"}}"#,
        ])
    func fullSuccess(body: String) {
        #expect(OTLPAnswer(Array(body.utf8)) == nil)
    }

    // MARK: Elasticsearch and OpenSearch

    private static let refusal =
        #"{"create":{"status":400,"error":{"type":"mapper_parsing_exception","reason":"failed to parse"}}}"#
    private static let conflict =
        #"{"create":{"_id":"k-1","status":409,"error":{"type":"version_conflict_engine_exception","reason":"exists"}}}"#
    private static let made = #"{"create":{"status":201}}"#

    private func bulk(_ items: String..., end: String = "]}") -> BulkAnswer.Action {
        BulkAnswer(Array("{\"took\":3,\"errors\":true,\"items\":[\(items.joined(separator: ","))\(end)".utf8))
            .action(status: 200, events: Int64(items.count))
    }

    private func failing(_ status: Int, _ type: String = "some_exception") -> String {
        #"{"create":{"status":\#(status),"error":{"type":"\#(type)","reason":"no"}}}"#
    }

    private func kind(_ action: BulkAnswer.Action) -> String {
        switch action {
        case .refused(let items): "refused \(items.keys.sorted())"
        case .known: "known"
        case .verdict(.delivered): "delivered"
        case .verdict(.unavailable): "unavailable"
        case .verdict(.doubtful): "doubtful"
        case .verdict(.misconfigured): "misconfigured"
        case .verdict(.tooLarge): "too large"
        case .verdict: "other"
        }
    }

    @Test("Elastic: what was made now, or by an earlier try, is there; what is refused is told by its place")
    func bulkItems() {
        #expect(kind(bulk(Self.made, Self.conflict)) == "delivered")
        #expect(kind(bulk(Self.conflict, Self.conflict)) == "known")
        #expect(kind(bulk(Self.made, Self.refusal, Self.conflict, Self.refusal)) == "refused [1, 3]")
        guard case .refused(let items) = bulk(Self.refusal) else { return #expect(Bool(false), "it is refused") }
        #expect(items[0]?.description == "400 mapper_parsing_exception: failed to parse")
    }

    @Test("Elastic: as long as another try may mend something, nothing is refused")
    func bulkFailures() {
        #expect(kind(bulk(Self.refusal, failing(429, "es_rejected_execution_exception"))) == "unavailable")
        #expect(kind(bulk(Self.refusal, failing(403, "cluster_block_exception"))) == "unavailable")
        #expect(kind(bulk(Self.refusal, failing(503))) == "doubtful")
        #expect(kind(bulk(Self.refusal, failing(0))) == "doubtful")
        #expect(kind(bulk(Self.refusal, failing(403, "security_exception"))) == "misconfigured")
        #expect(kind(bulk(Self.refusal, failing(404, "index_not_found_exception"))) == "misconfigured")
    }

    @Test("Elastic: an answer that is cut off asks for fewer events, down to one; what is no answer proves nothing")
    func bulkDoubts() {
        #expect(kind(bulk(Self.made, Self.refusal, end: "")) == "too large")
        #expect(kind(bulk(Self.refusal, end: "]")) == "doubtful")
        for text in ["", "{}", "ok", #"{"errors":true}"#, #"{"errors":true,"items":[]}"#, #"{"items":[]}"#] {
            #expect(kind(BulkAnswer(Array(text.utf8)).action(status: 200, events: 1)) == "doubtful", "\(text)")
        }
        #expect(
            kind(BulkAnswer(Array(#"{"took":1,"errors":false,"items":[{"#.utf8)).action(status: 200, events: 9)) == "delivered")
    }

    // MARK: Splunk

    @Test(
        "Splunk: an answer means what its code says, where that is more than its status",
        arguments: [
            (200, #"{"text":"Success","code":0}"#, "delivered"), (200, #"{"text":"Success","code":0,"ackId":7}"#, "delivered"),
            (200, "", "doubtful"), (200, "{}", "doubtful"), (403, #"{"text":"Invalid token","code":4}"#, "misconfigured"),
            (400, #"{"text":"Incorrect index","code":7,"invalid-event-number":1}"#, "misconfigured"),
            (400, #"{"text":"Data channel is missing","code":10}"#, "misconfigured"),
            (400, #"{"text":"Invalid data format","code":6}"#, "refused"),
            (503, #"{"text":"Server is busy","code":9}"#, "unavailable"),
            (500, #"{"text":"Internal server error","code":8}"#, "doubtful"),
            (429, #"{"text":"Queue at capacity","code":26}"#, "unavailable"),
            (503, "", "doubtful"),
        ])
    func splunkCodes(status: Int, body: String, kind: String) {
        let general = Verdict(status: status, retryAfter: nil, location: nil, body: body)
        let verdict = SplunkAnswer(Array(body.utf8)).verdict(general)
        #expect("\(verdict)".hasPrefix(kind), "\(verdict)")
    }

    @Test("Splunk: of a refused request it says which events are taken")
    func splunkPartlyTaken() {
        let body = #"{"text":"Event field cannot be blank","code":13,"invalid-event-number":2}"#
        let general = Verdict(status: 400, retryAfter: nil, location: nil, body: body)
        #expect(
            SplunkAnswer(Array(body.utf8)).verdict(general).reason?.message
                == "HTTP 400: Event field cannot be blank, code 13; the first 2 events of the request are taken")
    }
}
