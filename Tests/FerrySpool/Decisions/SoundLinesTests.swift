import TestSupport
import Testing

@testable import FerrySpool

/// What is said fast of lines, held against the scanner, which reads byte by byte.
@Suite("Sound lines")
struct SoundLinesTests {
    /// Values and what is none, as the test suites for RFC 8259 sort them: each is a line of its own.
    private static let numbers = [
        "0", "-0", "1", "-1", "10", "123456789012345678901234567890", "-1234567890123456", "1234567890123456",
        "12345678901234567", "1.5",
        "0.5", "-0.0", "1e1", "1E1", "1e+1", "1e-1", "0e0", "0E+0", "1.5e300", "1.0E-99999", "1234567890123456.1234567890123456",
        "00", "01", "-01", "+1", "-", "--1", "1.", "-1.", ".5", "-.5", "1.e1", "1e", "1e+", "1E-", "e1", "1e1.5", "1.5.5", "0x1",
        "1_0",
        "1,0", "Infinity", "-Infinity", "NaN", "1a", "-a", "1 2", "１", "1\u{0}",
    ]
    private static let words = [
        "true", "false", "null", "tru", "truE", "TRUE", "fals", "falsey", "nul", "nulll", "t", "f", "n", "True", "none",
        "undefined", "true false",
    ]
    private static let texts = [
        #""""#, #""a""#, #""\"""#, #""\\""#, #""\\\"""#, #""\/\b\f\n\r\t""#, #""\u0000""#, #""\uABCD\uabcd""#, #""\ud834\udd1e""#,
        #""\ud800""#,
        #""\""#, #""\\\""#, #""\x""#, #""\u""#, #""\u123""#, #""\u12g4""#, #""\U1234""#, #""\ ""#, #""a"#, #"a""#, #"'a'"#,
        #""a"b""#, #""a" "b""#,
        "\"\t\"", "\"\u{1f}\"", "\"\u{0}\"", "\"\r\"", "\"\u{7f}\"", "\"é\"", "\"⛴\"", "\"𝄞\"", "\"é⛴𝄞\\\"é\"", "é", "\u{feff}1",
        "\"\(String(repeating: "a", count: 61))\\\"\(String(repeating: "b", count: 200))\"",
        "\"\(String(repeating: "é", count: 100))\"",
    ]
    private static let nests = [
        "{}", "[]", "[[]]", "[{}]", "{\"a\":[]}", "[1]", "[1,2]", "[ 1 , 2 ]", "{\"a\":1,\"b\":{\"c\":[true,null]}}",
        "\t{\t\"a\"\t:\t1\t}\t\r",
        " \r\t", "", "\r", "[\t]", "{\r}", "[1,\"\",[],{}]", "{\"\":\"\"}", "{\"a\":1,\"a\":2}",
        "[", "]", "{", "}", "[}", "{]", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,",
        "{\"a\":1,}",
        "{,}", "{1:2}", "{a:1}", "{\"a\" 1}", "{\"a\",1}", "{\"a\"::1}", "{\"a\":1 \"b\":2}", "[\"a\":1]", "[]]", "{}}", "[][]",
        "{}{}", ":", ",",
        "[\u{b}]", "[\u{a0}]", "//", "1//", "[1]#", "*", "{\"a\":}", "[[[[", "]]]]", "{\"a\":{\"b\":{\"c\":", "[\"a", "[\"a\"",
    ]

    /// What is not UTF-8, and the borders of what is (RFC 3629, section 4), in a string.
    private static let sequences: [[UInt8]] = [
        [0x80], [0xbf], [0xc0, 0x80], [0xc1, 0xbf], [0xc2], [0xc2, 0x7f], [0xc2, 0xc0], [0xc2, 0x80], [0xdf, 0xbf],
        [0xe0, 0x9f, 0xbf],
        [0xe0, 0xa0, 0x80], [0xe0, 0xa0], [0xe1, 0x80, 0x7f], [0xe1, 0xbf, 0xc0], [0xe2, 0x82], [0xe2, 0x82, 0xac],
        [0xec, 0xbf, 0xbf],
        [0xed, 0x9f, 0xbf], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xee, 0x80, 0x80], [0xef, 0xbf, 0xbf],
        [0xf0, 0x8f, 0xbf, 0xbf],
        [0xf0, 0x90, 0x80, 0x80], [0xf0, 0x90, 0x80], [0xf1, 0x80, 0x80, 0x80], [0xf3, 0xbf, 0xbf, 0xbf],
        [0xf4, 0x8f, 0xbf, 0xbf],
        [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xfe], [0xff], [0xc2, 0x80, 0x80],
        [0xe2, 0x22],
        [0xf0, 0x90, 0x22], [0xf4, 0x5c],
    ]

    private static let cases: [[UInt8]] =
        (numbers + words + texts + nests).map { Array($0.utf8) }
        + (numbers + words + texts).flatMap { [Array("[\($0)]".utf8), Array("{\"k\":\($0)}".utf8), Array("{\($0):1}".utf8)] }
        + sequences.flatMap { bytes in
            // Before, across and behind what is looked at together.
            [0, 13, 14, 15, 60, 61, 62, 63].map { [0x22] + [UInt8](repeating: 0x61, count: $0) + bytes + [0x22] }
        }

    private func scanned(_ line: [UInt8]) -> JSONLineChecker.Verdict {
        var checker = JSONLineChecker()
        return line.withUnsafeBufferPointer { checker.scan($0) }
    }

    private func sound(_ bytes: [UInt8]) -> SoundLines? { bytes.withUnsafeBufferPointer { SoundLines($0) } }

    private func counted(_ bytes: [UInt8], pieces: Int = .max, longest: ByteCount = .mebibytes(2)) -> Result<
        Int64, JSONLineError
    > {
        var counter = JSONLinesCounter(longestLine: longest)
        return Result { () throws(JSONLineError) in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(pieces))
                let failure = piece.withUnsafeBytes { bytes -> JSONLineError? in
                    do throws(JSONLineError) {
                        try counter.feed(bytes)
                        return nil
                    } catch { return error }
                }
                if let failure { throw failure }
                rest = rest.dropFirst(pieces)
            }
            try counter.finish()
            return counter.events
        }
    }

    @Test("Of every kind of value and of what is none, the fast check says what the scanner says")
    func kinds() {
        for line in Self.cases {
            let verdict = scanned(line)
            // Behind other lines, so that it lies anywhere in what is looked at together.
            for length in [0, 1, 40, 63] {
                let before = length == 0 ? [] : [UInt8](repeating: UInt8(ascii: "7"), count: length - 1) + [10]
                let found = sound(before + line + [10])
                let isSound = verdict == .event || verdict == .blank
                #expect((found != nil) == isSound, "\(String(decoding: line, as: UTF8.self)) behind \(length) bytes")
                let events = Int64((length > 1 ? 1 : 0) + (verdict == .event ? 1 : 0))
                if let found {
                    #expect(found.events == events)
                    #expect(found.lines == (length == 0 ? 1 : 2))
                }
            }
            var checker = JSONLineChecker()
            #expect(line.withUnsafeBufferPointer { checker.check($0) } == verdict)
        }
    }

    @Test("Values lie as deep as the scanner lets them, and no deeper", arguments: [511, 512, 513])
    func depth(deep: Int) {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let count = deep / open.count { $0 == "[" || $0 == "{" }
            for inner in ["1", "[]", "{}"] {
                let line = Array((String(repeating: open, count: count) + inner + String(repeating: close, count: count)).utf8)
                #expect((sound(line + [10]) != nil) == (scanned(line) == .event), "\(open)\(inner)")
            }
        }
        let line = Array((String(repeating: "[", count: deep) + String(repeating: "]", count: deep)).utf8)
        #expect((sound(line + [10]) != nil) == (deep <= JSONScanner.maximumDepth))
    }

    @Test("What does not end with a line feed is left to the scanner")
    func unended() {
        #expect(sound([]) == nil)
        #expect(sound(Array("1".utf8)) == nil)
        #expect(sound([10])?.events == 0)
    }

    @Test("Each bad line is found at its line and column, behind any number of good ones and in any pieces")
    func positions() {
        let good = Array("{\"time\":\"2026-11-21T03:15:02.123Z\",\"n\":-12.5e3,\"x\":[true,\"é\"]}\n".utf8)
        for (index, line) in Self.cases.enumerated() {
            guard case .invalid(let column, let reason) = scanned(line) else { continue }
            let count = index % 7
            let text = (0..<count).flatMap { _ in good } + line + [10] + good
            for pieces in [Int.max, 64, 1 + index % 11] {
                #expect(
                    counted(text, pieces: pieces)
                        == .failure(JSONLineError(line: Int64(count) + 1, column: column, reason: reason)))
            }
        }
    }

    @Test("Lines of up to 1 MiB are counted whole and in pieces, and longer ones are refused where they get too long")
    func longLines() {
        for length in [(1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 20, (1 << 20) + 1] {
            let line = [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "x"), count: length - 2) + [UInt8(ascii: "\"")]
            let text = Array("{}\n".utf8) + line + Array("\n[]\n".utf8)
            for pieces in [Int.max, 65_536, 10_007] {
                let result = counted(text, pieces: pieces, longest: .mebibytes(1))
                if length <= 1 << 20 {
                    #expect(result == .success(3))
                } else {
                    guard case .failure(let problem) = result else {
                        Issue.record("accepted")
                        continue
                    }
                    #expect(problem.line == 2)
                    #expect(problem.column == 1 << 20 + 1)
                }
            }
        }
    }

    @Test("Mutated lines get the scanner's verdict")
    func mutations() {
        var generator = Seeded(seed: 41)
        let sample = Array(
            #"{"time":"2026-11-21T03:15:02.123Z","n":-12.5e3,"ok":true,"list":[1,"two",null,{"é":"\u00e9\n"}],"x":{},"long":"abcdefghijklmnopqrstuvwxyz⛴"}"#
                .utf8)
        let interesting = Array("{}[]\",:\\u0-9.eE tfn\r\t\u{7f}".utf8) + [0x80, 0xc3, 0xe2, 0xff, 0x00, 0x1f]
        for _ in 0..<30_000 {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0...2, using: &generator) {
                case 0: bytes[index] = interesting.randomElement(using: &generator)!
                case 1: bytes.remove(at: index)
                default: bytes.insert(interesting.randomElement(using: &generator)!, at: index)
                }
            }
            let verdict = scanned(bytes)
            #expect((sound(bytes + [10]) != nil) == (verdict == .event), "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
