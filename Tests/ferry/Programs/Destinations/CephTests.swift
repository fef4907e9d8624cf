import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Into Ceph's S3 gateway", .serialized) struct CephTests {
    private let folder = TemporaryFolder()

    @Test(
        "Uploader and gateway are killed again and again: each segment is one object, byte for byte",
        .needs("radosgw", "radosgw-admin", "ceph", "ceph-mon", "ceph-osd", "monmaptool", "curl")) func kills() async throws
    {
        let ceph = try await Ceph(bucket: "logs")
        let spool = try folder.spool()
        var segments: [String: [UInt8]] = [:]
        for second in 0..<400 {
            let name = Segments.name(second: second)
            let bytes = Array(Segments.gzip(Segments.lines(second..<second + 5)))
            try spool.put(bytes, as: name)
            segments["edge/\(name.created.day)/\(name.fileName)"] = bytes
        }
        let url = "s3://logs/edge?endpoint=\(ceph.endpoint)"
        var random = Seeded(seed: 14)
        for round in 0..<9 {
            let upload = try Program(environment: ceph.environment).start(
                ["upload", "--quiet", "--retry-now", "--spool", spool.path, "--to", url])
            try await Task.sleep(for: .milliseconds(Int.random(in: 20..<250, using: &random)))
            if round % 3 == 2 {
                try await ceph.killGateway()
                _ = await upload.end()
                try await ceph.startGateway()
            } else {
                upload.send(SIGKILL)
                _ = await upload.end()
            }
        }
        // A store that was just killed may put some off: 75 asks for another call.
        var last: Program.Result?
        for _ in 0..<10 where last?.status ?? 75 == 75 {
            last = try await Program(environment: ceph.environment).run(
                "upload", "--retry-now", "--spool", spool.path, "--to", url)
        }
        #expect(last?.status == 0, "\(last?.errors ?? "")")
        let names = try await ceph.names(in: "logs")
        #expect(names.count == 400)
        let areAll = Set(names) == Set(segments.keys)
        #expect(areAll)
        mkdir(folder("got"), 0o755)
        try await ceph.fetch(names, of: "logs", into: folder("got"))
        for (number, name) in names.enumerated() {
            let isSame = FileManager.default.contents(atPath: folder("got/\(number)")).map { Array($0) } == segments[name]
            #expect(isSame, "\(name)")
        }
        // A copy of the folder, sent by another machine, finds everything there.
        let copy = try folder.spool("copy")
        for (name, bytes) in segments { try copy.put(bytes, as: try #require(SegmentName((name as NSString).lastPathComponent))) }
        let again = try await Program(environment: ceph.environment).run("upload", "--json", "--spool", copy.path, "--to", url)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.contains("\"duplicates\":400"), "\(again.output)")
        #expect(try await ceph.names(in: "logs").count == 400)
    }

    @Test(
        "What the store says is told with its code, and nothing is lost",
        .needs("radosgw", "radosgw-admin", "ceph", "ceph-mon", "ceph-osd", "monmaptool", "curl")) func mistakes() async throws
    {
        let ceph = try await Ceph(bucket: "logs")
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<5)), as: Segments.name(1))
        func upload(_ place: String, _ changes: [String: String] = [:]) async throws -> Program.Result {
            try await Program(environment: ceph.environment.merging(changes) { $1 }).run(
                "upload", "--retry-now", "--spool", spool.path, "--to", place)
        }
        let end = "endpoint=\(ceph.endpoint)"
        for (place, changes, said) in [
            ("s3://nowhere/a?\(end)", [:], "HTTP 404: NoSuchBucket"),
            ("s3://logs/a?\(end)", ["AWS_SECRET_ACCESS_KEY": "wrong"], "HTTP 403: SignatureDoesNotMatch"),
            ("s3://logs/a?\(end)", ["AWS_ACCESS_KEY_ID": "UNKNOWN"], "HTTP 403: InvalidAccessKeyId"),
            ("s3://logs/a?\(end)&class=NOSUCH", [:], "check class, sse, kms-key and tag"),
        ] as [(String, [String: String], String)] {
            let result = try await upload(place, changes)
            #expect(result.status == 77, "\(place)")
            #expect(result.errors.contains(said), "\(result.errors)")
        }
        let last = try await upload("s3://logs/a?\(end)")
        #expect(last.status == 0, "\(last.errors)")
    }
}
