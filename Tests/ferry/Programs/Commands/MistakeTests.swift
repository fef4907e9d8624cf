import FerrySpool
import Foundation
import TestSupport
import Testing

/// One line says what is wrong, where, and what is right.
@Suite("Mistakes on the command line")
struct MistakeTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    private func expect(
        _ arguments: [String], _ status: Int32, _ texts: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws { try await ferry.expect(arguments, status, texts, in: \.errors, sourceLocation: sourceLocation) }

    @Test(
        "A command that there is not is named, and the one that was probably meant",
        arguments: [
            (["uplaod", "--to", "x"], "unknown command 'uplaod'; did you mean 'upload'?"),
            (["service", "instal", "--user", "x"], "unknown command 'service instal'; did you mean 'service install'?"),
            (["help", "config", "chek"], "unknown command 'config chek'; did you mean 'config check'?"),
            (["zzzzzzz"], "unknown command 'zzzzzzz'; ferry --help lists all"),
            (["machine", "zzzzzzz"], "unknown command 'machine zzzzzzz'; ferry machine --help lists all"),
        ])
    func unknown(arguments: [String], text: String) async throws {
        let result = try await ferry.start(arguments).end()
        #expect(result.status == 64)
        #expect(result.errors == "ferry: error: \(text)\n")
    }

    @Test(
        "A value that cannot be is told with what can",
        arguments: [
            (["upload", "--to", "http://h/", "--time-limit", "5"], "like 250ms, 90s, 5m or 1h30m, at most 36525d"),
            (["upload", "--to", "http://h/", "--time-limit", "40000d"], "at most 36525d"),
            (["upload", "--to", "http://h/", "--deadline", "5"], "like 250ms, 90s, 5m or 1h30m"),
            (["upload", "--to", "http://h/", "--coalesce", "x"], "auto, off or a size up to 16MiB"),
            (["upload", "--to", "http://h/", "--parallel", "x"], "a whole number, like 1 or 500"),
            (["prune", "--max-sent-bytes", "0"], "a size is like 500KB, 10MB or 1GiB, more than 0"),
            (["prune", "--max-sent-bytes", "9223372036854775808"], "less than 9 EB"),
            (["write", "--priority", "11"], "0 to 9, or critical, normal or bulk"),
            (["write", "--level", "12"], "auto, fast, or a number from 1 to 9"),
            (["write", "--roll-events", "many"], "a whole number, like 1 or 500"),
            (["list", "--limit", "1.5"], "a whole number, like 1 or 500"),
            (["status", "--watch", "5"], "--watch 5: a duration is like 250ms, 2s or 1m"),
        ])
    func values(arguments: [String], text: String) async throws { try await expect(arguments, 64, [text]) }

    @Test("A file that cannot be read is told with the option that names it, and nothing is made for it")
    func files() async throws {
        let (spool, none) = (try folder.spool().path, folder("none"))
        let upload = ["upload", "--spool", spool, "--to", "https://127.0.0.1:9/"]
        let receive = ["receive", "--spool", folder("rx"), "--listen", "127.0.0.1:0"]
        for (arguments, option) in [
            (upload + ["--token-file", none], "--token-file"), (upload + ["--header-file", none], "--header-file"),
            (upload + ["--ca", none], "--ca"), (receive + ["--token-file", none], "--token-file"),
            (receive + ["--tls-cert", none, "--tls-key", none], "--tls-cert"),
            (["export", folder.path, "--spool", spool, "--sign", none], "--sign"),
            (["export", folder.path, "--spool", spool, "--encrypt-to", none], "--encrypt-to"),
            (["import", folder.path, "--spool", folder("rx"), "--key", none], "--key"),
            (["acknowledge", folder.path, "--spool", spool, "--from", none], "--from"),
            (["config", "check", "--config", none], "--config"),
        ] { try await expect(arguments, 78, ["\(option): cannot open \(none): No such file or directory"]) }
        #expect(!FileManager.default.fileExists(atPath: folder("rx")))
        let variable = try await Program(environment: ["FERRY_CONFIG": none]).run("config", "check")
        #expect(variable.errors.contains("$FERRY_CONFIG: cannot open \(none): No such file or directory"), "\(variable.errors)")
    }

    @Test("Of a setting that is wrong neither key nor value is told twice")
    func settings() async throws {
        try "to: 127.0.0.1:8787\nspools: [none]\ntimezone: X\n".write(
            toFile: folder("c.yaml"), atomically: true, encoding: .utf8)
        try await expect(
            ["config", "check", "--config", folder("c.yaml"), "--set", "interval=abc"], 78,
            [
                "c.yaml:1: to: '127.0.0.1:8787' is no URL; write it like https://",
                "c.yaml:2: there is no spool none; ferry init none makes one", "c.yaml:3: timezone: 'X' is no known time zone",
                "--set interval: 'abc' must be a duration like",
            ])
    }

    @Test("The check of a configuration looks at the folder that metrics are written into")
    func metrics() async throws {
        let spool = try folder.spool().path
        let check = ["config", "check", "--to", "http://h/", "--spool", spool, "--set"]
        try await expect(
            check + ["metrics.file=\(folder("none"))/ferry.prom"], 78,
            ["--set metrics.file: '\(folder("none"))/ferry.prom': cannot write in \(folder("none")): No such file or directory"])
        try await expect(check + ["metrics.file=\(folder("ferry.prom"))"], 0, [])
    }

    @Test("A dry run of pruning names what would go, and why, and changes nothing", arguments: [false, true])
    func prune(isJSON: Bool) async throws {
        let spool = try folder.spool()
        for second in 1...3 { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: second)) }
        let sent = try spool.directory.makeDirectory("sent").makeDirectory("2026-11-21")
        try sent.replace(Segments.name(second: 9).fileName, with: Segments.gzip("{}\n"), durable: false)
        let before = try spool.directory.names().sorted()
        let prune = ["prune", "--spool", spool.path, "--max-spool-bytes", "1", "--max-sent-bytes", "1", "--dry-run"]
        let result = try await ferry.start(prune + (isJSON ? ["--json"] : [])).end()
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 4, "\(result.output)")
        #expect(lines.dropLast().allSatisfy { $0.contains("the spool was larger than 1 B") }, "\(result.output)")
        #expect(
            lines.last?.contains(
                isJSON ? "\"dropped\":3" : "would drop 3 pending segments (") ?? false, "\(result.output)")
        #expect(lines.last?.contains(isJSON ? "\"sentDeleted\":1" : "delete 1 delivered segment (") ?? false, "\(result.output)")
        #expect(try spool.directory.names().sorted() == before)
        #expect(try sent.names().count == 1)
    }

    @Test("An unencrypted connection that is closed without a word is asked about TLS, and what waits then about another try")
    func plain() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        let server = ScriptedServer { peer in _ = peer.request() }
        let upload = ["upload", "--spool", spool.path, "--to", server.url]
        let closed = try await ferry.start(upload).end()
        #expect(closed.status == 75)
        #expect(
            closed.errors.contains("without an answer; if it speaks TLS, the URL must begin with https://"), "\(closed.errors)")
        #expect(closed.output.contains("ferry list tells what they wait for, --retry-now tries them now"), "\(closed.output)")
        let waiting = try await ferry.start(upload).end()
        #expect(waiting.output.contains("--retry-now tries them now"), "\(waiting.output)")
    }
}
