import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import FerryUpload

/// A Ceph cluster on loopback: a monitor, a storage daemon in memory and the S3 gateway, as Debian packages them.
final class Ceph {
    static let key = "FERRYTEST"
    static let secret = "ferry-test-secret"
    /// The ID that the storage daemon says, and the monitor knows it by.
    private static let daemon = "7d3a2f52-3d1b-4b39-9a53-0d0d3f0c1a02"

    let port: Int
    private let folder: TemporaryFolder
    private var configuration: String { folder("ceph.conf") }

    var endpoint: String { "http://127.0.0.1:\(port)" }
    var environment: [String: String] { ["AWS_ACCESS_KEY_ID": Self.key, "AWS_SECRET_ACCESS_KEY": Self.secret] }

    /// Starts it, and makes a user and a bucket.
    init(bucket: String) async throws {
        port = LoopbackPort.own()
        folder = TemporaryFolder()
        let monitor = LoopbackPort.own()
        try """
        [global]
        fsid = 7d3a2f52-3d1b-4b39-9a53-0d0d3f0c1a01
        mon host = v1:127.0.0.1:\(monitor)
        public addr = 127.0.0.1
        cluster addr = 127.0.0.1
        auth cluster required = none
        auth service required = none
        auth client required = none
        osd pool default size = 1
        osd pool default min size = 1
        osd pool default pg num = 4
        osd pool default pgp num = 4
        osd crush chooseleaf type = 0
        osd objectstore = memstore
        memstore device bytes = 1073741824
        mon allow pool size one = true
        mon data avail crit = 1
        mon data avail warn = 2
        run dir = \(folder.path)
        admin socket = \(folder.path)/$name.asok
        pid file = \(folder.path)/$name.pid
        log file = \(folder.path)/$name.log
        mon data = \(folder.path)/mon
        osd data = \(folder.path)/osd
        rgw data = \(folder.path)/rgw

        """.write(toFile: configuration, atomically: true, encoding: .utf8)
        for name in ["mon", "osd", "rgw"] { mkdir(folder(name), 0o755) }
        try await run(
            "monmaptool", "--create", "--fsid", "7d3a2f52-3d1b-4b39-9a53-0d0d3f0c1a01", "--addv", "a",
            "[v1:127.0.0.1:\(monitor)]", folder("monmap"))
        try await run("ceph-mon", "-c", configuration, "--mkfs", "-i", "a", "--monmap", folder("monmap"))
        try await run("ceph-mon", "-c", configuration, "-i", "a")
        // A monitor that has just begun refuses commands (EPERM).
        try await repeatedly("ceph", "-c", configuration, "--connect-timeout", "60", "osd", "create", Self.daemon)
        try await run("ceph-osd", "-c", configuration, "-i", "0", "--mkfs", "--osd-uuid", Self.daemon)
        // A storage daemon gives up with "wrong fsid" when it speaks to the monitor before that has told it of the cluster.
        try await repeatedly("ceph-osd", "-c", configuration, "-i", "0")
        try await startGateway()
        try await run(
            "radosgw-admin", "-c", configuration, "user", "create", "--uid", "ferry", "--display-name", "Ferry",
            "--access-key", Self.key, "--secret-key", Self.secret)
        _ = try await curl(signed("PUT", "/\(bucket)").flatMap { ["-H", $0] } + ["-X", "PUT", "\(endpoint)/\(bucket)"])
    }

    deinit {
        // 0 would be the tests' own process group.
        for case let process? in ["client.rgw", "osd.0", "mon.a"].map(processIdentifier) { kill(process, SIGKILL) }
    }

    /// Runs a program until it succeeds.
    private func repeatedly(_ program: String, _ arguments: String...) async throws {
        let program = Program(try #require(Program.find(program)))
        var said = ""
        for _ in 0..<50 {
            let result = try await program.start(arguments).end()
            if result.status == 0 { return }
            said = result.errors
            try await Task.sleep(for: .milliseconds(200))
        }
        try #require(Bool(false), "it fails each time: \(said)")
    }

    /// Starts the gateway, and waits until it listens.
    func startGateway() async throws {
        try await run(
            "radosgw", "-c", configuration, "-n", "client.rgw", "--rgw-frontends", "beast endpoint=127.0.0.1:\(port)")
        let address = "\(endpoint)/"
        for _ in 0..<600 {
            let probe = try await Program(Program.find("curl")!).run("-s", "-o", "/dev/null", address)
            if probe.status == 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        try #require(Bool(false), "the gateway does not listen")
    }

    /// Kills the gateway, as a power cut would, and waits until it is gone.
    func killGateway() async throws {
        let process = try #require(processIdentifier("client.rgw"))
        kill(process, SIGKILL)
        try await eventually("the gateway ends") { kill(process, 0) != 0 }
    }

    /// Returns the names of all objects of a bucket.
    func names(in bucket: String) async throws -> [String] {
        var names: [String] = []
        while true {
            let after = names.last?.percentEncodedForURL
            let query = [(name: "list-type", value: "2")] + (after.map { [(name: "start-after", value: $0)] } ?? [])
            let headers = signed("GET", "/\(bucket)", query).flatMap { ["-H", $0] }
            let list = try await curl(
                headers + ["\(endpoint)/\(bucket)?\(query.map { "\($0.name)=\($0.value)" }.joined(separator: "&"))"])
            let found = list.components(separatedBy: "<Key>").dropFirst().map { $0.components(separatedBy: "</Key>")[0] }
            if found.isEmpty { return names }
            names += found
        }
    }

    /// Writes objects into a folder, under numbers in their order.
    func fetch(_ names: [String], of bucket: String, into place: String) async throws {
        let pairs = names.enumerated().map { number, name in
            let headers = signed("GET", "/\(bucket)/\(name)").map { "header = \"\($0)\"\n" }.joined()
            let parts = "url = \"\(endpoint)/\(bucket)/\(name)\"\noutput = \"\(place)/\(number)\"\nsilent\n"
            return (number > 0 ? "next\n" : "") + parts + headers
        }
        try pairs.joined().write(toFile: folder("list"), atomically: true, encoding: .utf8)
        _ = try await curl(["-K", folder("list")])
    }

    private func curl(_ arguments: [String]) async throws -> String {
        let result = try await Program(Program.find("curl")!).start(["-sS", "--fail-with-body"] + arguments).end()
        #expect(result.status == 0, "\(result.errors) \(result.output.prefix(1000))")
        return result.output
    }

    /// Returns the header fields of a request without a body.
    private func signed(_ method: String, _ path: String, _ query: [(name: String, value: String)] = []) -> [String] {
        let (time, payload) = (Timestamp.now(), RequestSignature.emptyPayload)
        let fields = [("x-amz-date", RequestSignature.date(time)), ("x-amz-content-sha256", payload)]
        let signature = RequestSignature(
            method: method, path: path, query: query, fields: fields + [("host", "127.0.0.1:\(port)")], payload: payload,
            region: "us-east-1", time: time)
        let authorization = signature.authorization(S3Credentials(Self.key, Self.secret, nil))
        return (fields + [("Authorization", authorization)]).map { "\($0.0): \($0.1)" }
    }

    private func run(_ program: String, _ arguments: String...) async throws {
        let path = try #require(Program.find(program))
        // Some of them wait for a cluster without an end.
        let result = try await Program(try #require(Program.find("timeout"))).start(["90", path] + arguments).end()
        try #require(result.status == 0, "\(program): \(result.errors)")
    }

    private func processIdentifier(_ name: String) -> Int32? {
        (try? String(contentsOfFile: folder("\(name).pid"), encoding: .utf8)).flatMap {
            Int32($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
}
