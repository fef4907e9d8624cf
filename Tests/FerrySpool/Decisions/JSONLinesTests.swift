import FoundationEssentials
import TestSupport
import Testing

@testable import FerrySpool

@Suite("JSON lines")
struct JSONLinesTests {
    @Test(
        "Values of RFC 8259 are events",
        arguments: [
            "{}", "[]", "null", "true", "false", "0", "-0", "1.5e-10", "1E+5", "\"\"", "\"a\\u00e9\\n\"",
            " { \"a\" : [ 1 , 2 ] } ",
            "{\"a\":{\"b\":[{},[],\"\"]}}", "\"é ⛴ 𝄞\"", "{\"a\":1}\r", "\"\\ud800\"",
        ])
    func valid(text: String) {
        #expect(check(text) == .event)
    }

    @Test(
        "What is no value is refused where it goes wrong",
        arguments: [
            ("{\"c\" 3}", 6), ("{", 2), ("[1,]", 4), ("{\"a\":1,}", 8), ("01", 2), ("1.", 3), ("-", 2), ("tru", 4), ("trux", 4),
            ("\"a", 3), ("\"\t\"", 2), ("\"\\x\"", 3), ("\"\\u12g4\"", 6), ("1 2", 3), ("{} {}", 4), ("[}", 2), ("{\"a\":1]", 7),
            ("nul1", 4), ("'a'", 1), ("{a:1}", 2), ("1e", 3), ("+1", 1), (",", 1),
        ])
    func invalid(text: String, column: Int) {
        guard case .invalid(column, _) = check(text) else {
            Issue.record("\(text) gave \(check(text)), not column \(column)")
            return
        }
    }

    @Test(
        "Bytes that are not UTF-8 are refused",
        arguments: [
            [0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22],
            [0x22, 0xe2, 0x82, 0x22], [0x22, 0x80, 0x22], [0x22, 0xe0, 0x80, 0x80, 0x22],
        ] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        var checker = JSONLineChecker()
        guard case .invalid(_, "not UTF-8") = bytes.withUnsafeBufferPointer({ checker.check($0) }) else {
            Issue.record("accepted")
            return
        }
    }

    @Test("Nesting is limited, so that nobody's parser breaks on it")
    func nesting() {
        let deep = JSONScanner.maximumDepth
        #expect(check(String(repeating: "[", count: deep) + String(repeating: "]", count: deep)) == .event)
        guard case .invalid(deep + 1, _) = check(String(repeating: "[", count: deep + 1)) else {
            Issue.record("accepted")
            return
        }
    }

    @Test("Blank lines, carriage returns and a missing last line feed are accepted and not counted")
    func lines() throws {
        #expect(try count("{\"a\":1}\n\n{\"b\":2}\r\n  \r\n3") == 3)
        #expect(try count("") == 0)
    }

    @Test("A bad line is found by line and column, however the pieces fall")
    func position() {
        let text = "{\"a\":1}\n{\"b\":2}\n{\"c\" 3}\n"
        for size in 1...text.utf8.count {
            #expect(throws: JSONLineError(line: 3, column: 6, reason: "':' is missing after a key")) {
                try count(text, pieces: size)
            }
        }
        #expect(throws: JSONLineError(line: 1, column: 2, reason: "the line ends inside an object")) { try count("{\n}") }
    }

    @Test("Mutated events are judged as Foundation judges them")
    func agreesWithFoundation() {
        var generator = Seeded(seed: 11)
        let sample = Array(
            #"{"time":"2026-11-21T03:15:02.123Z","n":-12.5e3,"ok":true,"list":[1,"two",null,{"é":"\u00e9\n"}],"x":{}}"#.utf8)
        let interesting = Array("{}[]\",:\\u0-9.eE tfn\u{7f}".utf8) + [0x80, 0xc3, 0xff, 0x00, 0x1f]
        for _ in 0..<20_000 {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0...2, using: &generator) {
                case 0: bytes[index] = interesting.randomElement(using: &generator)!
                case 1: bytes.remove(at: index)
                default: bytes.insert(interesting.randomElement(using: &generator)!, at: index)
                }
            }
            var checker = JSONLineChecker()
            let ours = bytes.withUnsafeBufferPointer { checker.check($0) } == .event
            // Foundation guesses UTF-16 and UTF-32 from zero bytes and accepts lone surrogates differently: leave those out.
            if bytes.contains(0) || String(validating: bytes, as: UTF8.self) == nil {
                if ours { #expect(String(validating: bytes, as: UTF8.self) != nil) }
                continue
            }
            let theirs = (try? JSONDecoder().decode(AnyJSON.self, from: Data(bytes))) != nil
            let text = String(decoding: bytes, as: UTF8.self)
            // Foundation lets a trailing comma pass, which RFC 8259 does not.
            if theirs, text.contains(",}") || text.contains(",]") { continue }
            #expect(ours == theirs, "\(text)")
        }
    }

    private func check(_ text: String) -> JSONLineChecker.Verdict {
        var checker = JSONLineChecker()
        return Array(text.utf8).withUnsafeBufferPointer { checker.check($0) }
    }

    @discardableResult
    private func count(_ text: String, pieces: Int = .max) throws -> Int64 {
        var counter = JSONLinesCounter()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try Array(rest.prefix(pieces)).withUnsafeBytes { try counter.feed($0) }
            rest = rest.dropFirst(pieces)
        }
        try counter.finish()
        return counter.events
    }
}

/// Any JSON value, for comparison with another parser.
private struct AnyJSON: Decodable {
    init(from decoder: any Decoder) throws {
        if var list = try? decoder.unkeyedContainer() {
            while !list.isAtEnd { _ = try list.decode(AnyJSON.self) }
        } else if let object = try? decoder.container(keyedBy: Key.self) {
            for key in object.allKeys { _ = try object.decode(AnyJSON.self, forKey: key) }
        } else {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() || (try? value.decode(Bool.self)) != nil || (try? value.decode(Double.self)) != nil { return }
            _ = try value.decode(String.self)
        }
    }

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
