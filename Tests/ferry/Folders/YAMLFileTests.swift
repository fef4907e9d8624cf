import Foundation
import TestSupport
import Testing

@testable import ferry

@Suite("YAML files, as settings are read from them")
struct YAMLFileTests {
    private let folder = TemporaryFolder()

    private func file(_ text: String) throws -> YAMLFile {
        try text.write(toFile: folder("ferry.yaml"), atomically: true, encoding: .utf8)
        return try YAMLFile(folder("ferry.yaml"))
    }

    private func problems(_ text: String) throws -> [String] {
        try file(text).problems.map { $0.description.replacing(folder("ferry.yaml"), with: "") }
    }

    @Test(
        "A value of any kind is the text that stands there",
        arguments: [
            ("5s", "5s"), ("0x10", "0x10"), ("1_000", "1_000"), ("yes", "yes"), ("~", "~"), ("", ""), ("5s # five", "5s"),
            ("\"a\\tb\\u00e9\"", "a\tb\u{e9}"), ("\"\\0\"", "\0"), ("'it''s'", "it's"), ("!!int \"3\"", "3"), ("!x 3", "3"),
            ("|\n  a\n  b\n", "a\nb\n"), (">-\n  a\n  b\n", "a b"), ("a\n  b", "a b"),
        ])
    func scalars(text: String, value: String) throws {
        let file = try file("interval: \(text)\n")
        #expect(file.problems.isEmpty)
        #expect(file.keys.map(\.name) == ["interval"])
        #expect(file.keys.first?.values.map(\.text) == [value])
    }

    @Test("Keys have their dotted names and their lines, and lists the lines of their values")
    func lines() throws {
        let keys = try file(
            "# settings\r\nto: a\r\nspools:\r\n  - b\r\n  - c\r\ndue: {time: \"04:00\",\r\n  late: hold}\r\n"
        ).keys
        #expect(keys.map(\.name) == ["to", "spools", "due", "due.time", "due.late"])
        #expect(keys.map(\.line) == [2, 3, 6, 6, 7])
        #expect(keys.map { $0.values.map(\.line) } == [[2], [4, 5], [], [6], [7]])
        #expect(keys.map(\.kind) == [.value, .list, .section, .value, .value])
    }

    @Test("A file without a document has no keys", arguments: ["", "# nothing yet\n", "\u{feff}# nothing yet\n"])
    func empty(text: String) throws {
        let file = try file(text)
        #expect(file.problems.isEmpty)
        #expect(file.keys.isEmpty)
    }

    @Test("An alias stands for what has its name before it, the latest of several")
    func aliases() throws {
        let keys = try file("timeout: &a 5s\nconnect-timeout: *a\ninterval: &a 6s\ncritical-delay: *a\n").keys
        #expect(keys.map { $0.values[0].text } == ["5s", "5s", "6s", "6s"])
    }

    @Test(
        "A mistake has its line",
        arguments: [
            ("to: a\ninterval: [\n", ":3: no YAML: "), ("\tto: a\n", ":1: no YAML: "),
            ("to: *a\n", ":1: no YAML: found undefined alias"),
            ("a: &a [*a]\n", ":1: no YAML: found undefined alias"),
            ("to: a\n---\nto: b\n", ":2: no YAML: expected a single document"),
            ("to: a\nx: \u{1b}\n", ":2: no YAML: control characters"), ("- to\n", ":1: the file must hold keys"),
            ("to: a\n? [b]\n: c\n", ":2: a key must be a word"), ("spools: [a,\n  [b]]\n", ":1: spools: a list must hold plain"),
            ("to: a\ninterval: 5s\nto: b\n", ":3: 'to' is there twice, the first time in line 1"),
            ("due: {late: hold,\n  late: drop}\n", ":2: 'due.late' is there twice"),
            ("a:\n  \(String(repeating: "[", count: 40))", ":2: it is nested more than 32 levels deep"),
        ])
    func mistakes(text: String, problem: String) throws {
        let problems = try problems(text)
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix(problem) ?? false, "\(problems)")
    }

    @Test("All keys that are there twice are found in one pass")
    func twice() throws {
        #expect(try problems("to: a\nto: b\nbody: c\n\"body\": d\nto: e\n").count == 3)
    }

    @Test("Aliases of aliases are refused before they fill the memory")
    func growing() throws {
        let few = (0..<6).map { "b\($0): &a\($0 + 1) {p: *a\($0), q: *a\($0)}\n" }.joined()
        #expect(try problems("a: &a0 x\n\(few)").isEmpty)
        let many = (0..<64).map { "b\($0): &a\($0 + 1) {p: *a\($0), q: *a\($0)}\n" }.joined()
        let problems = try problems("a: &a0 x\n\(many)")
        #expect(problems.count == 1)
        #expect(problems.first?.contains("too many aliases") ?? false, "\(problems)")
    }
}
