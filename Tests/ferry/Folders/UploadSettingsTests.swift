import ArgumentParser
import FerryUpload
import Foundation
import TestSupport
import Testing

@testable import ferry

@Suite("Settings of an upload, by flags and by a configuration")
struct UploadSettingsTests {
    private let environment = ["HTTP_PROXY": "http://proxy.example:3128"]

    private func byFlags(_ arguments: [String]) throws -> UploadOptions {
        let command = try UploadCommand.parse(["--to", "http://hub.example/v1"] + arguments)
        return try command.settings().options(environment: environment)
    }

    private func byConfiguration(_ settings: [String]) throws -> UploadOptions {
        let configuration = RunConfiguration(flags: ["to=http://hub.example/v1"] + settings, path: nil, environment: [:])
        #expect(configuration.problems.map(\.description) == [])
        return try UploadSettings(ConfigValues(configuration), environment: environment).options(environment: environment)
    }

    /// Everything that options hold, by the names of the fields. Files with secrets are as many as are given.
    private func fields(_ options: UploadOptions) -> [String: String] {
        var fields: [String: String] = [:]
        for child in Mirror(reflecting: options).children { fields[child.label ?? ""] = String(reflecting: child.value) }
        return fields
    }

    @Test("What neither says is as the options are by default")
    func standard() throws {
        var standard = UploadOptions(destination: try DestinationURL("http://hub.example/v1"))
        standard.transport.proxies = try ProxySettings(environment: environment)
        #expect(try fields(byFlags([])) == fields(standard))
        #expect(try fields(byConfiguration([])) == fields(standard))
    }

    @Test(
        "What both say is the same",
        arguments: [
            (["--method", "PUT"], ["method=PUT"]),
            (["--header", "A: b", "--header", "C: d"], ["headers=A: b,C: d"]),
            (["--timeout", "5s", "--connect-timeout", "2s"], ["timeout=5s", "connect-timeout=2s"]),
            (["--body", "json-array", "--request-events", "7"], ["body=json-array", "request-events=7"]),
            (["--body", "sensors", "--request-events", "off"], ["body=sensors", "request-events=off"]),
            (["--body", "appcenter", "--request-bytes", "16KB"], ["body=appcenter", "request-bytes=16KB"]),
            (["--body", "measurement", "--tracking-id", "UA-1-1"], ["body=measurement", "tracking-id=UA-1-1"]),
            (["--parallel", "7"], ["parallel=7"]),
            (["--order", "strict"], ["order=strict"]),
            (["--verify", "always"], ["verify=always"]),
            (["--inflate-limit", "3MB"], ["inflate-limit=3MB"]),
            (["--coalesce", "off"], ["coalesce=off"]),
            (["--coalesce", "64KB"], ["coalesce=64KB"]),
            (["--split-broken", "off"], ["split-broken=off"]),
            (["--split-broken", "always"], ["split-broken=always"]),
            (["--bandwidth", "08:00 100KB, 19:00 off"], ["bandwidth=08:00 100KB, 19:00 off"]),
            (["--due", "04:00", "--late", "hold"], ["due.time=04:00", "due.late=hold"]),
            (["--max-spool-bytes", "10MB"], ["max-spool-bytes=10MB"]),
            (["--max-spool-age", "25d"], ["max-spool-age=25d"]),
            (["--keep-sent", "30d"], ["sent.max-age=30d"]),
            (["--keep-sent", "forever"], ["sent.max-age=forever"]),
        ])
    func same(_ arguments: [String], _ settings: [String]) throws {
        let (flags, configuration) = (try fields(byFlags(arguments)), try fields(byConfiguration(settings)))
        #expect(flags == configuration)
        // It says something.
        #expect(try flags != fields(byFlags([])))
    }

    @Test("Files that are named are the same, too")
    func files() throws {
        let folder = TemporaryFolder()
        for (name, text) in [("token", "secret\n"), ("headers", "X-Key: secret\n"), ("pem", "PEM\n")] {
            try text.write(toFile: folder(name), atomically: true, encoding: .utf8)
        }
        let flags = try byFlags([
            "--token-file", folder("token"), "--header-file", folder("headers"), "--ca", folder("pem"), "--cert", folder("pem"),
            "--key", folder("pem"),
        ])
        let configuration = try byConfiguration([
            "token-file=\(folder("token"))", "header-file=\(folder("headers"))", "tls.ca=\(folder("pem"))",
            "tls.cert=\(folder("pem"))", "tls.key=\(folder("pem"))",
        ])
        #expect(fields(flags) == fields(configuration))
        #expect(flags.secretFiles.count == 2)
        #expect(flags.transport.privateKey == folder("pem"))
    }
}
