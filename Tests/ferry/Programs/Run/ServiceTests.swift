import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Units that start")
struct ServiceTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    /// Installs units. The folder is one for temporary files, of which a warning tells.
    private func install(_ arguments: String...) async throws -> Program.Result {
        try FileManager.default.createDirectory(atPath: folder("units"), withIntermediateDirectories: true)
        return try await ferry.start(["service", "install", "--directory", folder("units")] + arguments).end()
    }

    private func unit(_ name: String) throws -> String { try String(contentsOfFile: folder("units/\(name)"), encoding: .utf8) }

    private func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: folder(name), atomically: true, encoding: .utf8)
        return folder(name)
    }

    private func config(_ text: String) throws -> String { try write("ferry.yaml", text) }

    /// Lets systemd look at a unit.
    private func verify(_ name: String) async throws {
        let analyze = try #require(Program.find("systemd-analyze"))
        let check = try await Program(analyze).run("verify", folder("units/\(name)"))
        #expect(check.status == 0, "\(check.errors)")
        #expect(!check.errors.contains(name), "\(check.errors)")
    }

    @Test("The units of each role are sound by systemd's own check", .needs("systemd-analyze"))
    func verified() async throws {
        let spool = try folder.spool()
        let file = try config("to: https://hub.example/\nspools: [\(spool.path)]\n")
        let token = try write("to ken", "secret")
        #expect(try await install("--config", file).status == 0)
        let upload = try await install(
            "--role", "upload", "--spool", spool.path, "--to", "https://hub.example/a%20b", "--token-file", token, "--user",
            "daemon",
            "--every", "Mon..Fri 08:00", "--bandwidth", "08:00 100KB, 19:00 off")
        // The spool is not the user's.
        #expect(upload.status == 1, "\(upload.errors)")
        #expect(try await install("--role", "receive", "--spool", spool.path, "--listen", "127.0.0.1:80").status == 0)
        for name in ["ferry.service", "ferry-upload.service", "ferry-upload.timer", "ferry-receive.service"] {
            try await verify(name)
        }
    }

    @Test("A unit may write to all that its configuration writes to, and runs as the owner of the spool")
    func writable() async throws {
        for name in ["hub", "metrics", "share"] {
            _ = try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        let spool = try folder.spool()
        let file = try config(
            """
            spools: [\(spool.path), \(folder("hub"))/*]
            destinations:
              share: file://\(folder("share"))/{day}/{segment}
              hub: https://hub.example/
            metrics:
              file: \(folder("metrics"))/ferry.prom
            """)
        if getuid() == 0 { #expect(chown(spool.path, 1, 1) == 0) }
        let installed = try await install("--config", file)
        #expect(installed.status == (getuid() == 0 ? 1 : 0), "\(installed.errors)")
        let unit = try unit("ferry.service")
        let places = [spool.path, folder("hub"), folder("metrics") + "/", folder("share")].map { "-" + $0 }
        let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ReadWritePaths=") })
        #expect(Set(line.dropFirst(15).split(separator: " ").map(String.init)) == Set(places))
        #expect(unit.contains(" run --config \(file)\n"))
        if getuid() == 0 {
            #expect(unit.contains("\nUser=daemon\n"))
            #expect(installed.errors.contains("daemon may not write in \(folder("metrics"))"))
        }
    }

    @Test("A relative path becomes absolute, and one in the configuration is refused: systemd starts programs elsewhere")
    func relative() async throws {
        let spool = try folder.spool()
        _ = try config("to: https://hub.example/\nspools: [\(spool.path)]\n")
        let shell = Program("/bin/sh", environment: ["FERRY": Program.ferry])
        func print() async throws -> Program.Result {
            try await shell.run("-c", "cd \"$0\" && exec \"$FERRY\" service print --config ferry.yaml", folder.path)
        }
        let good = try await print()
        #expect(good.output.contains(" run --config \(folder("ferry.yaml"))\n"))
        _ = try config("to: https://hub.example/\nspools: [spool]\nmetrics.file: ferry.prom\n")
        let bad = try await print()
        for path in ["spool", "ferry.prom"] { #expect(bad.errors.contains("'\(path)' in the configuration must begin with /")) }
        #expect(try await install("--config", folder("ferry.yaml")).status == 78)
    }

    @Test("What could not do its work is not installed, and each reason is told")
    func refused() async throws {
        let spool = try folder.spool()
        let upload = ["--role", "upload", "--spool", spool.path]
        let url = ["--to", "https://hub.example/"]
        for (arguments, status, text) in [
            (upload, 64, "'--to <url>'"),
            (upload + ["--to", "hub"], 64, "--to"),
            (upload + url + ["--tokn-file", "x"], 64, "--tokn-file"),
            (upload + url + ["--token-file", folder("none")], 78, folder("none")),
            (upload + url + ["--user", "no-such-user"], 78, "there is no user no-such-user"),
            (["--role", "receive"], 64, "needs --spool, --machines or --store"),
            (["--role", "receive", "--spool", folder("none")], 78, "there is no folder \(folder("none"))"),
            (["--role", "receive", "--spool", spool.path, "--listen", "0.0.0.0:8787"], 78, "--insecure allows it"),
            (["--config", folder("none.yaml")], 78, folder("none.yaml")),
            (["--config", try config("to: htp://hub\nspools: [\(spool.path)]\n")], 78, "ferry.yaml:1:"),
            (["--every", "1h"], 64, "--every goes with --role upload"),
        ] as [([String], Int32, String)] {
            let directory = ["service", "install", "--directory", folder("units")]
            try FileManager.default.createDirectory(atPath: folder("units"), withIntermediateDirectories: true)
            let result = try await ferry.start(directory + arguments).end()
            #expect(result.status == status, "\(arguments): \(result.errors)")
            #expect(result.errors.contains(text), "\(arguments): \(result.errors)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("units")).isEmpty)
    }

    @Test("A time that systemd does not understand is refused", .needs("systemd-analyze"))
    func calendar() async throws {
        let result = try await install(
            "--role", "upload", "--spool", try folder.spool().path, "--to", "https://hub.example/", "--every", "every day")
        #expect(result.status == 78)
        #expect(result.errors.contains("--every 'every day' is no time of systemd's"))
    }

    @Test("A program or file in a place that a unit does not see, or that may go, is told")
    func places() async throws {
        let result = try await install("--role", "receive", "--spool", try folder.spool().path)
        #expect(result.status == 0)
        #expect(result.errors.contains("\(folder("spool")) is in a folder for temporary files"))
        #expect(result.errors.contains("install it first") || !Program.ferry.contains("/.build/"))
    }

    @Test("An installed unit is not overwritten, and --timer is the role upload still")
    func again() async throws {
        let upload = ["--spool", try folder.spool().path, "--to", "https://hub.example/"]
        #expect(try await install("--role", "upload", upload[0], upload[1], upload[2], upload[3]).status == 0)
        let former = try await install("--timer", upload[0], upload[1], upload[2], upload[3], "--quiet")
        #expect(former.status == 74)
        #expect(former.errors.contains("--timer is --role upload now"))
        #expect(former.errors.contains("--force"))
        #expect(try await install("--force", "--timer", upload[0], upload[1], upload[2], upload[3], "--quiet").status == 0)
        #expect(try unit("ferry-upload.service").contains(" --quiet\n"))
    }
}
