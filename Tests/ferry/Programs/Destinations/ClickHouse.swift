import Foundation
import TestSupport
import Testing

/// A ClickHouse server on loopback, as Debian packages it (18.16), with users of its own.
final class ClickHouse {
    static let user = "ferry"
    static let password = "test secret"

    let port = LoopbackPort.own()
    /// Of ClickHouse's own protocol.
    let nativePort = LoopbackPort.own()
    private let folder = TemporaryFolder()
    private var server: Running?

    var environment: [String: String] { ["CLICKHOUSE_USER": Self.user, "CLICKHOUSE_PASSWORD": Self.password] }

    /// Starts it.
    init() async throws {
        try """
        <yandex>
            <logger><level>warning</level><log>\(folder("server.log"))</log><errorlog>\(folder("errors.log"))</errorlog></logger>
            <http_port>\(port)</http_port>
            <tcp_port>\(nativePort)</tcp_port>
            <listen_host>127.0.0.1</listen_host>
            <path>\(folder("data"))/</path>
            <tmp_path>\(folder("tmp"))/</tmp_path>
            <users_config>users.xml</users_config>
            <default_profile>default</default_profile>
            <default_database>default</default_database>
            <mark_cache_size>67108864</mark_cache_size>
            <timezone>UTC</timezone>
        </yandex>

        """.write(toFile: folder("config.xml"), atomically: true, encoding: .utf8)
        let place = "<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>"
        try """
        <yandex>
            <profiles><default/></profiles>
            <users>
                <default><password></password>\(place)</default>
                <\(Self.user)><password>\(Self.password)</password>\(place)</\(Self.user)>
            </users>
            <quotas><default/></quotas>
        </yandex>

        """.write(toFile: folder("users.xml"), atomically: true, encoding: .utf8)
        for name in ["data", "tmp"] { mkdir(folder(name), 0o755) }
        try await start()
    }

    deinit { server?.send(SIGKILL) }

    /// Starts the server, and waits until it answers.
    func start() async throws {
        let server = try Program(try #require(Program.find("clickhouse-server"))).start(["--config-file=\(folder("config.xml"))"])
        self.server = server
        for _ in 0..<600 {
            if try await curl(["http://127.0.0.1:\(port)/ping"]).status == 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        try #require(Bool(false), "the server does not answer: \(server.errors)")
    }

    /// Kills the server, as a power cut would, and waits until it is gone.
    func kill() async {
        server?.send(SIGKILL)
        _ = await server?.end()
        server = nil
    }

    /// Returns what a statement brings, without the last line feed.
    @discardableResult
    func query(_ statement: String) async throws -> String {
        let result = try await curl(["--data-binary", statement, "http://127.0.0.1:\(port)/"])
        try #require(result.status == 0, "\(statement): \(result.errors) \(result.output)")
        return result.output.trimmingCharacters(in: .newlines)
    }

    private func curl(_ arguments: [String]) async throws -> Program.Result {
        try await Program(try #require(Program.find("curl"))).start(["-sS", "--fail-with-body"] + arguments).end()
    }
}
