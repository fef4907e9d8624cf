import FerrySpool
import TestSupport
import Testing

@Suite("A spool that holds what no program of Ferry's writes")
struct HostileSpoolTests {
    private let folder = TemporaryFolder()
    private let program = Program()

    /// Names, sizes, notes and sidecars that are out of all reason, and one sound segment.
    private func fill() throws -> Spool {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{\"n\":1}\n"))
        // RFC 1952's extra field with a subfield FY: 2^62 events and bytes in a member of 26.
        let header: [UInt8] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 29, 0, 0x46, 0x59, 25, 0, 1]
        let number: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0x40]
        for second in 1...3 {
            let note = number + number + [57, 0, 0, 0, 0, 0, 0, 0]
            let member = header + note + [3, 0] + [UInt8](repeating: 0, count: 14)
            try spool.put(member, as: Segments.name(second: second))
        }
        let state = "2026-11-21T03:15:02.123Z"
        let name = try spool.put(Segments.gzip("{\"n\":2}\n"), as: Segments.name(second: 4))
        let sidecar = """
            {"attempts":9223372036854775807,"failures":9223372036854775807,"firstAttemptAt":"\(state)","lastAttemptAt":"\(state)",
            "lastError":{"kind":"x","message":"","scope":"segment"},"nextAttemptAt":"\(state)","version":1}
            """
        try spool.directory.replace("\(name).retry.json", with: Array(sidecar.utf8), durable: false)
        let clock = "{\"bootID\":\"x\",\"sinceBoot\":-9223372036854775808,\"wall\":\"\(state)\"}"
        try spool.directory.replace(".ferry/clock.json", with: Array(clock.utf8), durable: false)
        let long = String(repeating: "n", count: 246) + ".jsonl.gz"
        for name in [long, "5-20261121T031502.123456Z-8f3k2m9qx7wd4t1c.jsonl.gz"] {
            try spool.directory.replace(name, with: Segments.gzip("{\"n\":3}\n"), durable: false)
        }
        return spool
    }

    @Test(
        "Every command that looks ends by itself, not by a signal",
        arguments: [
            ["status"], ["status", "--json"], ["list"], ["list", "--json"], ["cat"], ["verify"], ["verify", "--json"],
            ["upload", "--dry-run", "--to", "http://127.0.0.1:9/"],
            ["prune", "--max-spool-bytes", "1MB", "--max-spool-age", "1d"],
        ])
    func looks(arguments: [String]) async throws {
        let spool = try fill()
        let result = try await program.start(arguments + ["--spool", spool.path]).end()
        #expect(result.status < 128, "\(result.errors)")
        #expect(!result.errors.contains("Fatal error"))
    }

    @Test(
        "Names of files, and texts of earlier answers, cannot command the terminal of a person who looks",
        arguments: [
            ["status"], ["status", "--json"], ["list"], ["list", "--json"], ["verify"], ["verify", "--json"],
            ["upload", "--dry-run", "--to", "http://127.0.0.1:9/"], ["prune", "--max-spool-bytes", "1MB"],
            ["upload", "--to", "http://127.0.0.1:9/"], ["retry", "bad\u{1b}[2J\u{202e}.jsonl.gz"],
        ])
    func terminal(arguments: [String]) async throws {
        let spool = try folder.spool()
        let evil = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\n\r"
        for name in [
            "b\u{9b}2J\u{202e}.jsonl.gz", "a\(evil).jsonl.gz", "\(evil).json", "5-20261121T031502.123456Z-\(evil).jsonl.gz",
        ] {
            try spool.directory.replace(name, with: Array("no gzip".utf8), durable: false)
        }
        let name = try spool.put(Segments.gzip("{}\n"))
        let moment = "2026-11-21T03:15:02.123Z"
        let state = """
            {"attempts":1,"failures":1,"firstAttemptAt":"\(moment)","lastAttemptAt":"\(moment)","lastError":{"kind":"status",
            "message":\("HTTP 503: \(evil)".jsonQuoted),"scope":"segment"},"nextAttemptAt":"\(moment)","version":1}
            """
        for file in ["\(name).retry.json", ".ferry/destination-x.json"] {
            try spool.directory.replace(file, with: Array(state.utf8), durable: false)
        }
        let result = try await program.start(arguments + ["--spool", spool.path]).end()
        let told = result.output + result.errors
        #expect(!told.isEmpty)
        let commands = told.unicodeScalars.filter {
            $0 != "\n" && $0 != "\t" && $0.properties.generalCategory == .control || $0 == "\u{202e}"
        }
        #expect(commands.isEmpty, "\(told.debugDescription)")
        if arguments == ["list"] { #expect(told.contains("b\\u009b2J\\u202e.jsonl.gz")) }
    }

    @Test("status, verify and upload name what is nearly of the format, and why", arguments: ["status", "verify", "upload"])
    func flawedNames(command: String) async throws {
        let spool = try fill()
        let to = command == "upload" ? ["--to", "http://127.0.0.1:9/"] : []
        let result = try await program.start([command, "--spool", spool.path] + to).end()
        let told = result.output + result.errors
        #expect(told.contains("5-20261121T031502.123456Z-8f3k2m9qx7wd4t1c.jsonl.gz"))
        #expect(told.contains("3 digits behind the point, not 6"))
    }

    @Test("Of what lies in rejected/, only segments come back; the rest is named and stays")
    func retryAll() async throws {
        let spool = try folder.spool()
        let rejected = try spool.directory.makeDirectory("rejected")
        for name in ["README.txt", "a.tar", "b.json.gz"] { _ = try rejected.create(name) }
        let all = try await program.run("retry", "--all", "--spool", spool.path)
        #expect(all.status == 0, "\(all.errors)")
        #expect(all.errors.contains("README.txt stays in rejected/"), "\(all.errors)")
        #expect(try spool.pending() == ["b.json.gz"])
        #expect(try rejected.names() == ["README.txt", "a.tar"])
        let one = try await program.run("retry", "a.tar", "--spool", spool.path)
        #expect(one.status == 65)
    }

    @Test("Where rejected/ is another mount, what is to be rejected stays, the rest leaves, and the ledger says nothing of it")
    func rejectedElsewhere() async throws {
        let spool = try folder.spool()
        _ = try spool.directory.makeDirectory("rejected")
        let mounted = try await Program("/bin/sh").run("-c", "mount --bind \"$0\" \"$0\"", folder("spool/rejected"))
        guard mounted.status == 0 else { return print("NOT TESTED: mounting is not allowed here") }
        let bad = try spool.put(Segments.gzip("{\n"), as: Segments.name(second: 1))
        try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 2))
        let hub = try await Hub(folder("hub"))
        let upload = try await program.run("upload", "--spool", spool.path, "--to", hub.url)
        await hub.stop()
        #expect(upload.status == 74, "\(upload.output) \(upload.errors)")
        #expect(upload.output.contains("sent 1 segment"), "\(upload.output)")
        #expect(upload.errors.contains("it must lie on the spool's own file system"), "\(upload.errors)")
        #expect(try spool.pending() == [bad])
        #expect(try spool.ledger.totals()[.rejected].segments == 0)
    }
}
