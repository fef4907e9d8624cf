import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import FerryTracker

@Suite("Events: their shape and their limits")
struct TrackerEventTests {
    private static let id = EventID("0f8fad5b-d9cb-469f-a165-70867728950e")!

    /// The event's line, and what was cut off.
    private func encode(
        _ properties: EventProperties, name: String = "opened", reserved: EventProperties = [:], defaults: [EventProperties] = [],
        limits: EventLimits = .none, session: String? = "s", user: String? = nil
    ) throws -> (line: String, truncated: [EventLimitError]) {
        var encoder = EventEncoder(limits)
        try encoder.encode(
            .init(
                time: Timestamp(rfc3339: "2026-11-21T03:15:02.123Z")!, name: name, id: Self.id,
                context: EventContext(session: session, user: user, device: Array("{\"id\":\"d\"}".utf8)), properties: properties,
                reserved: reserved, defaults: defaults))
        let line = String(decoding: encoder.line.bytes, as: UTF8.self)
        return (line, encoder.truncated)
    }

    @Test(
        "Whole numbers of 64 bits are kept to the last digit",
        arguments: ["18446744073709551615", "9223372036854775808", "-9223372036854775808"])
    func wholeNumbers(_ digits: String) throws {
        let properties = try properties("{\"id\":\(digits)}")
        #expect(try encode(properties).line.contains("\"properties\":{\"id\":\(digits)}"))
    }

    @Test("The shape of version 1, byte for byte")
    func shape() throws {
        let (line, _) = try encode(
            [
                "text": "a \"b\" \\ \n\t\u{1}ü🦉", "yes": true, "count": -42, "ratio": 0.1,
                "when": .date(Date(timeIntervalSince1970: 1.5)),
                "list": [1, "two", [false]], "nested": ["deep": ["deeper": 1]], "empty": .object([:]), "least": .int(.min),
            ], user: "u\"1")
        #expect(
            line == """
                {"v":1,"time":"2026-11-21T03:15:02.123Z","name":"opened","id":"0f8fad5b-d9cb-469f-a165-70867728950e","session":"s",\
                "user":"u\\"1","device":{"id":"d"},"properties":{"text":"a \\"b\\" \\\\ \\n\\t\\u0001ü🦉","yes":true,"count":-42,\
                "ratio":0.1,"when":"1970-01-01T00:00:01.500Z","list":[1,"two",[false]],"nested":{"deep":{"deeper":1}},"empty":{},\
                "least":-9223372036854775808}}

                """)
        let (manual, _) = try encode([:], session: nil)
        #expect(manual.hasSuffix("\"session\":null,\"user\":null,\"device\":{\"id\":\"d\"},\"properties\":{}}\n"))
    }

    @Test("Text keeps each character, wherever in it an escape is needed", arguments: 0..<25)
    func text(length: Int) throws {
        for special in ["\"", "\\", "\n", "\u{1f}", " ", "\u{7f}", "ü", "🦉"] {
            for place in 0...length {
                let text = String(repeating: "!", count: place) + special + String(repeating: "[", count: length - place)
                let line = try encode(["text": .string(text)]).line
                let event = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                #expect((event["properties"] as? [String: String]) == ["text": text])
            }
        }
    }

    @Test("Of keys that are the same the last value counts, beside others of their length and ends")
    func sameKeys() {
        let keys = ["", "a", "aba", "aca", "ada", "", "aca"]
        let members = keys.enumerated().map { ($1, PropertyValue.int($0)) }
        #expect(EventProperties(members).keys == ["", "a", "aba", "aca", "ada"])
        let literal: EventProperties = ["": 0, "a": 1, "aba": 2, "aca": 3, "ada": 4, "": 5, "aca": 6]
        #expect(literal == EventProperties(members))
    }

    @Test("What lies too deep for receivers is left out, and told")
    func depth() throws {
        func nested(_ levels: Int) -> PropertyValue { (0..<levels).reduce(.int(1)) { value, _ in .array([value]) } }
        let fits = try encode(["a": nested(PropertyValue.deepest - 1)])
        #expect(fits.truncated.isEmpty)
        let deep = try encode(["a": nested(1000), "b": 2], limits: .appCenter)
        #expect(deep.truncated == [.depth(key: "a")])
        var checker = JSONLineChecker()
        let verdict = Array(deep.line.utf8.dropLast()).withUnsafeBufferPointer { checker.check($0) }
        #expect(verdict == .event)
        #expect(deep.line.contains("\"b\":2"))
        let list = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        #expect(throws: PropertiesError.self) { try properties("{\"a\":\(list)}") }
        #expect(try properties("{\"a\":[[1]]}") == ["a": [[1]]])
    }

    @Test("Whatever an event holds, its line is one line of JSON that says the same")
    func randomEvents() throws {
        var random = Seeded(seed: 5)
        let alphabet: [Character] = [
            "a", "\"", "\\", "\n", "\r\n", "\u{0}", "\u{7f}", "é", "e\u{301}", "漢", "👩‍👩‍👧", "\u{2028}", "/", " ",
        ]
        func text() -> String {
            String((0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
        }
        func value(_ depth: Int) -> PropertyValue {
            switch Int.random(in: 0...(depth > 3 ? 4 : 6), using: &random) {
            case 0: .string(text())
            case 1: .bool(.random(using: &random))
            case 2: .int(.random(in: .min ... .max, using: &random))
            case 3: .double(Double(bitPattern: .random(in: 0...UInt64.max, using: &random)))
            case 4: .date(Date(timeIntervalSince1970: Double(bitPattern: .random(in: 0...UInt64.max, using: &random))))
            case 5: .array((0..<3).map { _ in value(depth + 1) })
            default: .object(EventProperties((0..<3).map { (text() + "\($0)", value(depth + 1)) }))
            }
        }
        for _ in 0..<500 {
            let properties = EventProperties((0..<Int.random(in: 0...6, using: &random)).map { ("\($0)" + text(), value(0)) })
            let limits: EventLimits = .random(using: &random) ? .none : .appCenter
            let name = "n" + text()
            let (line, _) = try encode(properties, name: name, limits: limits)
            #expect(line.utf8.filter { $0 == 0x0a }.count == 1)
            #expect(line.hasSuffix("}}\n"))
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["name"] as? String == name)
            let stored = try #require(object["properties"] as? [String: Any])
            if limits == .none { #expect(Set(stored.keys) == Set(properties.keys)) }
            for key in properties.keys where limits == .none {
                if case .string(let text) = properties[key] { #expect(stored[key] as? String == text) }
                // JSONSerialization reads some numbers inexactly; their text is what counts.
                if case .double(let number) = properties[key], number.isFinite { #expect(line.contains(":\(number)")) }
                if case .int(let number) = properties[key] { #expect(line.contains(":\(number)")) }
            }
        }
    }

    @Test("App Center's lengths: what is longer is cut, between characters, and told")
    func truncation() throws {
        let long = String(repeating: "x", count: 300)
        // 124 units, then one character of 7: it does not fit and is not cut in two.
        let family = String(repeating: "x", count: 124) + "👩‍👩‍👧"
        let (line, truncated) = try encode(
            [
                long: 1, "long": .string(long), "family": .string(family), "nested": ["a": .string(long)],
                "fits": .string(String(long.prefix(125))),
            ],
            name: long, limits: .appCenter)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let properties = try #require(object["properties"] as? [String: Any])
        #expect((object["name"] as? String)?.count == 256)
        #expect(properties[String(long.prefix(125))] as? Int == 1)
        #expect((properties["long"] as? String)?.count == 125)
        #expect(properties["family"] as? String == String(repeating: "x", count: 124))
        #expect((properties["nested"] as? [String: String])?["a"]?.count == 125)
        #expect((properties["fits"] as? String)?.count == 125)
        #expect(
            truncated == [
                .name(length: 300, maximum: 256), .key(long, length: 300, maximum: 125),
                .value(key: "long", length: 300, maximum: 125),
                .value(key: "family", length: 132, maximum: 125), .value(key: "a", length: 300, maximum: 125),
            ])
    }

    @Test("Twenty properties; the tracker's own do not count, the super properties do")
    func propertyCount() throws {
        let properties = EventProperties((0..<19).map { ("p\($0)", PropertyValue.int($0)) })
        let (line, truncated) = try encode(
            properties, reserved: ["$event_duration": 1.5],
            defaults: [["dynamic": 1, "p3": "hidden"], ["super": 2, "dynamic": 9]],
            limits: .appCenter)
        #expect(line.contains("\"properties\":{\"$event_duration\":1.5,\"p0\":0"))
        #expect(line.contains("\"dynamic\":1"))
        #expect(!line.contains("super"))
        #expect(!line.contains("hidden"))
        #expect(!line.contains("9}"))
        #expect(truncated == [.properties(count: 21, maximum: 20)])
        let (once, _) = try encode(
            ["$event_duration": 9, "a": 1], reserved: ["$event_duration": 1.5], defaults: [["$event_duration": 8]])
        #expect(once.contains("\"properties\":{\"$event_duration\":1.5,\"a\":1}"))
        let (all, none) = try encode(properties, defaults: [["dynamic": 1], ["super": 2]])
        #expect(all.contains("\"dynamic\":1,\"super\":2}"))
        #expect(none.isEmpty)
    }

    @Test("With the policy to drop, each limit refuses the event by its name", arguments: 0..<5)
    func drop(_ index: Int) throws {
        let long = String(repeating: "ü", count: 300)
        let (name, properties, breach): (String, EventProperties, EventLimitError) = [
            (long, [:], .name(length: 300, maximum: 256)),
            ("n", [long: 1], .key(long, length: 300, maximum: 125)),
            ("n", ["a": [.string(long)]], .value(key: "a", length: 300, maximum: 125)),
            ("n", EventProperties((0..<21).map { ("p\($0)", .int($0)) }), .properties(count: 21, maximum: 20)),
            ("n", ["x": .double(.nan)], .notFinite(key: "x")),
        ][index]
        #expect(throws: breach) { try encode(properties, name: name, limits: EventLimits(all: .drop)) }
        #expect(throws: Never.self) { try encode(properties, name: name, limits: .none) }
    }

    @Test("Numbers that JSON has no form for are left out, or null where the limit is off")
    func notFinite() throws {
        #expect(try encode(["a": 1, "b": .double(.infinity), "c": 2], limits: .appCenter).line.contains("{\"a\":1,\"c\":2}"))
        #expect(try encode(["b": .double(.nan)]).line.contains("{\"b\":null}"))
        #expect(try encode(["b": [.double(.nan)]], limits: .appCenter).line.contains("{\"b\":[null]}"))
    }

    @Test("Two hundred names, and no more; those that were there go on")
    func names() {
        let register = Cell(NameRegister())
        for name in 0..<200 { #expect(register({ $0.admit("n\(name)", .init(200)) }) == .new) }
        #expect(register({ $0.admit("one more", .init(200)) }) == .refused)
        #expect(register({ $0.admit("n7", .init(200)) }) == .known)
        #expect(register({ $0.admit("one more", .init(200, .off)) }) == .known)
        let next = Cell(NameRegister((0..<200).map { "n\($0)" }))
        #expect(next({ $0.admit("one more", .init(200)) }) == .refused)
    }

    @Test("Properties keep their order, each key once; the last value counts")
    func properties() throws {
        var properties: EventProperties = ["b": 1, "a": 2, "b": 3]
        #expect(properties.keys == ["b", "a"])
        #expect(properties["b"] == 3)
        properties["b"] = nil
        #expect(properties.merging(["c": true, "a": 5]).keys == ["a", "c"])
    }

    private func properties(_ text: String) throws -> EventProperties {
        try Array(text.utf8).withUnsafeBufferPointer { try EventProperties(json: $0) }
    }

    @Test(
        "Properties read from JSON keep their order, their kinds of numbers and keys of other bytes; of a key that stands twice the last counts"
    )
    func fromJSON() throws {
        #expect(
            try properties(#" {"z":1,"a":[true,2.5,"x",{"k":-3}],"n":null} "#) == ["z": 1, "a": [true, 2.5, "x", ["k": -3]]])
        #expect(
            try properties(#"{"a":100.0,"b":-0.0,"c":1e3,"d":100}"#) == [
                "a": .double(100), "b": .double(-0.0), "c": .double(1000), "d": .int(100),
            ])
        #expect(try properties("{\"\u{e9}\":1,\"e\u{301}\":2,\"a\":3,\"a\":4}").count == 3)
        #expect(try properties(#"{"a":1,"a":2}"#)["a"] == 2)
        #expect(try properties(#"{"a":"\ud83e\udd89\n"}"#)["a"] == "🦉\n")
        #expect(try properties(#"{"a":[],"b":{}, "c" : [ 1 , 2 ] }"#) == ["a": [], "b": .object([:]), "c": [1, 2]])
    }

    @Test(
        "What is no object of properties says why",
        arguments: [
            (#"[1]"#, "are no JSON object"), (#"{"a":}"#, "are no JSON"), (#"{"a":1,}"#, "are no JSON"), ("", "are no JSON"),
            (#"{"a":[1,null]}"#, "a null in a list"), (#"{"v":"\ud800"}"#, "surrogate"), (#"{"v":"\ud800x"}"#, "surrogate"),
            (#"{"\udc00":1}"#, "surrogate"), (#"{"a":18446744073709551616}"#, "more than 64 bits"),
            (#"{"a":1} {"b":2}"#, "are no JSON"),
        ])
    func noProperties(text: String, why: String) {
        do {
            _ = try properties(text)
            Issue.record("taken")
        } catch {
            #expect("\(error)".contains(why))
        }
    }

    @Test("Of keys that are the same once they are cut the first stands, and the others are told")
    func cutKeys() throws {
        let start = String(repeating: "k", count: 125)
        let properties: [(String, PropertyValue)] = [(start + "a", 1), (start + "b", 2), (start, 3), ("short", 4)]
        let (line, truncated) = try encode(EventProperties(properties), limits: .appCenter)
        #expect(line.contains("\"properties\":{\"\(start)\":1,\"short\":4}"))
        #expect(truncated.count == 3)
    }

    @Test("A number beyond every double is infinite, which the limits leave out")
    func infinite() throws { #expect(try properties(#"{"a":1e400}"#) == ["a": .double(.infinity)]) }

    @Test("Numbers and text survive being read and written")
    func readAndWritten() throws {
        let text = #"{"a":9007199254740993,"b":1.5,"c":"ü\"","d":[{"e":true}],"f":18446744073709551615}"#
        #expect(try encode(properties(text)).line.contains("\"properties\":\(text)"))
    }

    @Test("IDs are UUIDs of version 4, and never the same")
    func ids() throws {
        var source = EventIDSource()
        var seen: Set<String> = []
        for _ in 0..<1000 {
            let text = source.next().text
            try #require(UUID(uuidString: text) != nil)
            #expect(Array(text)[14] == "4")
            #expect("89ab".contains(Array(text)[19]))
            #expect(EventID(text)?.text == text)
            seen.insert(text)
        }
        #expect(seen.count == 1000)
        #expect(EventID("0f8fad5b-d9cb-469f-a165-7086772895") == nil)
        #expect(EventID("") == nil)
    }

    @Test("A text whose first character is longer than the limit is cut within it, and is not empty")
    func longCharacter() throws {
        let name = "a" + String(repeating: "\u{301}", count: 300)
        let cut = try #require(name.cut(to: 256))
        #expect(cut.utf16.count == 256)
        #expect(String(repeating: "x", count: 300).cut(to: 256)?.utf16.count == 256)
    }

    @Test(
        "Of a key that stands twice the last value counts, in the first one's place, however many there are",
        arguments: [3, 5000])
    func manyKeys(count: Int) throws {
        let text = "{" + (0..<2 * count).map { "\"k\($0 % count)\":\($0)" }.joined(separator: ",") + "}"
        let properties = try Array(text.utf8).withUnsafeBufferPointer { try EventProperties(json: $0) }
        #expect(properties.keys == (0..<count).map { "k\($0)" })
        #expect((0..<count).allSatisfy { properties["k\($0)"] == .int($0 + count) })
        #expect(properties.merging(["k1": "x"]).count == count)
        #expect(properties.merging(["k1": "x"])["k1"] == "x")
    }
}
