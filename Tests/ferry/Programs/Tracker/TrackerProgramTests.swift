import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Programs that track", .serialized)
struct TrackerProgramTests {
    private let folder = TemporaryFolder()

    private static let host: String = Program.built("tracker-host")

    private func host(_ arguments: String...) throws -> Running { try Program(Self.host).start(arguments) }

    /// Everything that is in the spool, journals of the dead included.
    private func events() async throws -> [[String: Any]] {
        let spool = try Spool.open(folder("spool"), access: .write)
        _ = try spool.housekeeping.recover()
        return try spool.events(in: [.pending]).map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private func key(_ event: [String: Any]) -> String {
        let properties = event["properties"] as? [String: Any] ?? [:]
        return ["process", "thread", "event"].map { "\(properties[$0] ?? "?")" }.joined(separator: " ")
    }

    @Test("Killed between any two calls: no event is lost that track returned for, and none is there twice")
    func kills() async throws {
        var random = Seeded(seed: UInt64(getpid()))
        var returned: Set<String> = []
        // More rounds, and later kills, where programs wait for a processor.
        for round in 0..<150 where round < 15 || returned.count <= 100 {
            // So many that a kill comes between, and not more when this test has to wait for a processor.
            let running = try host("count", folder("spool"), "2000", "3")
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...150 * (1 + round / 15), using: &random)))
            running.send(SIGKILL)
            returned.formUnion(
                await running.end().output.split(separator: "\n", omittingEmptySubsequences: true).map(String.init))
        }
        #expect(returned.count > 100)
        #expect(!returned.contains { $0.hasPrefix("failed") })
        let stored = try await events().map(key)
        #expect(Set(stored).count == stored.count)
        #expect(returned.subtracting(stored).isEmpty)
        // One that was killed before its first event was written is left alone for a minute, as its writer may live.
        let spool = try Spool.open(folder("spool"), access: .read)
        let journals = try spool.directory.names().filter { $0.hasSuffix(".open") }
        #expect(try journals.allSatisfy { try spool.directory.status($0)?.size == .zero })
    }

    @Test("A limit of the size of files that the ledger's reserve has no room in ends no program")
    func fileSizeLimit() async throws {
        let script = "ulimit -f 16; exec \"$0\" count \"$1\" 10"
        let tracked = try await Program("/bin/bash").run("-c", script, Self.host, folder("spool"))
        #expect(tracked.status == 0)
        #expect(tracked.output.split(separator: "\n").count == 10)
    }

    @Test("Four processes with ten threads each share a spool, while it is uploaded")
    func processes() async throws {
        let hub = try await Hub(folder("hub"))
        let hosts = try (0..<4).map { _ in try host("count", folder("spool"), "150", "10") }
        for _ in 0..<3 { _ = try await Program().run("upload", "--to", hub.url, "--spool", folder("spool")) }
        var told: [String] = []
        for host in hosts { told += await host.end().output.split(separator: "\n").map(String.init) }
        #expect(told.count == 6000)
        let last = try await Program().run("upload", "--to", hub.url, "--spool", folder("spool"))
        #expect(last.status == 0)
        hub.running.send(SIGTERM)
        _ = await hub.running.end()
        let arrived = try Spool.open(folder("hub"), access: .read).events(in: [.pending]).map {
            key(try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]))
        }
        #expect(arrived.sorted() == told.sorted())
    }

    @Test("SIGTERM and SIGINT publish everything, and end the process as they would have", arguments: [SIGTERM, SIGINT])
    func termination(_ signal: Int32) async throws {
        let running = try host("wait", folder("spool"))
        _ = try await running.waitFor("tracked")
        running.send(signal)
        #expect(await running.end().status == signal)
        let spool = try Spool.open(folder("spool"), access: .read)
        #expect(try spool.scan().openJournals == 0)
        #expect(try spool.events(in: [.pending]).count == 10)
    }

    @Test(
        "A crash is a critical event at the next start", arguments: [("crash", SIGSEGV), ("abort", SIGABRT), ("trap", SIGTRAP)])
    func crashes(_ mode: String, _ signal: Int32) async throws {
        let crashed = await
            (try Program(Self.host, environment: ["SWIFT_BACKTRACE": "enable=no"]).start([mode, folder("spool")])).end()
        #expect(crashed.status == signal || crashed.status == SIGILL)
        #expect(await (try host("report", folder("spool"))).end().status == 0)
        let events = try await events()
        #expect(events.map { $0["name"] as? String } == ["$AppCrashed", "before"])
        let properties = try #require(events[0]["properties"] as? [String: Any])
        #expect((properties["$signal"] as? String)?.hasPrefix("SIG") == true)
        #expect((properties["$backtrace"] as? [String] ?? []).contains { $0.contains("tracker-host") })
        #expect(events[0]["session"] as? String == crashed.output.trimmingCharacters(in: .whitespacesAndNewlines))
        #expect(events[0]["session"] as? String == events[1]["session"] as? String)
        #expect((events[0]["device"] as? [String: Any])?["appVersion"] as? String == "1.2.3")
        if mode == "crash" { #expect(properties["$address"] as? String == "0x10") }
        // Told once.
        #expect(await (try host("report", folder("spool"))).end().status == 0)
        #expect(try await self.events().count == 2)
    }

    @Test("A fork must open a tracker of its own; the parent's goes on")
    func fork() async throws {
        let result = await (try host("fork", folder("spool"))).end()
        #expect(result.status == 0)
        #expect(result.output.contains("the process was forked"))
        #expect(try await events().map { $0["name"] as? String } == ["parent", "parent again"])
    }

    @Test("A full disk, a read-only one, one that is gone: errors, no crash, and what was stored before is whole")
    func disks() async throws {
        let path = folder("m")
        let shell = Program("/bin/sh")
        guard folder.mount("size=1m") else { return }
        // Several times, so that the disk is full in the middle of a line: that one must not be in the way of the next.
        for round in 0..<4 {
            #expect(
                try await shell.run("-c", "rm -rf \(path)/spool; mount -o remount,size=\(128 + round * 4)k \(path)").status == 0)
            let full = await (try host("count", path + "/spool", "2000")).end()
            let lines = full.output.split(separator: "\n")
            #expect(lines.contains { $0.contains("No space left") })
            let returned = Set(lines.filter { !$0.hasPrefix("failed") }.map(String.init))
            // With some room again, the next who opens the spool publishes what is in the journals.
            #expect(try await shell.run("-c", "mount -o remount,size=4m \(path)").status == 0)
            let spool = try Spool.open(path + "/spool", access: .write)
            #expect(try spool.housekeeping.recover().problems.isEmpty)
            let stored = try spool.events(in: [.pending]).map {
                key(try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]))
            }
            #expect(returned.count > 10)
            #expect(Set(stored) == returned)
            #expect(stored.count == returned.count)
        }
        #expect(try await shell.run("-c", "mount -o remount,ro \(path)").status == 0)
        let readOnly = await (try host("count", path + "/spool", "10")).end()
        #expect(
            readOnly.output.split(separator: "\n").count { $0.hasPrefix("failed") && $0.contains("Read-only file system") } == 10)
    }

    private static let library = Program.built("libferrytracker.so")

    /// The names of the events that a hub holds.
    private func names(at hub: Hub) throws -> [String] {
        try Spool.open(hub.spool, access: .read).events(in: [.pending]).map {
            let event = try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            return try #require(event["name"] as? String)
        }
    }

    @Test("Every call of ferry.py", .needs("python3"))
    func python() async throws {
        let hub = try await Hub(folder("hub"))
        let python = Program(
            "/usr/bin/env",
            environment: [
                "PYTHONPATH": "\(Program.checkout)/Sources/PyFerry", "FERRY_LIBRARY": Self.library,
                "PYTHONDONTWRITEBYTECODE": "1",
            ])
        let result = try await python.run("python3", "\(Program.checkout)/Examples/Python/track.py", folder("spool"), hub.url)
        await hub.stop()
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("InvalidError: 'batch_event' is no option; there are profile, ") == true)
        #expect(lines.contains { $0.hasPrefix("FileError: cannot ") && $0.contains("/proc/none") })
        #expect(lines.contains("InvalidError: there is no timer 'job'; start it first"))
        #expect(Set(try names(at: hub)) == ["disk failed", "export finished", "job", "app", "$SessionStart"])
        let sent = try Spool.open(folder("spool"), access: .read).events(in: [.sent])
        let pending = try Spool.open(folder("spool"), access: .read).events(in: [.pending])
        #expect(pending.contains { $0.contains("closed at the end of the program") })
        let finished = try #require(sent.first { $0.contains("export finished") })
        let event = try #require(try JSONSerialization.jsonObject(with: Data(finished.utf8)) as? [String: Any])
        #expect(
            event["properties"] as? NSDictionary == [
                "rows": 1200, "format": "csv", "took": 3.5, "partial": false, "tags": ["a", "ü"], "host": "py",
            ])
        #expect((event["device"] as? [String: Any])?["app"] as? String == "nightly export")
    }

    @Test("Every function of ferry.h, from C", .needs("cc"))
    func fromC() async throws {
        let compiled = try await Program(try #require(Program.find("cc"))).run(
            "-Wall", "-Wextra", "-Werror", "-I", "\(Program.checkout)/Sources/CFerry/include",
            "\(Program.checkout)/Examples/C/track.c", Self.library,
            "-Wl,-rpath,\((Self.library as NSString).deletingLastPathComponent)",
            "-o", folder("track"))
        #expect(compiled.status == 0, "\(compiled.errors)")
        let hub = try await Hub(folder("hub"))
        let result = try await Program(folder("track")).run(folder("spool"), hub.url)
        await hub.stop()
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(lines[0].hasPrefix("the options: 'batchEvent' is no option; there are profile, "))
        #expect(lines[1] == "an interval of -1 s is not between 6 s and 86400 s")
        #expect(lines[2].hasPrefix("cannot "))
        #expect(lines[2].contains("/proc/none"))
        #expect(lines[3] == "there is no timer 'job'; start it first")
        #expect(lines[4] == "the properties are no JSON object: [1]")
        #expect(lines.contains("nothing says where to send: ferry_start_sending first"))
        #expect(lines.contains("the options: 'to' is missing: where to send"))
        // The second part of the program sends what the first one left.
        #expect(Set(try names(at: hub)) == ["last", "no session", "job", "sent from c", "$AppStartPassively"])
        let sent = try Spool.open(hub.spool, access: .read).events(in: [.pending]).map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let job = try #require(sent.first { $0["name"] as? String == "job" })
        #expect(job["session"] is String)
        #expect(job["user"] as? String == "ada")
        #expect((job["properties"] as? [String: Any])?["plan"] as? String == "free")
        #expect(sent.first { $0["name"] as? String == "no session" }?["session"] is String == false)
        #expect(
            (sent.first { $0["name"] as? String == "sent from c" }?["properties"] as? [String: Any])?["host"] as? String == "c")
    }
}
