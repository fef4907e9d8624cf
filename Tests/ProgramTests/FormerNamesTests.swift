import FerrySpool
import Foundation
import TestSupport
import Testing

/// Names of options and settings that earlier versions had go on to work, with a line that says the new one.
@Suite("Names of earlier versions")
struct FormerNamesTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    @Test("An upload takes --deadline for --time-limit, and says so")
    func timeLimit() async throws {
        let spool = try folder.spool()
        let upload = ["upload", "--spool", spool.path, "--to", "http://127.0.0.1:1/"]
        let former = try await ferry.start(upload + ["--deadline", "5s", "--deadline-margin", "1s"]).end()
        #expect(former.errors.contains("--deadline is --time-limit now"))
        #expect(former.errors.contains("--deadline-margin is --time-limit-margin now"))
        let current = try await ferry.start(upload + ["--time-limit", "5s", "--time-limit-margin", "1s"]).end()
        #expect(current.errors.isEmpty)
        #expect(current.status == former.status)
        let both = try await ferry.start(upload + ["--time-limit", "5s", "--deadline", "5s"]).end()
        #expect(both.status == 64)
        let none = try await ferry.start(upload + ["--time-limit", "0s"]).end()
        #expect(none.errors.contains("--time-limit must be longer than 0"))
    }

    @Test(
        "A setting under its former name counts, wherever it stands, and its new name is told",
        arguments: ["deadline: {time: \"05:00\", late: hold}", "deadline.time: \"05:00\"", ""])
    func due(lines: String) async throws {
        let spool = try folder.spool()
        let file = folder("ferry.yaml")
        try "to: http://127.0.0.1:1/\nspools: \(spool.path)\n\(lines)\n".write(toFile: file, atomically: true, encoding: .utf8)
        let environment = lines.isEmpty ? ["FERRY_DEADLINE_TIME": "05:00"] : [:]
        let program = Program(environment: environment)
        let shown = try await program.start(["config", "show", "--config", file]).end()
        let row = try #require(shown.output.split(separator: "\n").first { $0.hasPrefix("due.time") })
        #expect(row.contains("05:00"))
        let checked = try await program.start(["config", "check", "--config", file]).end()
        #expect(checked.status == 0)
        #expect(checked.errors.contains(lines.isEmpty ? "FERRY_DUE_TIME now" : "now; the old name still works"))
        let place = lines.isEmpty ? "$FERRY_DEADLINE_TIME" : "\(file):3:"
        #expect(checked.errors.contains(place))
    }

    @Test("A section under both of its names is a mistake, wherever the former one stands", arguments: [true, false])
    func both(isFormerFirst: Bool) async throws {
        let sections = ["due: {time: \"04:00\"}", "deadline: {time: \"05:00\"}"]
        let file = folder("ferry.yaml")
        let text = (isFormerFirst ? sections.reversed() : sections).joined(separator: "\n") + "\n"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let checked = try await ferry.start(["config", "check", "--config", file]).end()
        #expect(checked.status == 78)
        #expect(checked.errors.contains("\(file):2: 'due' is there twice, the first time in line 1"))
    }

    @Test("A flag under the former name counts")
    func flag() async throws {
        let shown = try await ferry.start(["config", "show", "--set", "deadline.time=06:00"]).end()
        let row = try #require(shown.output.split(separator: "\n").first { $0.hasPrefix("due.time") })
        #expect(row.contains("06:00"))
    }
}
