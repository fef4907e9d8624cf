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

    @Test(
        "A setting under both of its names is a mistake, in variables, flags, and where one stands in a section",
        arguments: ["variables", "flags", "former section", "dotted former"])
    func set(twice way: String) async throws {
        let lines =
            switch way {
            case "former section": "due.time: \"04:00\"\ndeadline: {time: \"05:00\"}\n"
            case "dotted former": "deadline.time: \"04:00\"\ndue: {time: \"05:00\"}\n"
            default: "verify: auto\n"
            }
        let file = folder("ferry.yaml")
        try lines.write(toFile: file, atomically: true, encoding: .utf8)
        let program = Program(
            environment: way == "variables" ? ["FERRY_DEADLINE_TIME": "04:00", "FERRY_DUE_TIME": "05:00"] : [:])
        let flags = way == "flags" ? ["--set", "due.time=05:00", "--set", "deadline.time=03:00"] : []
        let shown = try await program.start(["config", "show", "--config", file] + flags).end()
        #expect(shown.status == 78)
        #expect(shown.errors.contains("as well: keep that one"))
    }

    @Test("A mistake in a value under a former name is told with that name, and what it is called now")
    func mistake() async throws {
        let variable = try await Program(environment: ["FERRY_DEADLINE_TIME": "25:00"]).start(["config", "show"]).end()
        #expect(variable.errors.contains("$FERRY_DEADLINE_TIME: due.time '25:00'"))
        #expect(variable.errors.contains("it is FERRY_DUE_TIME now"))
        let flag = try await ferry.start(["config", "check", "--set", "deadline.time=25:00"]).end()
        #expect(flag.errors.contains("--set deadline.time: due.time '25:00'"))
        #expect(flag.errors.contains("'deadline.time' is 'due.time' now"))
    }

    @Test("Credentials in a URL and values of secret headers are not printed with the mistake that they are")
    func secrets() async throws {
        for command in ["show", "check"] {
            let result = try await ferry.start(
                ["config", command, "--set", "to=http://user:s3cret@hub/", "--set", "headers=Authorization: Bearer s3cret"]
            ).end()
            #expect(result.status == 78)
            #expect(!result.errors.contains("s3cret"))
            #expect(!result.output.contains("s3cret"))
            #expect(result.errors.contains("--set headers: 'Authorization: …' is a secret"))
        }
    }
}
