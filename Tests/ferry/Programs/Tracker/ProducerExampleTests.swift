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
        // The page shows the same lines; a file has a line or two before them that say how it is called.
        let page = try String(contentsOfFile: "\(Program.checkout)/spool/README.md", encoding: .utf8)
        let file = try String(contentsOfFile: "\(Program.checkout)/Examples/\(path)", encoding: .utf8)
        let lines = file.split(separator: "\n").drop { $0.hasPrefix("#") || $0.hasPrefix("\"\"\"") }
        #expect(page.contains(lines.joined(separator: "\n")))
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
