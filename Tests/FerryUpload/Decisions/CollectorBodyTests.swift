import FerrySpool
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Request bodies for collectors and search engines")
struct CollectorBodyTests {
    private static let created = Timestamp(rfc3339: "2026-11-21T03:00:00Z")!
    private static let origin = SegmentOrigin(created: created, key: "k", stream: "door", priority: .normal)

    private func encode(
        _ lines: [String], as format: BodyFormat, of origin: SegmentOrigin = origin
    ) throws -> String {
        var encoder = BodyEncoder(format, now: Self.created, host: "edge-7")
        var body: [UInt8] = []
        for line in lines {
            try Array(line.utf8).withUnsafeBufferPointer { try encoder.add($0, of: origin, to: &body) }
        }
        encoder.finish(&body)
        return String(decoding: body, as: UTF8.self)
    }

    private func json(_ text: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
    }

    private func json(_ text: String, inside words: String...) throws -> [NSDictionary] {
        var found = [try json(text)]
        for word in words { found = try #require(found.first?[word] as? [NSDictionary]) }
        return found
    }

    // MARK: OpenTelemetry

    private func records(_ lines: String..., priority: Priority = .normal) throws -> [NSDictionary] {
        let origin = SegmentOrigin(created: Self.created, key: "k", stream: "door", priority: priority)
        return try json(
            encode(lines, as: .otlp, of: origin), inside: "resourceLogs", "scopeLogs", "logRecords")
    }

    @Test("OTLP: a request says once which service and machine its records are of")
    func resource() throws {
        let body = try encode(["1", "2"], as: .otlp)
        let resource = try #require(try json(body, inside: "resourceLogs").first?["resource"] as? NSDictionary)
        #expect(
            resource == [
                "attributes": [
                    ["key": "service.name", "value": ["stringValue": "door"]],
                    ["key": "host.name", "value": ["stringValue": "edge-7"]],
                ]
            ])
        #expect(try json(body, inside: "resourceLogs", "scopeLogs", "logRecords").count == 2)
        #expect(try encode(["1"], as: .otlp, of: SegmentOrigin(created: Self.created)).contains(#"{"stringValue":"ferry"}"#))
    }

    @Test("OTLP: a request without an event is one, and has no records")
    func noRecords() throws {
        #expect(try encode(["", " "], as: .otlp) == #"{"resourceLogs":[]}"#)
    }

    @Test("OTLP: a tracker's event has its name as body, and all else as attributes")
    func trackedRecord() throws {
        let record = try #require(
            try records(
                #"{"v":1,"time":"2026-11-21T03:15:02.123Z","name":"say \"hi\"","id":"i","session":"s","user":null,"device":{"os":"Debian"},"properties":{"n":3,"x":2.5,"b":false,"none":null,"list":[1,"a",{"k":[]}]}}"#
            ).first)
        #expect(
            record == [
                "timeUnixNano": "1795230902123000000", "observedTimeUnixNano": "1795230000000000000",
                "severityNumber": 9, "severityText": "INFO", "body": ["stringValue": "say \"hi\""],
                "attributes": [
                    ["key": "event.name", "value": ["stringValue": "say \"hi\""]],
                    ["key": "log.record.uid", "value": ["stringValue": "i"]],
                    ["key": "session.id", "value": ["stringValue": "s"]],
                    [
                        "key": "device",
                        "value": ["kvlistValue": ["values": [["key": "os", "value": ["stringValue": "Debian"]]]]],
                    ],
                    ["key": "n", "value": ["intValue": "3"]], ["key": "x", "value": ["doubleValue": 2.5]],
                    ["key": "b", "value": ["boolValue": false]], ["key": "none", "value": [:] as NSDictionary],
                    [
                        "key": "list",
                        "value": [
                            "arrayValue": [
                                "values": [
                                    ["intValue": "1"], ["stringValue": "a"],
                                    [
                                        "kvlistValue": [
                                            "values": [
                                                ["key": "k", "value": ["arrayValue": ["values": [] as NSArray]]]
                                            ]
                                        ]
                                    ],
                                ]
                            ]
                        ],
                    ], ["key": "v", "value": ["intValue": "1"]],
                ],
            ])
    }

    @Test("OTLP: any other line is its record's body, whole")
    func otherRecord() throws {
        let records = try records(#"{"msg":"up","level":"WARN"}"#, "[1]", "\"text\"", "no JSON")
        #expect(
            records[0]["body"] as? NSDictionary == [
                "kvlistValue": [
                    "values": [
                        ["key": "msg", "value": ["stringValue": "up"]], ["key": "level", "value": ["stringValue": "WARN"]],
                    ]
                ]
            ])
        #expect(records[0]["severityNumber"] as? Int == 13)
        #expect(records[0]["severityText"] as? String == "WARN")
        #expect(records[0]["attributes"] == nil)
        #expect(records[1]["body"] as? NSDictionary == ["arrayValue": ["values": [["intValue": "1"]]]])
        #expect(records[2]["body"] as? NSDictionary == ["stringValue": "text"])
        #expect(records[3]["body"] as? NSDictionary == ["stringValue": "no JSON"])
    }

    @Test(
        "OTLP: how bad an event is says a word of its own, else whether its segment is critical",
        arguments: [
            ("critical", Priority.normal, 18, "critical"), ("Error", .bulk, 17, "Error"), ("loud", .normal, 9, "INFO"),
            ("loud", .critical, 17, "ERROR"), ("debug", .critical, 5, "debug"),
        ])
    func severity(word: String, priority: Priority, number: Int, text: String) throws {
        for member in ["level", "severity"] {
            let record = try #require(try records(#"{"name":"e","\#(member)":"\#(word)"}"#, priority: priority).first)
            #expect(record["severityNumber"] as? Int == number)
            #expect(record["severityText"] as? String == text)
        }
    }

    @Test(
        "OTLP: a time that is none, or that 64 bits do not hold, is left out, and stays an attribute",
        arguments: [#""yesterday""#, #""1969-12-31T23:59:59Z""#, #""2300-01-01T00:00:00Z""#, "12", "true"])
    func unreadableTime(time: String) throws {
        let record = try #require(try records(#"{"name":"e","time":\#(time)}"#).first)
        #expect(record["timeUnixNano"] == nil)
        #expect(record["observedTimeUnixNano"] as? String == "1795230000000000000")
        let keys = (record["attributes"] as? [NSDictionary])?.compactMap { $0["key"] as? String }
        #expect(keys == ["event.name", "time"])
    }

    @Test(
        "OTLP: a number that neither 64 bits nor a double hold keeps its digits",
        arguments: [
            ("9223372036854775807", #"{"intValue":"9223372036854775807"}"#),
            ("9223372036854775808", #"{"stringValue":"9223372036854775808"}"#), ("1e400", #"{"stringValue":"1e400"}"#),
            ("-0.5e3", #"{"doubleValue":-0.5e3}"#), ("-7", #"{"intValue":"-7"}"#),
        ])
    func numbers(number: String, value: String) throws {
        #expect(try encode([number], as: .otlp).contains(#""body":\#(value)}"#))
    }

    @Test("OTLP: a key stands once, the last value of one that stands twice, and nothing is left out for its name")
    func keys() throws {
        let record = try #require(
            try records(#"{"name":"e","properties":{"a":1,"a":2,"event.name":"x"},"a":3}"#).first)
        let attributes = try #require(record["attributes"] as? [NSDictionary])
        #expect(attributes.compactMap { $0["key"] as? String } == ["event.name", "a", "_event.name", "_a"])
        #expect(attributes[1]["value"] as? NSDictionary == ["intValue": "2"])
    }

    @Test("OTLP: what lies deeper than readers of Protocol Buffers go is text")
    func deep() throws {
        let deep = String(repeating: "[", count: 400) + "7" + String(repeating: "]", count: 400)
        let body = try encode([deep], as: .otlp)
        #expect(body.components(separatedBy: "arrayValue").count - 1 == 24)
        let text = String(repeating: "[", count: 376) + "7" + String(repeating: "]", count: 376)
        #expect(body.contains(#"{"stringValue":"\#(text)"}"#))
    }

    // MARK: Elasticsearch and OpenSearch

    @Test("Elastic: each event stands behind an action with an ID of segment and line, whichever request it goes out in")
    func bulkLines() throws {
        let body = try encode([#"{"a":1}"#, "", " {\"b\":2}\r"], as: .elastic)
        #expect(
            body == #"""
                {"create":{"_id":"k-1"}}
                {"a":1}
                {"create":{"_id":"k-3"}}
                 {"b":2}

                """#)
        let file = try OpenFile.inMemory()
        try file.write(Segments.gzip("{\"a\":1}\n\n{\"b\":2}\n{\"c\":3}\n"))
        let parts = RequestParts(
            [.init(file: file, origin: Self.origin, line: 1)], as: .elastic, limits: RequestLimits(events: 1),
            inflateLimit: .mebibytes(1))
        let first = try #require(try parts.next(at: Self.created))
        #expect(first.lines.map(\.number) == [3])
        #expect(first.lines.map(\.event) == [Array(#"{"b":2}"#.utf8)])
        guard case .bytes(let bytes) = first.body else { throw InVain(what: "bytes") }
        let sent = try OpenFile.inMemory()
        try sent.write(Array(bytes.readableBytesView))
        #expect(try Segments.lines(of: sent) == [#"{"create":{"_id":"k-3"}}"#, #"{"b":2}"#])
    }

    @Test("Elastic: what is no object is no document", arguments: ["1", "[{}]", "\"{\""])
    func noDocument(line: String) throws {
        let error = #expect(throws: EventEncodingError.self) { try encode(["{}", line], as: .elastic) }
        #expect(error?.description == "line 2 is no JSON object, which a document is")
    }

    // MARK: Loki

    @Test("Loki: entries in one stream of few labels, each with its own time, or its segment's, and the line as it is")
    func lokiEntries() throws {
        let body = try encode(
            [#"{"time":"2026-11-21T03:15:02.123Z","a":"\u00fc"}"#, "", "plain \"text\""], as: .loki,
            of: SegmentOrigin(created: Self.created, key: "k", stream: "door", priority: .critical))
        #expect(
            try json(body) == [
                "streams": [
                    [
                        "stream": ["job": "ferry", "stream": "door", "host": "edge-7", "level": "error"],
                        "values": [
                            ["1795230902123000001", #"{"time":"2026-11-21T03:15:02.123Z","a":"\u00fc"}"#],
                            ["1795230000000000003", "plain \"text\""],
                        ],
                    ]
                ]
            ])
        #expect(try encode([""], as: .loki) == #"{"streams":[]}"#)
    }

    @Test("Loki: a time that 64 bits do not hold is none")
    func lateTime() throws {
        let late = SegmentOrigin(created: .distantFuture, key: "k")
        #expect(try encode(["1"], as: .loki, of: late).contains(#"["1","1"]"#))
        #expect(try encode([#"{"time":9223372036854}"#], as: .loki, of: late).contains(#"["9223372036854000001","#))
    }

    // MARK: Splunk

    @Test("Splunk: events one after the other, each with its time in seconds, its machine and its stream")
    func splunkEvents() throws {
        let body = try encode([#"{"time":"2026-11-21T03:15:02.023Z","a":1}"#, "[2]"], as: .splunk)
        #expect(
            body == #"""
                {"time":1795230902.023,"host":"edge-7","source":"ferry:door","sourcetype":"_json","event":{"time":"2026-11-21T03:15:02.023Z","a":1}}
                {"time":1795230000.000,"host":"edge-7","source":"ferry:door","sourcetype":"_json","event":[2]}

                """#)
    }

    @Test("Splunk: what it takes for no event is none", arguments: ["null", "\"\"", " null "])
    func noSplunkEvent(line: String) throws {
        let error = #expect(throws: EventEncodingError.self) { try encode(["{}", line], as: .splunk) }
        #expect(error?.line == 2)
    }
}
