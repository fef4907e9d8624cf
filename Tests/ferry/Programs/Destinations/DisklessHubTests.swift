import FerrySpool
import Foundation
import TestSupport
import Testing

/// Two receivers behind a balancer, which moves requests from one to the other, and one bucket that both put into.
@Suite("Receivers without a disk, behind HAProxy", .serialized) struct DisklessHubTests {
    private let folder = TemporaryFolder()

    private func startBalancer(_ port: Int, _ receivers: [Int]) throws -> Running {
        let servers = receivers.map { "    server r\($0) 127.0.0.1:\($0) check inter 100ms fall 1 rise 1\n" }.joined()
        try """
        global
            maxconn 200
        defaults
            mode http
            timeout connect 2s
            timeout client 30s
            timeout server 30s
            retries 3
            option redispatch
        frontend hub
            bind 127.0.0.1:\(port)
            default_backend receivers
        backend receivers
            balance roundrobin
            option httpchk GET /healthz
        \(servers)
        """.write(toFile: folder("haproxy.cfg"), atomically: true, encoding: .utf8)
        return try Program(try #require(Program.find("haproxy"))).start(["-db", "-f", folder("haproxy.cfg")])
    }

    @Test(
        "Killed at random, and with an uploader for each of four spools: each segment is one object, byte for byte",
        .needs("haproxy", "radosgw", "radosgw-admin", "ceph", "ceph-mon", "ceph-osd", "monmaptool", "curl")) func kills()
        async throws
    {
        let ceph = try await Ceph(bucket: "logs")
        let store = "s3://logs/edge?endpoint=\(ceph.endpoint)"
        var segments: [String: [UInt8]] = [:]
        var events: [String] = []
        var spools: [Spool] = []
        for number in 0..<4 {
            let spool = try folder.spool("spool\(number)")
            for second in 0..<60 {
                let name = Segments.name(second: second)
                let lines = Segments.lines((number * 60 + second) * 5..<(number * 60 + second) * 5 + 5)
                let bytes = Segments.gzip(lines)
                try spool.put(bytes, as: name)
                segments["edge/\(name.created.day)/\(name.fileName)"] = bytes
                events += lines.split(separator: "\n").map(String.init)
            }
            spools.append(spool)
        }
        let ports = [LoopbackPort.own(), LoopbackPort.own()]
        func startReceiver(_ port: Int) throws -> Running {
            try Program(environment: ceph.environment).start(
                ["receive", "--quiet", "--listen", "127.0.0.1:\(port)", "--store", store])
        }
        var receivers = try ports.map(startReceiver)
        let port = LoopbackPort.own()
        let balancer = try startBalancer(port, ports)
        let hub = "http://127.0.0.1:\(port)/v1/segments"
        var random = Seeded(seed: 14)
        for _ in 0..<8 {
            let uploads = try spools.map {
                try Program().start(["upload", "--quiet", "--retry-now", "--coalesce", "off", "--spool", $0.path, "--to", hub])
            }
            for _ in 0..<2 {
                try await Task.sleep(for: .milliseconds(Int.random(in: 50..<400, using: &random)))
                let victim = Int.random(in: 0..<2, using: &random)
                receivers[victim].send(SIGKILL)
                _ = await receivers[victim].end()
                receivers[victim] = try startReceiver(ports[victim])
            }
            for upload in uploads { _ = await upload.end() }
        }
        for spool in spools {
            // Receivers that were just killed may put some off: 75 asks for another call.
            var last: Program.Result?
            for _ in 0..<20 where last?.status ?? 75 == 75 {
                last = try await Program().run("upload", "--retry-now", "--spool", spool.path, "--to", hub)
            }
            #expect(last?.status == 0, "\(last?.errors ?? "")")
        }
        let names = try await ceph.names(in: "logs")
        #expect(names.count == 240)
        let areAll = Set(names) == Set(segments.keys)
        #expect(areAll)
        mkdir(folder("got"), 0o755)
        try await ceph.fetch(names, of: "logs", into: folder("got"))
        for (number, name) in names.enumerated() {
            let isSame = FileManager.default.contents(atPath: folder("got/\(number)")).map { Array($0) } == segments[name]
            #expect(isSame, "\(name)")
        }
        let list = try await Program(environment: ceph.environment).run("list", store)
        #expect(list.status == 0, "\(list.errors)")
        #expect(list.output.split(separator: "\n").map { String($0.prefix { $0 != " " }) } == names.sorted())
        let cat = try await Program(environment: ceph.environment).run("cat", store)
        #expect(cat.status == 0, "\(cat.errors)")
        let isSame = cat.output.split(separator: "\n").map(String.init).sorted() == events.sorted()
        #expect(isSame)
        // Sent again, by keys of their own, into another prefix.
        let again = try Program(environment: ceph.environment).start([
            "replay", store, "--state", folder("state"), "--to", "s3://logs/again?endpoint=\(ceph.endpoint)",
        ])
        let replayed = await again.end()
        #expect(replayed.status == 0, "\(replayed.errors)")
        let copies = try await Program(environment: ceph.environment).run("cat", "s3://logs/again?endpoint=\(ceph.endpoint)")
        let areSame = copies.output.split(separator: "\n").map(String.init).sorted() == events.sorted()
        #expect(areSame)
        for program in receivers + [balancer] {
            program.send(SIGTERM)
            _ = await program.end()
        }
    }

    @Test(
        "A store that cannot be used is named at the start, in one line",
        .needs("radosgw", "radosgw-admin", "ceph", "ceph-mon", "ceph-osd", "monmaptool", "curl")) func mistakes() async throws
    {
        let ceph = try await Ceph(bucket: "logs")
        for (place, keys, said) in [
            ("s3://nowhere?endpoint=\(ceph.endpoint)", [:], "NoSuchBucket"),
            ("s3://logs?endpoint=\(ceph.endpoint)", ["AWS_SECRET_ACCESS_KEY": "wrong"], "SignatureDoesNotMatch"),
        ] as [(String, [String: String], String)] {
            for arguments in [["receive", "--listen", "127.0.0.1:0", "--store", place], ["list", place], ["cat", place]] {
                let result = try await Program(environment: ceph.environment.merging(keys) { $1 }).start(arguments).end()
                #expect(result.status == 77, "\(arguments) \(result.errors)")
                #expect(result.errors.contains(said) && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
            }
        }
    }

    @Test(
        "Options that a disk goes with are refused",
        arguments: [["--spool", "s"], ["--machines", "m"], ["--gather", "1MiB"], ["--remember", "2d"]]) func options(
            more: [String]
        ) async throws
    {
        let result = try await Program().start(["receive", "--store", "s3://logs"] + more).end()
        #expect(result.status == 64)
        #expect(
            result.errors.contains("--store keeps nothing on this machine: it does not go with \(more[0])"), "\(result.errors)")
    }
}
