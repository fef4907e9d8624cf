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
}
