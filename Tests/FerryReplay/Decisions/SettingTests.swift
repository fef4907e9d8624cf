import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import FerryReplay

@Suite("Fields that are set together")
struct SettingTests {
    private func rewritten(_ line: String, _ settings: [String]) throws -> String {
        var options = EventFilter.Options()
        options.settings = settings
        let filter = try EventFilter(options)
        var fields = filter.makeFields()
        return Array(line.utf8).withUnsafeBufferPointer { line in
            _ = filter.judge(line, &fields)
            return String(decoding: filter.rewritten(line, fields, time: nil) ?? Array(line), as: UTF8.self)
        }
    }

    @Test(
        "Several fields of one object are added together, wherever it is",
        arguments: [
            (#"{}"#, ["a.x=1", "a.y=2"], #"{"a":{"x":1,"y":2}}"#),
            (#"{"a":{}}"#, ["a.x=1", "a.y=2"], #"{"a":{"x":1,"y":2}}"#),
            (#"{"a":{"z":0}}"#, ["a.x=1", "a.y=2"], #"{"a":{"x":1,"y":2,"z":0}}"#),
            (#"{"a":3,"b":4}"#, ["a.x=1", "a.y=2"], #"{"a":{"x":1,"y":2},"b":4}"#),
            (#"{}"#, ["a=1", "b=2"], #"{"a":1,"b":2}"#),
            (#"{}"#, ["a.b.c=1", "a.b.d=2", "a.e=3"], #"{"a":{"b":{"c":1,"d":2},"e":3}}"#),
            (#"{}"#, ["a=1", "a.x=2"], #"{"a":{"x":2}}"#),
            (#"{}"#, [#"a={"y":1}"#, "a.x=2"], #"{"a":{"x":2,"y":1}}"#),
            (#"{}"#, ["a.x=2", "a=1"], #"{"a":1}"#),
            (#"{"a":{"x":0}}"#, ["a.x=1", "a.x=2"], #"{"a":{"x":2}}"#),
            // Of keys that are there twice the last counts.
            (#"{"a":{"x":1},"a":{}}"#, ["a.x=2"], #"{"a":{"x":1},"a":{"x":2}}"#),
        ])
    func together(_ line: String, _ settings: [String], _ expected: String) throws {
        #expect(try rewritten(line, settings) == expected)
    }

    @Test("A field that is set keeps its value when times are shifted")
    func shifted() throws {
        var options = EventFilter.Options()
        options.settings = ["time=2000"]
        options.timeField = "time"
        options.shiftsTimeToNow = true
        var filter = try EventFilter(options)
        filter.shift = .seconds(60)
        var fields = filter.makeFields()
        let result = Array(#"{"time":1000}"#.utf8).withUnsafeBufferPointer { line -> String in
            guard case .passes(let time) = filter.judge(line, &fields) else { return "" }
            return String(decoding: filter.rewritten(line, fields, time: time) ?? [], as: UTF8.self)
        }
        #expect(result == #"{"time":2000}"#)
    }

    @Test("Whatever is set in whatever line: the result is JSON, has every field, and the rest is as it was")
    func property() throws {
        var generator = Seeded(seed: 313)
        let names = ["a", "b", "c", "d e", "ü\""]
        func value(_ depth: Int) -> Any {
            switch Int.random(in: 0..<(depth > 2 ? 4 : 6), using: &generator) {
            case 0: return Int.random(in: -9...9, using: &generator)
            case 1: return "text \"{}"
            case 2: return NSNull()
            case 3: return [1, ["a": 2]] as [Any]
            default: return object(depth + 1)
            }
        }
        func object(_ depth: Int) -> [String: Any] {
            var object: [String: Any] = [:]
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                object[names.randomElement(using: &generator)!] = value(depth)
            }
            return object
        }
        func set(_ path: ArraySlice<String>, _ number: Int, in object: inout [String: Any]) {
            guard let name = path.first else { return }
            if path.count == 1 {
                object[name] = number
            } else {
                var inner = object[name] as? [String: Any] ?? [:]
                set(path.dropFirst(), number, in: &inner)
                object[name] = inner
            }
        }
        for round in 0..<3000 {
            var event = object(0)
            let options: JSONSerialization.WritingOptions = round.isMultiple(of: 2) ? [] : [.prettyPrinted]
            let text = String(decoding: try JSONSerialization.data(withJSONObject: event, options: options), as: UTF8.self)
            let line = text.replacingOccurrences(of: "\n", with: " ")
            let settings = (0..<Int.random(in: 1...4, using: &generator)).map { number in
                (
                    path: (0..<Int.random(in: 1...3, using: &generator)).map { _ in names.randomElement(using: &generator)! },
                    number: number
                )
            }
            for setting in settings { set(setting.path[...], setting.number, in: &event) }
            let result = try rewritten(line, settings.map { "\($0.path.joined(separator: "."))=\($0.number)" })
            let parsed = try JSONSerialization.jsonObject(with: Data(result.utf8)) as? NSDictionary
            #expect(parsed == event as NSDictionary, "\(settings) in \(line): \(result)")
        }
    }

    @Test("A list of sources is read as it was written, whatever the names; a damaged one is none")
    func list() throws {
        let moment = Timestamp(rfc3339: "2026-11-21T03:00:00Z")!
        let files = [
            "/a/b.jsonl", "/a b/100%.ndjson.gz", "/line\nfeed/x.jsonl.zst", "/ü/é.json.gz", "/x/%41.jsonl",
            "/spool/sent/\(Segments.name().fileName)", "/spool/sent/export.jsonl.gz~1",
        ].compactMap { ReplayFile(path: $0, stamp: SourceStamp(size: ByteCount(12), modified: moment)) }
        #expect(files.count == 7)
        let bytes = ReplayList.bytes(of: files)
        #expect(ReplayList.files(bytes) == files)
        #expect(ReplayList.files(ReplayList.bytes(of: [])) == [])
        #expect(ReplayList.files(Array(bytes.dropLast(5))) == nil)
        #expect(ReplayList.files([]) == nil)
        var generator = Seeded(seed: 5)
        for _ in 0..<2000 {
            var bad = bytes
            bad[.random(in: 0..<bad.count, using: &generator)] = .random(in: 0...255, using: &generator)
            _ = ReplayList.files(bad)
        }
    }
}
