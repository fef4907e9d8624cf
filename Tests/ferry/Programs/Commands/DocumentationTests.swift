import Foundation
import TestSupport
import Testing

/// The pages for people: README.md and docs. Tests/Docs/run.py says how a page names what is run.
@Suite("The documentation")
struct DocumentationTests {
    private static let pages: [String] = {
        let docs = (try? FileManager.default.contentsOfDirectory(atPath: "\(Program.checkout)/docs")) ?? []
        return ["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
    }()

    /// Runs a program of Tests/Docs with the built `ferry`.
    private func script(_ name: String, _ arguments: [String]) async throws -> Program.Result {
        try await Program("/usr/bin/env").start(["python3", "\(Program.checkout)/Tests/Docs/\(name)"] + arguments).end()
    }

    @Test("What a page shows runs, and prints what the page says", .needs("python3", "curl"), arguments: pages)
    func page(_ page: String) async throws {
        let result = try await script("run.py", [Program.ferry, "\(Program.checkout)/\(page)"])
        #expect(
            result.status == 0,
            "Tests/Docs/run.py --write \(Program.ferry) \(page) puts the output into the page.\n\(result.output)\(result.errors)")
        if result.output.hasPrefix("NOT TESTED") { print(result.output) }
    }

    @Test(
        "Other pages name commands, options and files that there are", .needs("python3"),
        arguments: ["CONTRIBUTING.md", "SECURITY.md", "Examples/README.md"])
    func words(_ page: String) async throws {
        let result = try await script("run.py", ["--look", Program.ferry, "\(Program.checkout)/\(page)"])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test("The reference is what the program says", .needs("python3"))
    func reference() async throws {
        let result = try await script("reference.py", [Program.ferry])
        #expect(result.status == 0, "\(result.errors)")
        let page = try String(contentsOfFile: "\(Program.checkout)/docs/reference.md", encoding: .utf8)
        let isCurrent = page == result.output
        #expect(
            isCurrent, "docs/reference.md is not current: python3 Tests/Docs/reference.py \(Program.ferry) >docs/reference.md")
    }

    @Test("README.md is read in some minutes: it has at most 200 lines")
    func length() throws {
        let page = try String(contentsOfFile: "\(Program.checkout)/README.md", encoding: .utf8)
        #expect(page.split(separator: "\n", omittingEmptySubsequences: false).count <= 201)
    }

    @Test("The words behind a page's ferry are looked up in the program", .needs("python3"))
    func wrongWords() async throws {
        let folder = TemporaryFolder()
        let page =
            "```console\n$ ferry uplaod --to x\n$ ferry upload --too x | ferry status --json\n```\n`ferry pause --spool s` [there](is-none.md)\n"
        try Data(page.utf8).write(to: URL(fileURLWithPath: folder("page.md")))
        let result = try await script("run.py", ["--look", Program.ferry, folder("page.md")])
        #expect(result.status == 1)
        let lines = result.output.split(separator: "\n").map { $0.replacingOccurrences(of: folder("page.md"), with: "page.md") }
        #expect(
            lines == [
                "page.md:2: there is no command 'ferry uplaod'", "page.md:2: 'ferry upload' has no option --too",
                "page.md:5: there is no is-none.md",
            ])
    }

    @Test("Output that differs is found, and --write puts it into the page", .needs("python3"))
    func differingOutput() async throws {
        let folder = TemporaryFolder()
        let page = """
            ```yaml events.jsonl
            {"n":1}
            ```
            ```console run
            $ ferry write events.jsonl
            ferry: made the spool ./spool
            wrote 2 events in 1 segment to ./spool
            $ ls spool
            5-20261127T065406.186Z-cx7fx24dwhua8gui.jsonl.gz
            ```

            """
        try Data(page.utf8).write(to: URL(fileURLWithPath: folder("page.md")))
        let result = try await script("run.py", ["--write", Program.ferry, folder("page.md")])
        #expect(result.status == 1)
        #expect(
            result.output.contains(
                "page.md:6: 'ferry write events.jsonl' prints\nferry: made the spool ./spool\nwrote 1 event in 1 segment to ./spool\nand the page says"
            ))
        let written = try String(contentsOfFile: folder("page.md"), encoding: .utf8)
        #expect(written.contains("\nwrote 1 event in 1 segment to ./spool\n$ ls spool\n5-"))
        #expect(try await script("run.py", [Program.ferry, folder("page.md")]).status == 0)
    }
}
