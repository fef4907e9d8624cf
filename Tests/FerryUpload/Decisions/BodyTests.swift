import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Request bodies in the SDKs' own forms")
struct BodyTests {
    private static let created = Timestamp(rfc3339: "2026-11-21T03:00:00Z")!
    private static let now = Timestamp(rfc3339: "2026-11-21T03:15:03.123Z")!
    private static let device =
        #"{"id":"anon-1","os":"Debian GNU/Linux","osVersion":"12","kernel":"6.1","architecture":"x86_64","locale":"en_US","country":"US","timeZoneOffset":60,"app":"my app","appVersion":"1.2","sdk":"ferry.swift","sdkVersion":"0.1.0"}"#

    private static func event(_ name: String, _ properties: String = "{}", user: String = "null") -> String {
        #"{"v":1,"time":"2026-11-21T03:15:02.123Z","name":"\#(name)","id":"id-1","session":"s-1","user":\#(user),"device":\#(device),"properties":\#(properties)}"#
    }

    private func encode(_ lines: [String], as format: BodyFormat) throws -> String {
        var encoder = BodyEncoder(format, now: Self.now)
        var body: [UInt8] = []
        for line in lines {
            try Array(line.utf8).withUnsafeBufferPointer { try encoder.add($0, of: .init(created: Self.created), to: &body) }
        }
        encoder.finish(&body)
        return String(decoding: body, as: UTF8.self)
    }

    @Test("An array has a bracket, each event and a bracket on lines of their own, whatever the events are")
    func jsonArray() throws {
        #expect(try encode([#"{"a":1}"#, "", " 2\r", #"["x"]"#], as: .jsonArray) == "[\n{\"a\":1},\n 2,\n[\"x\"]\n]")
        #expect(try encode([], as: .jsonArray) == "[\n\n]")
        #expect(try encode(["1", "2"], as: .ndjson) == "1\n2\n")
    }

    private func logs(_ lines: [String]) throws -> [NSDictionary] {
        let body = try encode(lines, as: .appCenter)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        #expect(Array(object.keys) == ["logs"])
        return try #require(object["logs"] as? [NSDictionary])
    }

    private let appCenterDevice: NSDictionary = [
        "sdkName": "ferry.swift", "sdkVersion": "0.1.0", "osName": "Debian GNU/Linux", "osVersion": "12", "osBuild": "6.1",
        "locale": "en_US",
        "carrierCountry": "US", "timeZoneOffset": 60, "appNamespace": "my app", "appVersion": "1.2", "appBuild": "1.2",
    ]

    @Test("App Center: event logs with typed properties, and a session's start as its own type")
    func appCenter() throws {
        let logs = try logs([
            Self.event("$AppStart"),
            Self.event(
                #"say \"hi\""#, #"{"t":"ü\n","n":3,"x":2.5,"e":1e3,"b":false,"none":null,"list":[1,"a"]}"#, user: #""ada""#),
        ])
        #expect(
            logs[0] == ["type": "startSession", "timestamp": "2026-11-21T03:15:02.123Z", "sid": "s-1", "device": appCenterDevice])
        #expect(
            logs[1] == [
                "type": "event", "timestamp": "2026-11-21T03:15:02.123Z", "sid": "s-1", "userId": "ada", "id": "id-1",
                "name": "say \"hi\"",
                "device": appCenterDevice,
                "typedProperties": [
                    ["type": "string", "name": "t", "value": "ü\n"], ["type": "long", "name": "n", "value": 3],
                    ["type": "double", "name": "x", "value": 2.5], ["type": "double", "name": "e", "value": 1000],
                    ["type": "boolean", "name": "b", "value": false], ["type": "string", "name": "list", "value": "[1,\"a\"]"],
                ],
            ])
    }

    @Test("App Center: a session starts once, whether the program's life tells it or the program")
    func appCenterSessions() throws {
        let logs = try logs([
            Self.event("$AppStart", #"{"$is_new_session":true}"#), Self.event("$AppStart", #"{"$is_new_session":false}"#),
            Self.event("$SessionStart", #"{"$is_new_session":true}"#), Self.event("$AppEnd"),
        ])
        #expect(logs.map { $0["type"] as? String } == ["startSession", "event", "startSession", "event"])
    }

    @Test(
        "An event's time is RFC 3339 or milliseconds since 1970, and no other time stands for one that cannot be read",
        arguments: TimedForm.allCases)
    private func times(_ form: TimedForm) throws {
        func body(_ time: String) throws -> String {
            try encode([#"{"name":"x","time":\#(time),"device":{"id":"a"}}"#], as: form.format)
        }
        #expect(try body(#""2026-11-21T03:15:02.123Z""#).contains(form.time))
        #expect(try body("1795230902123").contains(form.time))
        #expect(try body("null") == body(#""2026-11-21T03:00:00.000Z""#))
        for unreadable in [#""yesterday""#, #""2026-01-02 03:04:05""#, "1700000000", "1e300", "true", "{}"] {
            #expect(throws: EventEncodingError.self, "\(unreadable)") { try body(unreadable) }
        }
    }

    private enum TimedForm: CaseIterable {
        case sensors, appCenter, measurement

        var format: BodyFormat {
            switch self {
            case .sensors: .sensors
            case .appCenter: .appCenter
            case .measurement: .measurement(trackingID: "UA-1-2")
            }
        }

        /// Of 03:15:02.123, a second before the request.
        var time: String {
            switch self {
            case .sensors: #""time":1795230902123"#
            case .appCenter: #""timestamp":"2026-11-21T03:15:02.123Z""#
            case .measurement: "&qt=1000"
            }
        }
    }

    @Test("App Center: a number beyond 64 bits with a sign, and one beyond every double, keep their digits as text")
    func appCenterNumbers() throws {
        let body = try encode(
            [Self.event("n", #"{"a":9223372036854775807,"b":9223372036854775808,"c":1e400,"d":-0.0}"#)], as: .appCenter)
        #expect(body.contains(#"{"type":"long","name":"a","value":9223372036854775807}"#))
        #expect(body.contains(#"{"type":"string","name":"b","value":"9223372036854775808"}"#))
        #expect(body.contains(#"{"type":"string","name":"c","value":"1e400"}"#))
        #expect(body.contains(#"{"type":"double","name":"d","value":-0.0}"#))
    }

    @Test("App Center: a device's field of another kind is left out, and a field stands once")
    func appCenterOddDevice() throws {
        let odd = #"{"os":null,"osVersion":{"a":1},"locale":[1],"timeZoneOffset":"60","sdk":"s","sdk":"t"}"#
        let log = try #require(try logs([#"{"name":"x","device":\#(odd)}"#]).first)
        let device = try #require(log["device"] as? [String: Any])
        #expect(device["osName"] as? String == "Linux")
        #expect(device["osVersion"] as? String == "0")
        #expect(device["locale"] as? String == "und")
        #expect(device["timeZoneOffset"] as? Int == 0)
        #expect(device["sdkName"] as? String == "s")
    }

    @Test(
        "Of a key that stands twice the last value counts, as JSON readers have it; keys that only Unicode calls the same are two"
    )
    func keys() throws {
        let record = try encode([Self.event("k", #"{"a":1,"a":2,"\u00e9":3,"e\u0301":4}"#)], as: .sensors)
        #expect(record.contains("\"properties\":{\"a\":2,\"\u{e9}\":3,\"e\u{301}\":4,"), "\(record)")
    }

    @Test(
        "Measurement Protocol: a value is a whole number from 0, exactly, or left out",
        arguments: [
            ("9007199254740993", "9007199254740993"), (#""12""#, "12"), ("12.4", "12"), ("0", "0"), ("-3", nil),
            (#""0x10""#, nil),
            (#""abc""#, nil), ("true", nil), ("1e30", nil), ("[1]", nil), ("18446744073709551615", nil),
        ] as [(String, String?)])
    func values(value: String, parameter: String?) throws {
        let body = try encode([Self.event("v", #"{"value":\#(value)}"#)], as: .measurement(trackingID: "UA-1-2"))
        #expect(body.split(separator: "&").first { $0.hasPrefix("ev=") } == parameter.map { "ev=\($0)" })
    }

    @Test("Measurement Protocol: an empty category is the program's name, and only whole numbers from 1 to 200 are custom")
    func categories() throws {
        let properties = #"{"category":"","cd+1":"a","cd01":"b","cd201":"c","cd200":"d"}"#
        let body = try encode([Self.event("c", properties)], as: .measurement(trackingID: "U"))
        #expect(body.contains("&ec=my%20app&"))
        #expect(body.split(separator: "&").filter { $0.hasPrefix("cd") } == ["cd200=d"])
    }

    @Test("Measurement Protocol: going to the background ends no session, and what the program starts itself begins one")
    func measurementSessions() throws {
        let events = [Self.event("$AppEnd"), Self.event("$SessionStart", #"{"$is_new_session":true}"#)]
        let hits = try encode(events, as: .measurement(trackingID: "U")).split(separator: "\n")
        #expect(!hits[0].contains("sc="))
        #expect(hits[1].contains("&sc=start&"))
    }

    @Test("Measurement Protocol: a hit that servers pass over is refused, so that its segment is kept")
    func longHit() throws {
        func hit(_ length: Int) throws -> String {
            let label = String(repeating: "x", count: length)
            return try encode([Self.event("l", #"{"label":"\#(label)"}"#)], as: .measurement(trackingID: "U"))
        }
        #expect(try hit(8000).utf8.count > 8000)
        #expect(throws: EventEncodingError.self) { try hit(8192) }
    }

    private func records(_ lines: [String]) throws -> [NSDictionary] {
        try #require(try JSONSerialization.jsonObject(with: Data(encode(lines, as: .sensors).utf8)) as? [NSDictionary])
    }

    @Test("Sensors: a record with the user or the anonymous id, the time in milliseconds, and presets beside its own properties")
    func sensors() throws {
        let presets: [String: Any] = [
            "$lib": "ferry.swift", "$lib_version": "0.1.0", "$app_name": "my app", "$app_version": "1.2",
            "$os": "Debian GNU/Linux", "$os_version": "12", "$device_id": "anon-1", "$timezone_offset": -60,
        ]
        let records = try records([
            Self.event("ViewProduct", #"{"ID":12,"name":"a\"b","none":null,"$os":"mine","$event_duration":1.5}"#),
            Self.event("Buy", user: #""ada""#),
        ])
        let own: [String: Any] = ["ID": 12, "name": "a\"b", "$os": "mine", "event_duration": 1.5]
        let time = 1_795_230_902_123
        #expect(
            records[0] == [
                "type": "track", "event": "ViewProduct", "distinct_id": "anon-1", "time": time,
                "properties": presets.merging(own) { $1 },
            ])
        #expect(
            records[1] == [
                "type": "track", "event": "Buy", "distinct_id": "ada", "time": time,
                "properties": presets.merging(["$is_login_id": true]) { $1 },
            ])
        #expect(try encode([Self.event("a"), Self.event("b")], as: .sensors).split(separator: "\n").count == 4)
    }

    @Test("Sensors: a login joins the anonymous id's past with the user's")
    func signUp() throws {
        let record = try #require(try records([Self.event("$SignUp", user: #""ada""#)]).first)
        #expect(record["type"] as? String == "track_signup")
        #expect(record["distinct_id"] as? String == "ada")
        #expect(record["original_id"] as? String == "anon-1")
    }

    @Test("App Center: an event of another program gets what is required, from the segment")
    func foreignToAppCenter() throws {
        let log = try #require(try logs([#"{"name":"x","extra":[1]}"#]).first)
        #expect(log["timestamp"] as? String == Self.created.rfc3339)
        #expect(log["sid"] == nil)
        #expect(log["typedProperties"] == nil)
        let device = try #require(log["device"] as? [String: Any])
        let required = ["sdkName", "sdkVersion", "osName", "osVersion", "locale", "timeZoneOffset", "appVersion", "appBuild"]
        #expect(device.keys.sorted() == required.sorted())
    }

    @Test("Measurement Protocol: one hit a line, percent-encoded, with the queue time")
    func measurement() throws {
        let body = try encode(
            [
                Self.event("$AppStart"),
                Self.event(
                    "buy & go", #"{"category":"shop","label":"größe=1","value":12.4,"cd3":"x y","cm1":2,"cd0":"no","other":1}"#,
                    user: #""ada""#),
            ], as: .measurement(trackingID: "UA-1-2"))
        let common = "an=my%20app&av=1.2&ul=en-us"
        #expect(
            body == """
                v=1&tid=UA-1-2&cid=anon-1&t=event&ec=my%20app&ea=%24AppStart&sc=start&\(common)&qt=1000
                v=1&tid=UA-1-2&cid=anon-1&uid=ada&t=event&ec=shop&ea=buy%20%26%20go&el=gr%C3%B6%C3%9Fe%3D1&ev=12&\(common)&cd3=x%20y&cm1=2&qt=1000

                """)
    }

    @Test(
        "What has no form in a body is told with its line",
        arguments: [
            ("[1]", "is no JSON object"), (#"{"title":"x"}"#, "has no \"name\""), (#"{"name":7}"#, "has no \"name\""),
            (#"{"name":"x""#, "is no JSON object"),
        ])
    func unencodable(_ line: String, _ reason: String) {
        do {
            _ = try encode([Self.event("fine"), line], as: .appCenter)
            Issue.record("encoded")
        } catch {
            let event = error as? EventEncodingError
            #expect(event?.line == 2)
            #expect(event?.reason.hasPrefix(reason) == true)
        }
        #expect(throws: EventEncodingError.self) {
            try encode([#"{"name":"no device"}"#], as: .measurement(trackingID: "UA-1-2"))
        }
    }

    @Test("Mutated events are encoded or refused; what is encoded as an array element of valid lines stays valid JSON")
    func mutations() throws {
        var random = Seeded(seed: 3)
        let original = Array(Self.event("n", #"{"a":"\u00e9\\","b":[{"c":null}],"cd1":-1.5e-3,"value":9}"#, user: #""u""#).utf8)
        for _ in 0..<4000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = bytes.indices.randomElement(using: &random)!
                if Bool.random(using: &random) {
                    bytes[index] = .random(in: 0...255, using: &random)
                } else {
                    bytes.remove(at: index)
                }
            }
            bytes.removeAll { $0 == 0x0a }
            var checker = JSONLineChecker()
            let isValid = bytes.withUnsafeBufferPointer { checker.check($0) == .event }
            for format in [BodyFormat.appCenter, .sensors, .measurement(trackingID: "UA-1-2")] {
                var encoder = BodyEncoder(format, now: Self.now)
                var body: [UInt8] = []
                guard
                    (try? bytes.withUnsafeBufferPointer { try encoder.add($0, of: .init(created: Self.created), to: &body) })
                        != nil
                else {
                    continue
                }
                encoder.finish(&body)
                guard isValid, format == .appCenter else { continue }
                let isStillValid = body.withUnsafeBufferPointer { checker.check($0) == .event }
                #expect(isStillValid, "\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }
}
