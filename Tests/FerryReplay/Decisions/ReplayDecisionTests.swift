import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import FerryReplay

@Suite("Which events are replayed, and as what")
struct ReplayDecisionTests {
    private static let line =
        #"{"name":"Purchase","time":"2026-11-21T03:00:00Z","properties":{"total":12.5,"count":3,"a key":"x","tags":["a","b"],"nested":{"deep":true}},"user":null,"text":"say \"hi\" é"}"#

    private func holds(_ condition: String, _ line: String = ReplayDecisionTests.line) throws -> Bool {
        var options = EventFilter.Options()
        options.condition = condition
        let filter = try EventFilter(options)
        var fields = filter.makeFields()
        return Array(line.utf8).withUnsafeBufferPointer {
            if case .passes = filter.judge($0, &fields) { true } else { false }
        }
    }

    @Test(
        "Conditions",
        arguments: [
            (#"name == "Purchase" && properties.total > 10"#, true), (#"name == "Purchase" && properties.total > 12.5"#, false),
            ("properties.total >= 12.5", true), ("properties.count < 3", false), ("properties.count <= 3", true),
            ("properties.nested.deep == true", true), ("properties.nested.deep != false", true), ("user == null", true),
            ("missing == null", true), ("missing != 3", true), ("missing > 3", false), ("exists properties.tags", true),
            ("exists properties.none", false), (#"properties["a key"] == 'x'"#, true), (#"name contains "chas""#, true),
            (#"name starts "Pur""#, true), (#"name starts "chas""#, false), (#"!(name == "x") && !exists other"#, true),
            (#"name == "x" || properties.count == 3"#, true), (#"name == "x" && name == "y" || properties.count == 3"#, true),
            (#"name == "x" && (name == "y" || properties.count == 3)"#, false), (#"text == 'say "hi" é'"#, true),
            (#"time >= "2026-11-21" && time < "2026-11-22""#, true), ("name > 3", false), ("properties.count == -3", false),
            ("properties.total == 1.25e1", true), (#"["name"] == "Purchase""#, true), (#"["properties"].total > 10"#, true),
            (#"["@none"] == null"#, true), (#"exists ["properties"]["a key"]"#, true),
        ])
    func conditions(_ text: String, _ expected: Bool) throws { #expect(try holds(text) == expected, "\(text)") }

    @Test(
        "What is looked for in text is found where it is written, also within what a person sees as one character",
        arguments: [
            (#"t contains "नमस""#, true), (#"t contains "👨""#, true), (#"t starts "क""#, true), (#"t contains "e""#, true),
            (#"t contains "z""#, false),
        ])
    func textAsWritten(_ text: String, _ expected: Bool) throws {
        #expect(try holds(text, "{\"t\":\"कि नमस्ते 👨\u{200d}👩 e\u{301}\"}") == expected)
    }

    @Test(
        "Whole numbers of 64 bits are compared exactly, and with others by their value",
        arguments: [
            ("id == 1234567890123456789", true), ("id == 1234567890123456788", false), ("id > 1234567890123456788", true),
            ("id != 1234567890123456790", true), ("id <= 1234567890123456788", false), ("id >= 1234567890123456789.0", true),
            ("large == 18446744073709551615", true), ("large > 18446744073709551614", true),
            ("large > 9223372036854775807", true),
            ("least == -9223372036854775808", true), ("least < -9223372036854775807", true), ("least > -1e30", true),
            ("three == 3.0", true), ("three < 3.5", true), ("three > 2.5", true), ("three == 30e-1", true), ("half == 0.5", true),
            ("half < 1", true), ("huge > 18446744073709551615", true), ("huge == 1e30", true), ("endless > 1e308", true),
        ])
    func wholeNumbers(_ text: String, _ expected: Bool) throws {
        let line =
            #"{"id":1234567890123456789,"large":18446744073709551615,"least":-9223372036854775808,"three":3,"half":5e-1,"huge":1e30,"endless":1e999}"#
        #expect(try holds(text, line) == expected, "\(text)")
    }

    @Test(
        "Mistakes are told with their place",
        arguments: [
            ("", 1), ("name", 5), ("name ==", 8), ("name == ", 9), ("name == \"x", 9), ("(name == 1", 11),
            ("name == 1 name == 2", 11),
            ("name === 1", 8), ("&& name == 1", 1), ("name == 1 &&", 13), ("a..b == 1", 3), ("name = 1", 6),
        ])
    func mistakes(_ text: String, _ column: Int) throws {
        var options = EventFilter.Options()
        options.condition = text
        do throws(ConditionError) {
            _ = try EventFilter(options)
            Issue.record("taken: \(text)")
        } catch {
            #expect(error.column == column, "\(text): \(error)")
        }
    }

    @Test(
        "A mistake that is often made is told with what was meant",
        arguments: [
            ("name = 1", "did you mean '=='?"), ("name == 1 & x == 2", "did you mean '&&'?"),
            ("name == 1 | x == 2", "did you mean '||'?"), (#""@name" == 1"#, #"["a key"]"#),
        ])
    func advice(_ text: String, _ advice: String) {
        let error = #expect(throws: ConditionError.self) { try holds(text) }
        #expect(error?.message.contains(advice) ?? false, "\(String(describing: error))")
    }

    @Test("A condition may be a long row, and no deep tree", arguments: ["||", "&&"])
    func long(joint: String) throws {
        let row = Array(repeating: "name == \"Purchase\"", count: 100_000)
        #expect(try holds(row.joined(separator: joint)))
        #expect(try holds((row + ["!(name == \"Purchase\")"]).joined(separator: joint)) == (joint == "||"))
        #expect(throws: ConditionError.self) { try holds(String(repeating: "(", count: 100_000)) }
    }

    @Test("A field is no deeper than an event")
    func deep() throws {
        func path(_ depth: Int) -> String { Array(repeating: "a", count: depth).joined(separator: ".") }
        let line = Array((String(repeating: "{\"a\":", count: 512) + "1" + String(repeating: "}", count: 512)).utf8)
        var options = EventFilter.Options()
        options.condition = "exists \(path(512))"
        let filter = try EventFilter(options)
        var fields = filter.makeFields()
        let isFound = line.withUnsafeBufferPointer { line in
            if case .passes = filter.judge(line, &fields) { return true }
            return false
        }
        #expect(isFound)
        options.condition = "exists \(path(100_000))"
        #expect(throws: ConditionError.self) { try EventFilter(options) }
        options.condition = nil
        options.settings = ["\(path(100_000))=2"]
        #expect(throws: ConditionError.self) { try EventFilter(options) }
    }

    @Test("A mutated condition or line is read or refused, never more")
    func mutation() throws {
        var generator = Seeded(seed: 31)
        let condition = Array(#"!(name == "Purchase" && properties["a key"] > 10.5) || exists user.id"#.utf8)
        let line = Array(Self.line.utf8)
        for _ in 0..<5000 {
            func mutated(_ bytes: [UInt8]) -> String {
                var bytes = bytes
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    bytes[.random(in: 0..<bytes.count, using: &generator)] = .random(in: 1...255, using: &generator)
                }
                bytes.removeLast(.random(in: 0..<6, using: &generator))
                return String(decoding: bytes, as: UTF8.self)
            }
            _ = try? holds(mutated(condition))
            _ = try holds(#"name == "Purchase" && properties.nested.deep == true"#, mutated(line))
        }
    }

    @Test("What is found in a line is what Foundation finds")
    func extraction() throws {
        let paths = ["name", "properties.total", "properties.nested.deep", "properties.tags", "user", "text", "properties.none"]
        let extractor = FieldExtractor(paths.map { FieldPath($0)! })
        for text in [Self.line, Self.line.replacingOccurrences(of: ":", with: " :\t").replacingOccurrences(of: ",", with: " , ")]
        {
            let bytes = Array(text.utf8)
            var fields: [JSONField?] = Array(repeating: nil, count: paths.count)
            bytes.withUnsafeBufferPointer { line in
                #expect(extractor.extract(line, into: &fields))
                #expect(fields[0]?.string(line) == "Purchase")
                #expect(fields[1]?.number(line) == 12.5)
                #expect(fields[2]?.kind == .yes)
                #expect(fields[3]?.kind == .array)
                #expect(fields[4]?.kind == .null)
                #expect(fields[6] == nil)
                #expect(fields[5]?.string(line) == "say \"hi\" é")
            }
        }
    }

    @Test(
        "Fields are set where they are, added where they are not, and the rest stays byte for byte",
        arguments: [
            (#"{"a":1,"b":"x"}"#, ["a=2"], #"{"a":2,"b":"x"}"#), (#"{"a":1,"b":"x"}"#, ["b=y z"], #"{"a":1,"b":"y z"}"#),
            (#"{"a":1}"#, ["c=true"], #"{"c":true,"a":1}"#), (#"{ }"#, ["c=1"], #"{"c":1 }"#),
            (#"{"p":{"q":1}}"#, ["p.q=null"], #"{"p":{"q":null}}"#), (#"{"p":{}}"#, ["p.q.r=1"], #"{"p":{"q":{"r":1}}}"#),
            (#"{"p":3}"#, ["p.q=1"], #"{"p":{"q":1}}"#), (#"{"x":[1]}"#, ["p.q=[1,2]"], #"{"p":{"q":[1,2]},"x":[1]}"#),
            (#"{"a":"1","b":2}"#, ["a=3", "b=4"], #"{"a":3,"b":4}"#), (#"{"a":1}"#, ["a=say \"hi\""], #"{"a":"say \"hi\""}"#),
        ])
    func rewriting(_ line: String, _ settings: [String], _ expected: String) throws {
        var options = EventFilter.Options()
        options.settings = settings
        let filter = try EventFilter(options)
        var fields = filter.makeFields()
        let bytes = Array(line.utf8)
        let result = bytes.withUnsafeBufferPointer { line -> [UInt8]? in
            _ = filter.judge(line, &fields)
            return filter.rewritten(line, fields, time: nil)
        }
        #expect(result.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(
        "A longer file of the same inode has grown; other bytes or times make it another one",
        arguments: [
            (10, 1000, 5, 7, SourceStamp.Change.none), (12, 2000, 5, 7, .grown(by: ByteCount(2))), (12, 2000, 5, 8, .other),
            (10, 2000, 5, 7, .other), (9, 1000, 5, 7, .other), (10, 1000, 6, 7, .other), (10, 1000, 5, 8, .none),
        ] as [(Int64, Int64, Int64, UInt64, SourceStamp.Change)])
    func changes(_ size: Int64, _ modified: Int64, _ nanoseconds: Int64, _ inode: UInt64, _ change: SourceStamp.Change) {
        func stamp(_ size: Int64, _ modified: Int64, _ nanoseconds: Int64, _ inode: UInt64) -> SourceStamp {
            SourceStamp(
                size: ByteCount(size), modified: Timestamp(milliseconds: modified),
                exact: .init(inode: inode, nanoseconds: nanoseconds))
        }
        #expect(stamp(10, 1000, 5, 7).change(to: stamp(size, modified, nanoseconds, inode)) == change)
    }

    @Test("Events keep their gaps up to a bound, and those behind an odd time keep theirs")
    func schedule() {
        let start = Timestamp(milliseconds: 1_700_000_000_000)
        func offsets(_ seconds: [Int64], _ maxGap: Duration?) -> [Duration] {
            var schedule = PaceSchedule(.original(factor: 2), maxGap: maxGap)
            return seconds.map { schedule.offset(of: start + .seconds($0), after: 0) }
        }
        #expect(offsets([0, 2, 10, 6], nil) == [0, 1, 5, 3].map { Duration.seconds($0) })
        #expect(offsets([0, 2, 10, 12], .seconds(2)) == [0, 1, 3, 4].map { Duration.seconds($0) })
        #expect(offsets([0, 2, 3_000_000_000, 4, 6], .seconds(2)) == [0, 1, 3, 1, 2].map { Duration.seconds($0) })
        #expect(offsets([0, 200_000_000_000], nil).last == .century)
        var rate = PaceSchedule(.rate(4), maxGap: .seconds(1))
        #expect(rate.offset(of: start, after: 20) == .seconds(5))
    }

    @Test(
        "Times are read and shifted in the form that they have",
        arguments: [
            (#"{"t":"2026-11-21T03:00:00.000Z"}"#, #"{"t":"2026-11-21T04:00:00.000Z"}"#),
            (#"{"t":1795230000}"#, #"{"t":1795233600}"#),
            (#"{"t":1795230000000}"#, #"{"t":1795233600000}"#), (#"{"t":1795230000.5}"#, #"{"t":1795233600.5}"#),
        ])
    func times(_ line: String, _ expected: String) throws {
        var options = EventFilter.Options()
        options.timeField = "t"
        options.shiftsTimeToNow = true
        var filter = try EventFilter(options)
        filter.shift = .seconds(3600)
        var fields = filter.makeFields()
        let result = Array(line.utf8).withUnsafeBufferPointer { line -> [UInt8]? in
            guard case .passes(let time) = filter.judge(line, &fields) else { return nil }
            #expect(time.map { $0.milliseconds / 1000 } == 1_795_230_000)
            return filter.rewritten(line, fields, time: time)
        }
        #expect(result.map { String(decoding: $0, as: UTF8.self) } == expected)
    }
}
