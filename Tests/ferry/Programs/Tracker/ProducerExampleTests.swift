import FerrySpool
import Foundation
import TestSupport
import Testing

/// The programs in Examples to begin with. Examples/C/track.c and Examples/Python/track.py run in TrackerProgramTests, those that fork in ForkTests.
@Suite("Producers and trackers to begin with")
struct ProducerExampleTests {
    private let folder = TemporaryFolder()

    /// Looks at a spool as a user would, and returns the lines of its events.
    private func events(in spool: String) async throws -> [String] {
        let verify = try await Program().run("verify", "--spool", spool)
        #expect(verify.status == 0, "\(verify.errors)")
        let spool = try Spool.open(spool, access: .read)
        #expect(try spool.pending().allSatisfy { SegmentName($0) != nil })
        return try spool.events(in: [.pending])
    }

    @Test(
        "A producer in shell or Python, as spool/README.md has it, publishes a segment", .needs("python3"),
        arguments: [("sh", "Shell/produce.sh"), ("python3", "Python/produce.py")])
    func script(interpreter: String, path: String) async throws {
        let spool = folder("spool")
        _ = try Spool.open(spool, access: .create)
        let program = Program(try #require(Program.find(interpreter)), environment: ["SPOOL": spool])
        let result = try await program.run("\(Program.checkout)/Examples/\(path)", input: "{\"n\":1}\n{\"n\":2}\n")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await events(in: spool) == ["{\"n\":1}", "{\"n\":2}"])
        // The page shows the same lines; a file has some before them that say how it is called, and what it guarantees.
        let page = try String(contentsOfFile: "\(Program.checkout)/spool/README.md", encoding: .utf8)
        let file = try String(contentsOfFile: "\(Program.checkout)/Examples/\(path)", encoding: .utf8)
        let lines = file.split(separator: "\n").drop { !$0.hasPrefix("set ") && !$0.hasPrefix("import ") }
        #expect(page.contains(lines.joined(separator: "\n")))
    }

    /// Runs a producer that reads JSON lines, and looks at what it has published.
    private func publishes(_ path: String, _ arguments: [String] = []) async throws {
        let spool = folder("spool")
        _ = try Spool.open(spool, access: .create)
        let program = Program(path, environment: ["SPOOL": spool])
        let result = try await program.start(arguments, input: "{\"n\":1}\n{\"n\":2}\n").end()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await events(in: spool) == ["{\"n\":1}", "{\"n\":2}"])
        let names = try Directory.open(spool).names()
        #expect(!names.contains { $0.hasSuffix(".tmp") }, "\(names)")
    }

    @Test("A producer in Node publishes a segment", .needs("node"))
    func node() async throws {
        try await publishes(try #require(Program.find("node")), ["\(Program.checkout)/Examples/Node/produce.mjs"])
    }

    @Test("A producer in Go publishes a segment", .needs("go"))
    func goProducer() async throws {
        let built = try await Program(
            try #require(Program.find("go")),
            environment: ["GOCACHE": folder("cache"), "GOFLAGS": "-mod=mod", "HOME": folder.path]
        ).run("build", "-o", folder("produce"), "\(Program.checkout)/Examples/Go/produce.go")
        #expect(built.status == 0, "\(built.errors)")
        try await publishes(folder("produce"))
    }

    @Test("A producer in Rust publishes a segment", .needs("rustc"))
    func rust() async throws {
        let built = try await Program(try #require(Program.find("rustc"))).run(
            "-o", folder("produce"), "\(Program.checkout)/Examples/Rust/produce.rs")
        #expect(built.status == 0, "\(built.errors)")
        try await publishes(folder("produce"))
    }

    @Test("A producer in Python with a journal publishes when it is full, and loses nothing when it is killed", .needs("python3"))
    func rolling() async throws {
        let spool = folder("spool")
        _ = try Spool.open(spool, access: .create)
        let python = Program(try #require(Program.find("python3")), environment: ["SPOOL": spool])
        let path = "\(Program.checkout)/Examples/Python/roll.py"
        let whole = try await python.run(path, input: (1...2500).map { "\($0)\n" }.joined())
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(try await events(in: spool).count == 2500)
        let killed = """
            import os, runpy, signal
            spool = runpy.run_path("\(path)")["Spool"]("\(spool)")
            for n in range(5): spool.event({"last": n})
            os.kill(os.getpid(), signal.SIGKILL)
            """
        #expect(try await python.run("-c", killed).status == SIGKILL)
        _ = try await Program().run("write", "--spool", spool)
        #expect(try await events(in: spool).suffix(5) == (0..<5).map { "{\"last\":\($0)}" })
    }

    @Test("A producer in Swift makes segments of at most 1,000 events, in the order of its input")
    func swiftProducer() async throws {
        let input = (1...2500).map { "line \"\($0)\"\n" }.joined()
        let result = try await Program(Program.built("example-producer")).run(folder("spool"), input: input)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.split(separator: "\n").count == 3)
        let texts = try await events(in: folder("spool")).map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])["text"] as? String
        }
        #expect(texts == (1...2500).map { "line \"\($0)\"" })
    }

    @Test("A tracker in Swift sends what it recorded, the critical event first")
    func swiftTracker() async throws {
        let hub = try await Hub(folder("hub"))
        let result = try await Program(Program.built("example-tracker")).run(folder("spool"), hub.url)
        await hub.stop()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "sent everything\n")
        let names = try await events(in: hub.spool).map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])["name"] as? String
        }
        #expect(names.first == "disk nearly full")
        #expect(Set(names).isSuperset(of: ["table exported", "export"]))
    }
}
