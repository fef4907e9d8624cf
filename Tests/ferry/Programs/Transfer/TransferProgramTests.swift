import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Segments that travel by hand, by rsync and through relays")
struct TransferProgramTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    private func write(_ spool: String, _ count: Int) async throws {
        let written = try await ferry.run(
            "write", "--create", "--spool", folder(spool), "--roll-events", "10", input: Segments.lines(0..<count))
        #expect(written.status == 0, "\(written.errors)")
    }

    private func run(_ arguments: String...) async throws -> Program.Result { try await ferry.start(arguments).end() }

    private func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        return folder(name)
    }

    @Test("A receipt goes beside the bundle, however the bundle's path is written", arguments: ["", "/", "/.", "//./"])
    func receiptPlace(ending: String) async throws {
        let stick = folder("stick")
        _ = try makeFolder("stick")
        try await write("spool", 1)
        #expect(try await run("init", folder("hub")).status == 0)
        #expect(try await run("export", stick, "--spool", folder("spool")).status == 0)
        let bundle = try #require(try FileManager.default.contentsOfDirectory(atPath: stick).first)
        #expect(try await run("import", "\(stick)/\(bundle)\(ending)", "--spool", folder("hub")).status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stick).count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(stick)/\(bundle)").allSatisfy { !$0.contains("receipt") })
    }

    @Test("Keys, a signed and encrypted bundle, the hub's receipt: the whole way with the commands", arguments: [false, true])
    func tour(_ asTar: Bool) async throws {
        try await write("spool", 100)
        let stick = try makeFolder("stick")
        for name in ["site", "hub"] { #expect(try await run("keygen", folder(name)).status == 0) }
        #expect(try await run("keygen", folder("site")).status == 74, "a key is never overwritten")
        for (there, other) in [("pub", "key"), ("key", "pub")] {
            try FileManager.default.moveItem(atPath: folder("site.\(other)"), toPath: folder("kept"))
            #expect(try await run("keygen", folder("site")).status == 74, "there is a .\(there)")
            #expect(access(folder("site.\(other)"), F_OK) != 0, "a half that belongs to no other")
            try FileManager.default.moveItem(atPath: folder("kept"), toPath: folder("site.\(other)"))
        }
        let export = try await ferry.start(
            ["export", stick, "--spool", folder("spool"), "--sign", folder("site.key"), "--encrypt-to", folder("hub.pub")]
                + (asTar ? ["--tar"] : [])
        ).end()
        #expect(export.status == 0, "\(export.errors)")
        #expect(export.output.hasPrefix("exported 10 segments"), "\(export.errors)")
        #expect(try await run("list", "--spool", folder("spool")).output.contains("travels in the bundle"))
        let locked = try await run("import", stick, "--spool", folder("rx"))
        #expect(locked.status == 65, "\(locked.errors)")
        #expect(locked.errors.contains("--key"), "\(locked.errors)")
        let wrong = try await run(
            "import", stick, "--spool", folder("rx"), "--from", folder("hub.pub"), "--key", folder("hub.key"))
        #expect(wrong.status == 65, "\(wrong.errors)")
        #expect(wrong.errors.contains("signature"), "\(wrong.errors)")
        #expect(access(folder("rx"), F_OK) != 0, "nothing was taken, and no spool made for it")
        let taken = try await run(
            "import", stick, "--spool", folder("rx"), "--from", folder("site.pub"), "--key", folder("hub.key"))
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(taken.output.hasPrefix("took 10 segments"), "\(taken.errors)")
        let receipt = try #require(
            try FileManager.default.contentsOfDirectory(atPath: stick).first { $0.hasPrefix("ferry-receipt-") })
        let done = try await run("acknowledge", "\(stick)/\(receipt)", "--spool", folder("spool"), "--from", folder("hub.pub"))
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.output.hasPrefix("acknowledged 10 segments"), "\(done.errors)")
        #expect(try await run("cat", "--spool", folder("rx")).output == Segments.lines(0..<100))
        #expect(try await run("status", "--spool", folder("spool")).output.contains("nothing is pending"))
    }

    @Test("A disabled hub takes nothing from a bundle, which stays as it is, and says so")
    func disabledHub() async throws {
        try await write("spool", 10)
        let stick = try makeFolder("stick")
        #expect(try await run("export", stick, "--spool", folder("spool")).status == 0)
        #expect(try await run("init", folder("hub")).status == 0)
        #expect(try await run("disable", "--spool", folder("hub")).status == 0)
        let taken = try await run("import", stick, "--spool", folder("hub"))
        #expect(taken.status == 69)
        #expect(taken.errors.contains("ferry enable"))
        #expect(try Spool.open(folder("hub"), access: .read).pending().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stick).count == 1)
        #expect(try await run("enable", "--spool", folder("hub")).status == 0)
        #expect(try await run("import", stick, "--spool", folder("hub")).status == 0)
    }

    @Test("A mistyped path leaves no replay behind")
    func mistypedReplay() async throws {
        let replay = try await run(
            "replay", folder("nothere"), "--to", "http://127.0.0.1:9/v1/segments", "--state", folder("state"))
        #expect(replay.status == 74)
        #expect(replay.errors.contains("nothere"))
        #expect(!replay.errors.contains("--resume"))
        #expect(!FileManager.default.fileExists(atPath: folder("state")))
    }

    @Test("A full stick, and one that is gone: one line, nothing marked, the spool as it was")
    func fullStick() async throws {
        try await write("spool", 10)
        let spool = try Spool.open(folder("spool"), access: .write)
        try spool.put(Segments.gzip(Segments.noise(2_000_000)), as: Segments.name(9, second: 1))
        let before = try spool.pending()
        let gone = try await run("export", folder("nowhere"), "--spool", folder("spool"))
        #expect(gone.status == 74, "\(gone.errors)")
        #expect(gone.errors.split(separator: "\n").count == 1, "\(gone.errors)")
        let stick = try makeFolder("stick")
        if folder.mount("size=512k", at: "stick") {
            for form in [[], ["--tar"]] {
                let full = try await ferry.start(["export", stick, "--spool", folder("spool")] + form).end()
                #expect(full.status == 73, "\(full.errors)")
                #expect(full.errors.contains("No space left"), "\(full.errors)")
                // What was written takes no room from the next, smaller one.
                #expect(try FileManager.default.contentsOfDirectory(atPath: stick).isEmpty)
                let small = try await ferry.start(
                    ["export", stick, "--spool", folder("spool"), "--max-bytes", "100kB", "--json"] + form
                ).end()
                #expect(small.status == 75, "\(small.errors)")
                #expect(small.output.contains("\"segments\":1"), "\(small.output)")
                for mark in try spool.exports.marks() {
                    #expect(try await run("export", "--forget", mark.bundle, "--spool", folder("spool")).status == 0)
                }
                for name in try FileManager.default.contentsOfDirectory(atPath: stick) {
                    try FileManager.default.removeItem(atPath: "\(stick)/\(name)")
                }
            }
        }
        #expect(try spool.exports.marks().isEmpty)
        #expect(try spool.pending() == before)
    }

    @Test("With few files allowed an import takes all of many bundles, and all of a large one")
    func fewFiles() async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        let stick = try makeFolder("stick")
        for bundle in 0..<50 {
            for second in 0..<(bundle == 25 ? 100 : 1) {
                try spool.put(Segments.gzip("{\"n\":\(bundle),\"m\":\(second)}\n"), as: Segments.name(second: second))
            }
            #expect(try await run("export", stick, "--spool", spool.path).status == 0)
        }
        // The hub has had them before, some days ago.
        let hub = try Spool.open(folder("hub"), access: .create)
        for day in 1...28 { _ = try makeFolder("hub/sent/2026-10-\(day < 10 ? "0" : "")\(day)") }
        for round in 0..<2 {
            let script = "ulimit -n 40; exec \"$FERRY\" import \"$DIR/stick\" --spool \"$DIR/hub\" --json"
            let taken = try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
            #expect(taken.status == 0, "\(taken.errors)")
            #expect(taken.output.split(separator: "\n").count == 50)
            #expect(taken.output.contains(round == 0 ? "\"stored\":100" : "\"known\":100"))
            if round == 0 { #expect(try hub.pending().sorted() == spool.pending().sorted()) }
            for name in try hub.pending() {
                #expect(rename("\(hub.path)/\(name)", "\(hub.path)/sent/2026-10-01/\(name)") == 0)
            }
        }
        #expect(try hub.pending().isEmpty)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: hub.path).contains { $0.hasSuffix(".ferry-in") })
    }

    @Test("A hub whose disk is full while it imports: what was logged is there, and after all of it every segment is, once")
    func fullHub() async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        for second in 0..<300 {
            try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second))
        }
        let stick = try makeFolder("stick")
        #expect(try await run("export", stick, "--spool", spool.path).status == 0)
        // The log of keys grows to some 80 kB; a limit for files of 20 kB is a disk that fills within it.
        let script =
            "trap '' XFSZ; ulimit -f 40; exec \"$FERRY\" import \"$DIR/stick\" --spool \"$DIR/hub\""
        let full = try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
        #expect(full.status == 73, "\(full.errors)")
        #expect(full.errors.contains("import again") || full.errors.contains("nothing is taken"), "\(full.errors)")
        let receipts = try FileManager.default.contentsOfDirectory(atPath: stick).filter { $0.hasPrefix("ferry-receipt-") }
        let early = try receipts.map { try String(contentsOfFile: "\(stick)/\($0)", encoding: .utf8) }.joined()
        let kept = try Set(Spool.open(folder("hub"), access: .read).pending())
        #expect(
            early.components(separatedBy: "\"name\":\"").dropFirst().allSatisfy {
                kept.contains(String($0.prefix { $0 != "\"" }))
            })
        let again = try await run("import", stick, "--spool", folder("hub"))
        #expect(again.status == 0, "\(again.errors)")
        let hub = try Spool.open(folder("hub"), access: .read)
        #expect(try hub.pending() == spool.pending())
        #expect(try hub.directory.names().filter { $0.hasSuffix(".ferry-in") }.isEmpty)
        let receipt = try #require(
            try FileManager.default.contentsOfDirectory(atPath: stick).first { $0.hasPrefix("ferry-receipt-") })
        let done = try await run("acknowledge", "\(stick)/\(receipt)", "--spool", spool.path)
        #expect(done.output.hasPrefix("acknowledged 300 segments"), "\(done.output)\(done.errors)")
    }

    @Test("A hub whose disk has no room for the third segment keeps the first two, and vouches for them")
    func thirdDoesNotFit() async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        try spool.put(Segments.gzip("1\n"), as: Segments.name(second: 1))
        try spool.put(Segments.gzip("2\n"), as: Segments.name(second: 2))
        try spool.put(Segments.gzip(Segments.noise(200_000)), as: Segments.name(second: 3))
        let stick = try makeFolder("stick")
        #expect(try await run("export", stick, "--spool", spool.path).status == 0)
        let script = "trap '' XFSZ; ulimit -f 100; exec \"$FERRY\" import \"$DIR/stick\" --spool \"$DIR/hub\""
        let full = try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
        #expect(full.status == 73, "\(full.errors)")
        #expect(full.errors.contains("1 segment not taken"), "\(full.errors)")
        #expect(full.output.contains("took 2 segments"), "\(full.output)")
        let hub = try Spool.open(folder("hub"), access: .read)
        #expect(try hub.pending() == Array(spool.pending().prefix(2)))
        #expect(try hub.directory.names().filter { $0.hasSuffix(".ferry-in") }.isEmpty)
        #expect(try await run("import", stick, "--spool", folder("hub")).status == 0)
        #expect(try hub.pending() == spool.pending())
    }

    @Test("Two hubs take one bundle, the second in part: what the first has is not due again")
    func twoHubs() async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        for second in 0..<3 { try spool.put(Segments.gzip("\(second)\n"), as: Segments.name(second: second)) }
        let stick = try makeFolder("stick")
        #expect(try await run("export", stick, "--spool", spool.path).status == 0)
        #expect(try await run("import", stick, "--spool", folder("first")).status == 0)
        let bundle = try #require(
            try FileManager.default.contentsOfDirectory(atPath: stick).first { $0.hasPrefix("ferry-bundle-") })
        try FileManager.default.removeItem(atPath: "\(stick)/\(bundle)/000002.gz")
        #expect(try await run("import", stick, "--spool", folder("second")).status == 65)
        let receipts = try FileManager.default.contentsOfDirectory(atPath: stick).filter { $0.hasPrefix("ferry-receipt-") }
        #expect(receipts.count == 2)
        let done = try await ferry.start(["acknowledge", "--spool", spool.path] + receipts.map { "\(stick)/\($0)" }).end()
        #expect(done.status == 0, "\(done.errors)")
        #expect(!done.output.contains("did not arrive"), "\(done.output)")
        #expect(try spool.pending().isEmpty)
        #expect(try spool.exports.marks().isEmpty)
    }

    @Test(
        "A stick that cannot be forced, at whichever call: nothing of the bundle stays on it, and nothing is marked",
        .needs("strace"),
        arguments: ["fsync", "syncfs"])
    func unforcedStick(_ call: String) async throws {
        let strace = try #require(Program.find("strace"))
        try await write("spool", 30)
        let spool = try Spool.open(folder("spool"), access: .write)
        var failures = 0
        while true {
            let stick = try makeFolder("stick-\(failures)")
            // -P: calls for the stick itself alone.
            let fault = ["-e", "trace=\(call)", "-e", "inject=\(call):error=EDQUOT:when=\(failures + 1)", "-P", stick]
            let result = try await Program(strace).start(
                ["-f", "-o", "/dev/null"] + fault + [Program.ferry, "export", stick, "--spool", folder("spool")]
            ).end()
            if result.status == 0 { break }
            #expect(result.status == 73, "\(result.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: stick) == [])
            #expect(try spool.exports.marks().isEmpty)
            failures += 1
            try #require(failures < 10)
        }
        #expect(failures > 0)
    }

    @Test("An export that is killed holds nothing up, and what travels by hand is told by status and upload")
    func killedExport() async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        for second in 0..<20 { try spool.put(Segments.gzip(Segments.noise(2_000_000)), as: Segments.name(second: second)) }
        let stick = try makeFolder("stick")
        let export = try ferry.start(["export", stick, "--spool", spool.path])
        try await eventually("an export under way") { try !spool.exports.segments().isEmpty }
        let during = try await run("status", "--spool", spool.path)
        export.send(SIGKILL)
        _ = await export.end()
        if during.output.contains("is being written") {
            #expect(during.output.contains("20 segments in bundle"), "\(during.output)")
        } else {
            print("NOT TESTED: the export was faster than this test")
        }
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        for mark in try spool.exports.marks() {
            #expect(try await run("export", "--forget", mark.bundle, "--spool", spool.path).status == 0)
        }
        let again = try await run("export", stick, "--spool", spool.path, "--max-bytes", "10MB")
        #expect(again.output.hasPrefix("exported 4 segments"), "\(again.output)\(again.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: stick).allSatisfy { !$0.hasSuffix(".part") })
        let mark = try #require(try spool.exports.marks().first)
        let upload = try await run("upload", "--spool", spool.path, "--to", server.url)
        #expect(upload.status == 0, "\(upload.errors)")
        #expect(upload.output.contains("4 travel in bundle \(mark.bundle) since \(mark.at.rfc3339)"), "\(upload.output)")
        let status = try await run("status", "--spool", spool.path)
        #expect(status.output.contains("4 segments in bundle \(mark.bundle) since \(mark.at.rfc3339)"), "\(status.output)")
    }

    @Test("A stick that is taken away while it is written: the export fails, and nothing is marked")
    func takenAway() async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        for second in 0..<40 { try spool.put(Segments.gzip(Segments.noise(2_000_000)), as: Segments.name(second: second)) }
        let stick = try makeFolder("stick")
        guard folder.mount("size=400m", at: "stick") else { return }
        let export = try ferry.start(["export", stick, "--spool", spool.path])
        var names: [String] = []
        while names.isEmpty {
            names = try FileManager.default.contentsOfDirectory(atPath: stick)
            try await Task.sleep(for: .milliseconds(1))
        }
        // Stopped while we take the stick away, so that it cannot be faster than us.
        export.send(SIGSTOP)
        let isUnfinished = try FileManager.default.contentsOfDirectory(atPath: stick).contains { $0.hasSuffix(".part") }
        folder.unmount("stick")
        export.send(SIGCONT)
        let end = await export.end()
        guard isUnfinished else { return print("NOT TESTED: the export was faster than this test") }
        #expect(end.status == 74, "\(end.output)\(end.errors)")
        #expect(end.errors.split(separator: "\n").count == 1, "\(end.output)\(end.errors)")
        #expect(try spool.exports.marks().isEmpty)
        #expect(try spool.pending().count == 40)
    }

    @Test("A stick with a FAT file system")
    func fat() async throws {
        let image = folder("fat.img")
        let stick = try makeFolder("stick")
        let mounted = try await Program("/bin/sh").run(
            "-c", "truncate -s 8M '\(image)' && mkfs.vfat '\(image)' >/dev/null && mount -o loop '\(image)' '\(stick)'")
        guard mounted.status == 0 else {
            print("NOT TESTED: a FAT file system cannot be mounted here: \(mounted.errors)")
            return
        }
        try await write("spool", 100)
        let export = try await run("export", stick, "--spool", folder("spool"))
        let taken = try await run("import", stick, "--spool", folder("rx"))
        #expect(export.status == 0, "\(export.errors)\(taken.errors)")
        #expect(taken.status == 0, "\(export.errors)\(taken.errors)")
        #expect(try await run("cat", "--spool", folder("rx")).output == Segments.lines(0..<100))
    }

    @Test(
        "rsync brings many machines' spools to a hub that sends them on, whatever way rsync copies", .needs("rsync"),
        arguments: ["", "--inplace"])
    func rsyncHub(_ way: String) async throws {
        let rsync = try #require(Program.find("rsync"))
        let center = try await Hub(folder("center"))
        let hub = try makeFolder("hub")
        let run = try ferry.start(["run", "--spool", "\(hub)/*", "--to", center.url, "--quiet"])
        for machine in ["a", "b"] {
            try await write(machine, 200)
            // Temporary names of other tools, which must not be taken for segments.
            _ = try makeFolder("hub/\(machine)")
            let noise = [
                ".syncthing.5-20261121T030000.000Z-abcdefghijklmnop.jsonl.gz.tmp", ".x.jsonl.gz.Ab12Cd",
                "~syncthing~x.jsonl.gz.tmp",
            ]
            for name in noise { try OpenFile.creating("\(hub)/\(machine)/\(name)").write([1, 2, 3]) }
            let copy = try await Program(rsync).start(
                ["-aF", "--remove-source-files"] + (way.isEmpty ? [] : [way]) + [folder(machine) + "/", "\(hub)/\(machine)/"]
            ).end()
            #expect(copy.status == 0, "\(copy.errors)")
        }
        let end = ContinuousClock.now + .seconds(60)
        let received = try Spool.open(folder("center"), access: .read)
        while ContinuousClock.now < end, try received.pending().count < 40 { try await Task.sleep(for: .milliseconds(50)) }
        run.send(SIGTERM)
        _ = await run.end()
        await center.stop()
        #expect(try received.events(in: [.pending]).count == 400)
        for machine in ["a", "b"] {
            #expect(try Spool.open("\(hub)/\(machine)", access: .read).ledger.totals()[.sent].segments == 20, "kept apart")
            #expect(try Spool.open("\(hub)/\(machine)", access: .read).rejected.segments().isEmpty)
        }
        let fleet = try await self.run("status", "\(hub)/*", "--json")
        #expect(fleet.status == 0)
        #expect(fleet.output.split(separator: "\n").count == 2)
    }

    @Test("A replay that found nobody goes on with --resume, as it was begun, and leaves nothing behind")
    func replay() async throws {
        try await write("spool", 100)
        let first = try await Hub(folder("hub"))
        #expect(try await run("upload", "--spool", folder("spool"), "--to", first.url).status == 0)
        let port = first.port
        await first.stop()
        let state = folder("state")
        let stopped = try await run(
            "replay", folder("spool"), "--to", first.url, "--state", state, "--where", "n >= 42 && n < 45", "--set", "again=true",
            "--json")
        #expect(stopped.status == 75, "\(stopped.errors)")
        let run = try #require(try FileManager.default.contentsOfDirectory(atPath: state).first)
        #expect(stopped.output.contains("\"run\":\"\(run)\""))
        #expect(stopped.output.contains("\"leftOut\":97"))
        let hub = try await Hub(folder("second"), port: port)
        let resumed = try await self.run("replay", "--resume", run, "--state", state)
        #expect(resumed.status == 0, "\(resumed.output)\(resumed.errors)")
        #expect(resumed.output.contains("3 events"), "\(resumed.output)\(resumed.errors)")
        await hub.stop()
        let received = try await self.run("cat", "--spool", folder("second"))
        #expect(received.output == (42..<45).map { "{\"again\":true,\"n\":\($0)}\n" }.joined())
        #expect(try FileManager.default.contentsOfDirectory(atPath: state).isEmpty)
        #expect(try await self.run("replay", "--resume", run, "--state", state).status == 64)
        let wrong = try await self.run("replay", folder("spool"), "--to", hub.url, "--where", "n >=")
        #expect(wrong.status == 64, "\(wrong.errors)")
        #expect(wrong.errors.contains("at character 5"), "\(wrong.errors)")
        let chart = try await self.run("replay", folder("spool"), "--to", hub.url, "--dry-run")
        #expect(chart.status == 0, "\(chart.output)")
        #expect(chart.output.contains("100 events of 10 sources would be sent, 0 left out"), "\(chart.output)")
    }

    @Test("A replay that finds nothing says so")
    func nothingToReplay() async throws {
        _ = try folder.spool("hub/press-7")
        for dryRun in [[], ["--dry-run"]] {
            let replay = try await Program().start(
                ["replay", folder("hub"), "--to", "http://127.0.0.1:9/", "--state", folder("state")] + dryRun
            ).end()
            #expect(replay.status == 0, "\(replay.errors)")
            #expect(replay.errors.contains("no segment was found"), "\(replay.errors)")
        }
    }

    @Test("A run goes on from any folder, with the token of the one where it began, and tells what it had left out")
    func replayElsewhere() async throws {
        let (work, other) = try (makeFolder("work"), makeFolder("other"))
        try "first\n".write(toFile: "\(work)/token", atomically: true, encoding: .utf8)
        try "{}\n".write(toFile: "\(work)/a.jsonl", atomically: true, encoding: .utf8)
        try OpenFile.creating("\(work)/cut.jsonl.gz").write(Array(Segments.gzip("{}\n").dropLast(9)))
        let hub = try await Hub(folder("hub"))
        let port = hub.port
        await hub.stop()
        func ferry(in folder: String, _ arguments: String) async throws -> Program.Result {
            try await Program("/bin/sh").run("-c", "cd '\(folder)' && exec '\(Program.ferry)' \(arguments)")
        }
        let state = folder("state")
        let begun = try await ferry(
            in: work, "replay a.jsonl cut.jsonl.gz --set x=1 --token-file token --to '\(hub.url)' --state '\(state)'")
        #expect(begun.status == 75, "\(begun.errors)")
        let run = try #require(try FileManager.default.contentsOfDirectory(atPath: state).first)
        let again = try await Hub(folder("second"), port: port)
        let ended = try await ferry(in: other, "replay --resume \(run) --state '\(state)'")
        #expect(ended.status == 65, "\(ended.errors)")
        #expect(ended.errors.contains("\(work)/cut.jsonl.gz is left out"), "\(ended.errors)")
        #expect(ended.output.contains("1 event"), "\(ended.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: state).isEmpty)
        await again.stop()
    }

    @Test(
        "Original keys go with whole segments alone",
        arguments: ["--where=n > 1", "--set=a=1", "--time-field=t", "--speed=1x", "--rate=100/s"])
    func sameKeys(_ option: String) async throws {
        let result = try await run("replay", folder("spool"), "--to", "http://127.0.0.1:9/", "--same-keys", option)
        #expect(result.status == 64)
        #expect(result.errors.contains("--same-keys goes with whole segments"), "\(result.errors)")
    }

    @Test("A run that another process sends is named with its process, and ends with 75")
    func replayTwice() async throws {
        try await write("spool", 20)
        let events = folder("a.jsonl")
        try Segments.lines(0..<20).write(toFile: events, atomically: true, encoding: .utf8)
        let hub = try await Hub(folder("hub"))
        let state = folder("state")
        // An event in ten seconds.
        let first = try ferry.start(["replay", events, "--to", hub.url, "--state", state, "--rate", "0.1/s"])
        try await eventually("the run's start") {
            try FileManager.default.fileExists(atPath: state)
                && FileManager.default.contentsOfDirectory(atPath: state).contains {
                    try FileManager.default.fileExists(atPath: "\(state)/\($0)/.ferry/replay.lock")
                        && !String(contentsOfFile: "\(state)/\($0)/.ferry/replay.lock", encoding: .utf8).isEmpty
                }
        }
        let run = try #require(try FileManager.default.contentsOfDirectory(atPath: state).first)
        let second = try await self.run("replay", "--resume", run, "--state", state)
        #expect(second.status == 75, "\(second.errors)")
        #expect(second.errors.contains("\(run) is under way (process \(first.processIdentifier))"), "\(second.errors)")
        first.send(SIGTERM)
        #expect(await first.end().status == 130)
        await hub.stop()
    }

    @Test("A fleet's status: who is behind, who is late, who has been silent for longer than usual")
    func fleet() async throws {
        let now = Timestamp.now()
        // Ten segments a minute apart each; the last one was opened so many minutes ago.
        for (machine, minutesAgo) in [("busy", 1), ("silent", 180)] {
            let spool = try Spool.open(folder("hub/\(machine)"), access: .create)
            for index in 0..<10 {
                let created = now - .seconds((minutesAgo + index) * 60)
                try spool.put(
                    Segments.gzip("{}\n"),
                    as: SegmentName(priority: .normal, created: created, id: .random()))
            }
        }
        _ = try Spool.open(folder("hub/new"), access: .create)
        let status = try await run("status", folder("hub/*"), "--due", "00:00")
        let lines = status.output.split(separator: "\n").map(String.init)
        #expect(status.status == 1, "\(status.errors)")
        #expect(lines.count == 5, "\(status.errors)")
        #expect(lines.filter { $0.contains("silent for longer than usual") }.count == 1)
        #expect(lines.contains { $0.contains("/silent") && $0.contains("silent for longer") })
        let json = try await run("status", folder("hub/*"), "--json")
        #expect(json.output.contains("\"isSilent\":true"))
        #expect(json.output.contains("\"pending\":10"))
        let gone = try await run("status", folder("hub/busy"), folder("hub/nowhere"))
        #expect(gone.status == 74)
        #expect(gone.output.contains("there is no spool"))
    }

    @Test("Through two relays names, keys and bytes survive, and a circle ends")
    func relay() async throws {
        let spool = try Spool.open(folder("origin"), access: .create)
        let names = try [0, 5, 9].map { priority in
            try spool.put(Segments.gzip("{\"p\":\(priority)}\n"), as: Segments.name(priority, second: 1, stream: "s\(priority)"))
        }
        let end = try await Hub(folder("end"))
        let middle = try await Hub(folder("middle"))
        #expect(try await run("upload", "--spool", folder("origin"), "--to", middle.url).status == 0)
        #expect(try await run("upload", "--spool", folder("middle"), "--to", end.url).status == 0)
        #expect(try Spool.open(folder("end"), access: .read).pending() == names)
        await end.stop()
        guard try Spool.open(folder("end"), access: .read).directory.open(names[0])?.trail != Trail.none else {
            print("NOT TESTED: this file system has no extended attributes")
            return await middle.stop()
        }
        // A circle: the middle had them, and has them no more.
        let back = try await run("upload", "--spool", folder("end"), "--to", middle.url, "--delete-sent")
        #expect(back.status == 75, "\(back.errors)")
        #expect(back.errors.contains("was in this receiver's spool before"), "\(back.errors)")
        #expect(try Spool.open(folder("end"), access: .read).pending() == names)
        // Where the way is longer than what is noted of it, the number of hops ends it.
        let far = try Spool.open(folder("far"), access: .create)
        let name = try far.put(Segments.gzip("{}\n"))
        try far.directory.open(name)?.setTrail(#require(Trail(hops: 16)))
        let refused = try await run("upload", "--spool", folder("far"), "--to", middle.url)
        #expect(refused.status == 75, "\(refused.errors)")
        #expect(refused.errors.contains("16 receivers"), "\(refused.errors)")
        #expect(try far.pending() == [name])
        await middle.stop()
    }
}
