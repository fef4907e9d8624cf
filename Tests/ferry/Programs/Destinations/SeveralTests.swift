import FerrySpool
import FerryUpload
import Foundation
import TestSupport
import Testing

@Suite("Several destinations at once") struct SeveralTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    private func receive(_ spool: String, _ port: Int) throws -> Running {
        try ferry.start(["receive", "--quiet", "--spool", folder(spool), "--listen", "127.0.0.1:\(port)"])
    }

    @Test("Uploaders are killed again and again while a receiver comes and goes: both have every event once") func kills()
        async throws
    {
        let ports = [LoopbackPort.own(), LoopbackPort.own()]
        var receivers = try [receive("hub", ports[0]), receive("archive", ports[1])]
        let spool = try folder.spool()
        for second in 0..<200 {
            try spool.put(Segments.gzip(Segments.lines(second * 5..<second * 5 + 5)), as: Segments.name(second: second))
        }
        let arguments =
            ["upload", "--quiet", "--retry-now", "--spool", spool.path]
            + zip(["hub", "archive"], ports).flatMap { ["--to", "\($0)=http://127.0.0.1:\($1)/v1/segments"] }
        var random = Seeded(seed: 7)
        for round in 0..<8 {
            let upload = try ferry.start(arguments)
            try await Task.sleep(for: .milliseconds(Int.random(in: 20..<200, using: &random)))
            upload.send(SIGKILL)
            _ = await upload.end()
            if round % 3 == 2 {
                receivers[1].send(SIGKILL)
                _ = await receivers[1].end()
                receivers[1] = try receive("archive", ports[1])
            }
        }
        var status: Int32 = 75
        for _ in 0..<20 where status == 75 { status = await try ferry.start(arguments).end().status }
        #expect(status == 0)
        for receiver in receivers {
            receiver.send(SIGTERM)
            _ = await receiver.end()
        }
        for name in ["hub", "archive"] {
            let events = try Spool.open(folder(name), access: .read).events(in: [.pending])
            #expect(events.count == 1000, "\(name)")
            #expect(Set(events).count == 1000, "\(name)")
        }
        #expect(try spool.pending() == [])
    }

    @Test("A destination that is not there delays no other, and is sent to, paused, flushed and exported from by its name")
    func oneIsGone()
        async throws
    {
        let ports = [LoopbackPort.own(), LoopbackPort.own()]
        let hub = try receive("hub", ports[0])
        let spool = try folder.spool()
        try """
        spools: [\(spool.path)]
        destinations:
          hub: http://127.0.0.1:\(ports[0])/v1/segments
          archive: {to: "http://127.0.0.1:\(ports[1])/v1/segments"}
        """.write(toFile: folder("ferry.yaml"), atomically: true, encoding: .utf8)
        let run = try ferry.start(["run", "--quiet", "--config", folder("ferry.yaml")])
        let hubSpool = folder("hub")
        let events = { (path: String) in (try? Spool.open(path, access: .read).events(in: [.pending]).count) ?? 0 }
        for second in 0..<5 {
            try spool.put(Segments.gzip(Segments.lines(second..<second + 1)), as: Segments.name(second: second))
        }
        try await eventually("the hub has all") { events(hubSpool) == 5 }
        let status = try await ferry.run("status", "--json", "--spool", spool.path)
        #expect(status.output.contains("\"name\":\"archive\",\"oldest\""), "\(status.output)")
        let paused = try await ferry.run("pause", "--spool", spool.path, "--destination", "hub")
        #expect(paused.status == 0, "\(paused.errors)")
        try spool.put(Segments.gzip(Segments.lines(5..<6)), as: Segments.name(second: 5))
        let waiting = spool.lanes.path(of: LaneName("hub")!)
        try await eventually("it waits in the lane") { events(waiting) == 1 }
        _ = try await ferry.run("resume", "--spool", spool.path, "--destination", "hub")
        try await eventually("the hub has that, too") { events(hubSpool) == 6 }
        // The other one's data leaves by hand.
        mkdir(folder("stick"), 0o755)
        let exported = try await ferry.run("export", folder("stick"), "--spool", spool.path, "--destination", "archive")
        #expect(exported.status == 0, "\(exported.errors)")
        let bundle = try #require(try FileManager.default.contentsOfDirectory(atPath: folder("stick")).first)
        let imported = try await ferry.run(
            "import", folder("stick/\(bundle)"), "--spool", folder("archive"))
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(events(folder("archive")) == 6)
        let receipt = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder("stick")).first { $0.hasPrefix("ferry-receipt-") })
        let elsewhere = try await ferry.run("acknowledge", folder("stick/\(receipt)"), "--spool", spool.path)
        #expect(elsewhere.status == 65)
        #expect(elsewhere.errors.contains("--destination archive or hub"), "\(elsewhere.errors)")
        let taken = try await ferry.run(
            "acknowledge", folder("stick/\(receipt)"), "--spool", spool.path, "--destination", "archive")
        #expect(taken.output.contains("acknowledged 6 segments"), "\(taken.output)\(taken.errors)")
        run.send(SIGTERM)
        #expect(await run.end().status == 0)
        hub.send(SIGTERM)
        _ = await hub.end()
    }

    @Test("A lane that cannot be opened is told by its name, and keeps no other from being sent") func oneIsBroken() async throws
    {
        let port = LoopbackPort.own()
        let hub = try receive("hub", port)
        let spool = try folder.spool()
        let destinations = ["--to", "hub=http://127.0.0.1:\(port)/v1/segments", "--to", "archive=http://127.0.0.1:1/v1"]
        try spool.put(Segments.gzip(Segments.lines(0..<3)))
        for name in ["hub", "archive"] { try spool.lanes.make(#require(LaneName(name))) }
        // What is in the lanes before one of them breaks.
        var options = UploadOptions(destination: Destination(lanes: [Lane(LaneName("hub")!), Lane(LaneName("archive")!)]))
        options.keepsSent = false
        _ = try await UploadPass(spool, options: options).run()
        #expect(rename(folder("spool/to/archive"), folder("away")) == 0)
        FileManager.default.createFile(atPath: folder("spool/to/archive"), contents: nil)
        let last = Cell<Program.Result?>(nil)
        try await eventually("the hub has it") {
            last.value = try await ferry.start(["upload", "--retry-now", "--spool", spool.path] + destinations).end()
            return (try? Spool.open(folder("hub"), access: .read).events(in: [.pending]).count) == 3
        }
        #expect(last.value?.status == 74)
        #expect(last.value?.errors.contains("archive: ") ?? false, "\(last.value?.errors ?? "")")
        hub.send(SIGTERM)
        _ = await hub.end()
    }

    @Test("Of several spools one whose lane cannot be used keeps its own segments, and no other's", arguments: ["run", "upload"])
    func oneSpoolIsBroken(command: String) async throws {
        let port = LoopbackPort.own()
        let hub = try receive("hub", port)
        let destinations = ["--to", "hub=http://127.0.0.1:\(port)/v1/segments", "--to", "archive=http://127.0.0.1:1/v1"]
        for name in ["a-broken", "b", "c"] {
            let spool = try folder.spool("spools/\(name)")
            for lane in ["hub", "archive"] { try spool.lanes.make(#require(LaneName(lane))) }
            for second in 0..<5 {
                try spool.put(Segments.gzip(Segments.lines(second..<second + 1)), as: Segments.name(second: second))
            }
        }
        try FileManager.default.removeItem(atPath: folder("spools/a-broken/to/archive"))
        FileManager.default.createFile(atPath: folder("spools/a-broken/to/archive"), contents: nil)
        let running = try ferry.start([command, "--spool", folder("spools/*")] + destinations)
        if command == "upload" { _ = await running.end() }
        try await eventually("the hub has those of the others") {
            (try? Spool.open(folder("hub"), access: .read).events(in: [.pending]).count) == 10
        }
        if command == "run" {
            let status = try await ferry.run("status", folder("spools/*"))
            #expect(status.status == 1, "\(status.output)")
            try await eventually("it is told") { running.errors.contains("to be mended, tried again at") }
            running.send(SIGTERM)
            _ = await running.end()
        }
        #expect(try Spool.open(folder("spools/a-broken"), access: .read).pending().count == 5)
        hub.send(SIGTERM)
        _ = await hub.end()
    }

    @Test("On a full disk, what lanes have delivered gives way to what is written") func fullDisk() async throws {
        guard folder.mount("size=1m") else { return }
        let port = LoopbackPort.own()
        let hub = try receive("hub", port)
        let url = "http://127.0.0.1:\(port)/v1/segments"
        var statuses: Set<Int32> = []
        for _ in 0..<40 {
            let noise = try Segments.noise(60_000).map { "\($0)" }.joined()
            statuses.insert(
                try await ferry.run("write", "--create", "--quiet", "--spool", folder("m/spool"), input: "{\"n\":\"\(noise)\"}\n")
                    .status)
            // The receiver may be just starting.
            try await eventually("it is sent") {
                try await ferry.run(
                    "upload", "--quiet", "--retry-now", "--spool", folder("m/spool"), "--to", "a=\(url)", "--to", "b=\(url)?b"
                ).status == 0
            }
        }
        #expect(statuses == [0])
        hub.send(SIGTERM)
        _ = await hub.end()
    }

    @Test("A look at the destinations says of each how it is, and sends nothing") func online() async throws {
        let ports = [LoopbackPort.own(), LoopbackPort.own()]
        let hub = try receive("hub", ports[0])
        _ = try folder.spool()
        mkdir(folder("share"), 0o755)
        try """
        spools: [\(folder("spool"))]
        destinations:
          hub: http://127.0.0.1:\(ports[0])/v1/segments
          archive: http://127.0.0.1:\(ports[1])/v1/segments
          share: file://\(folder("share"))
          itself: file://\(folder("spool"))
          gone: file://\(folder("gone"))
        """.write(toFile: folder("ferry.yaml"), atomically: true, encoding: .utf8)
        let last = Cell<Program.Result?>(nil)
        try await eventually("the hub can be reached") {
            last.value = try await ferry.run("config", "check", "--online", "--config", folder("ferry.yaml"))
            return last.value?.output.contains("hub: http://127.0.0.1:\(ports[0])/v1/segments: good") ?? false
        }
        #expect(last.value?.status == 77)
        #expect(last.value?.output.contains("share: file://\(folder("share")): good") ?? false)
        #expect(last.value?.output.contains("itself: file://\(folder("spool")): bad") ?? false)
        #expect(last.value?.output.contains("gone: file://\(folder("gone")): bad") ?? false)
        #expect(last.value?.output.contains("archive: http://127.0.0.1:\(ports[1])/v1/segments: bad: cannot connect") ?? false)
        hub.send(SIGTERM)
        _ = await hub.end()
        #expect(try Spool.open(folder("hub"), access: .read).pending() == [])
    }

    @Test("A name that the spool does not have is told with those that it has") func unknown() async throws {
        let spool = try folder.spool()
        try spool.lanes.make(LaneName("hub")!)
        for command in ["status", "pause", "list"] {
            let result = try await ferry.run(command, "--spool", spool.path, "--destination", "hup")
            #expect(result.status == 74)
            #expect(result.errors.contains("has no destination hup: it has hub"), "\(result.errors)")
        }
    }

    @Test(
        "A pause reaches every lane that can be told, and says which cannot",
        arguments: ["a folder without a lane", "a lane that cannot be opened"])
    func pause(_ obstacle: String) async throws {
        let spool = try folder.spool()
        for name in ["hub", "lake"] { try spool.lanes.make(LaneName(name)!) }
        if obstacle == "a folder without a lane" {
            try FileManager.default.removeItem(atPath: folder("spool/to/lake/.ferry"))
        } else {
            try FileManager.default.removeItem(atPath: folder("spool/to/lake/.ferry/lane"))
            mkdir(folder("spool/to/lake/.ferry/lane"), 0o755)
        }
        let paused = try await ferry.run("pause", "--spool", spool.path)
        #expect(paused.status == 74)
        #expect(paused.errors.contains("to/lake"), "\(paused.errors)")
        for path in [spool.path, spool.lanes.path(of: LaneName("hub")!)] {
            #expect(try Spool.open(path, access: .read).control.read().isPaused, "\(path)")
        }
    }

    @Test("A lane has one destination: lanes of its own would be sent from by no call") func laneOfLane() async throws {
        let spool = try folder.spool()
        try spool.lanes.make(LaneName("hub")!)
        let path = spool.lanes.path(of: LaneName("hub")!)
        let result = try await ferry.run(
            "upload", "--spool", path, "--to", "a=http://127.0.0.1:1/", "--to", "b=http://127.0.0.1:2/")
        #expect(result.status == 64)
        #expect(result.errors.contains("waits for one destination"), "\(result.errors)")
        _ = try await ferry.run("upload", "--spool", path, "--to", "a=http://127.0.0.1:1/")
        #expect(!FileManager.default.fileExists(atPath: "\(path)/to"))
    }

    @Test("What is said of one destination names it in the commands that come next") func hints() async throws {
        let spool = try folder.spool()
        try spool.lanes.make(LaneName("hub")!)
        let lane = try Spool.open(spool.lanes.path(of: LaneName("hub")!), access: .write)
        func expect(_ arguments: [String], _ status: Int32, _ text: String) async throws {
            let result = try await ferry.start(arguments + (arguments.contains("--spool") ? [] : ["--spool", spool.path])).end()
            #expect(result.status == status, "\(arguments): \(result.output)\(result.errors)")
            #expect((result.output + result.errors).contains(text), "\(arguments): \(result.output)\(result.errors)")
        }
        try await expect(["pause", "--destination", "hub"], 0, "until ferry resume --destination hub")
        try await expect(["flush", "--destination", "hub"], 0, "ferry upload --destination hub sends it")
        try lane.put(Segments.gzip(Segments.lines(0..<3)))
        try await expect(
            ["upload", "--destination", "hub", "--to", "http://127.0.0.1:1/"], 75, "ferry resume --destination hub changes that")
        let resume = "ferry resume --spool \(spool.path) --destination hub"
        try await expect(["status"], 0, resume)
        try await expect(["status", "--destination", "hub"], 0, resume)
        try await expect(["list", "--destination", "hub"], 0, "ferry resume --destination hub changes that")
        let name = Segments.name().fileName
        try OpenFile.creating("\(lane.directory.makeDirectory("rejected").path)/\(name)").write(Segments.gzip("{}\n"))
        try await expect(["retry", "--all"], 0, "1 segment of the destination hub stay rejected: --destination hub brings")
        try await expect(["retry", name], 65, "say --destination hub, for which it is rejected")
        try await expect(["retry", name, "--destination", "hub"], 0, "is pending again")
        try await expect(["receive", "--destination", "hub"], 64, "--destination is for what waits to be sent")
        try await expect(["init", folder("new"), "--destination", "hub"], 64, "--destination names one of several")
        try await expect(
            ["upload", "--destination", "hub", "--to", "a=http://127.0.0.1:1/"], 64, "--to is its URL alone, without a name")
        try await expect(
            ["list", "--destination", "hub", "--spool", folder("none")], 74, "there is no spool \(folder("none"));")
    }

    @Test("A link in the place of the lanes' folder is told as that, with what to do, and the destinations by their names")
    func link() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)))
        mkdir(folder("elsewhere"), 0o755)
        #expect(symlink(folder("elsewhere"), folder("spool/to")) == 0)
        let upload = try await ferry.run(
            "upload", "--spool", spool.path, "--to", "hub=http://127.0.0.1:1/", "--to", "archive=http://127.0.0.1:1/")
        #expect(upload.status == 74)
        let text =
            "cannot use \(spool.path)/to, which is a symbolic link and must be a folder of the spool (remove it; mount --bind"
        #expect(upload.errors.contains(text), "\(upload.errors)")
        #expect(try spool.pending().count == 1)
        let status = try await ferry.run("status", "--spool", spool.path)
        #expect(status.output.contains("\n  to/hub, to/archive  "), "\(status.output)")
    }

    @Test("Limits hold for each destination, and with its name for one alone") func prune() async throws {
        let spool = try folder.spool()
        let lanes = try ["hub", "archive"].map { name in
            try spool.lanes.make(#require(LaneName(name)))
            return try Spool.open(spool.lanes.path(of: #require(LaneName(name))), access: .write)
        }
        for lane in lanes {
            for second in 0..<3 { try lane.put(Segments.gzip(Segments.noiseLines(2000)), as: Segments.name(second: second)) }
        }
        let limit = "\(try lanes[0].scan(sizes: true).segmentBytes.bytes - 100)B"
        let one = try await ferry.run("prune", "--spool", spool.path, "--destination", "hub", "--max-spool-bytes", limit)
        #expect(one.status == 0, "\(one.errors)")
        #expect(one.output.contains("evicted 1 segment "), "\(one.output)")
        #expect(try lanes.map { try $0.pending().count } == [2, 3])
        let all = try await ferry.run("prune", "--spool", spool.path, "--max-spool-bytes", "1KB")
        #expect(all.output.contains("\narchive: evicted 3 segments "), "\(all.output)")
        #expect(all.output.contains("\nhub: evicted 2 segments "), "\(all.output)")
        #expect(try lanes.map { try $0.pending().count } == [0, 0])
        let json = try await ferry.run("prune", "--json", "--spool", spool.path, "--max-spool-bytes", "1KB")
        #expect(json.output.contains("\"destinations\":[{"), "\(json.output)")
    }
}
