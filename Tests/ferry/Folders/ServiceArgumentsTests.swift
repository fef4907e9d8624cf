import ArgumentParser
import Foundation
import Testing

@testable import ferry

@Suite("What a unit calls a command with")
struct ServiceArgumentsTests {
    private func units(_ words: [String], user: String = "ferry", writable: [String] = []) -> SystemdUnits {
        SystemdUnits(
            program: "/usr/bin/ferry", user: user, arguments: ServiceArguments(words, from: "/srv"), writable: writable)
    }

    private func line(_ key: String, in unit: String) -> String? {
        unit.split(separator: "\n").first { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
    }

    @Test("Paths become absolute, and nothing else changes")
    func paths() {
        let words = [
            "--spool", "a/*", "--token-file=t", "--quiet", "--ca", "/etc/ca", "-c", "c.yaml", "--stream", "s", "--to", "u",
        ]
        let arguments = ServiceArguments(words, from: "/srv")
        #expect(
            arguments.words == [
                "--spool", "/srv/a/*", "--token-file=/srv/t", "--quiet", "--ca", "/etc/ca", "-c", "/srv/c.yaml", "--stream", "s",
                "--to", "u",
            ])
        #expect(arguments.values(of: ["--token-file", "--ca"]) == ["/srv/t", "/etc/ca"])
    }

    @Test(
        "Every option of the commands that takes a file or a folder is known to be a path",
        arguments: ["run", "upload", "receive"])
    func everyPath(command: String) async throws {
        struct Dump: Decodable {
            struct Name: Decodable { let kind: String, name: String }
            struct Argument: Decodable { let valueName: String?, names: [Name]? }
            struct Command: Decodable { let commandName: String, arguments: [Argument]?, subcommands: [Command]? }
            let command: Command
        }
        let text = FerryCommand._dumpHelp()
        let dump = try JSONDecoder().decode(Dump.self, from: Data(text.utf8))
        let arguments = try #require(dump.command.subcommands?.first { $0.commandName == command }?.arguments)
        let known = ServiceArguments.files.union(ServiceArguments.folders)
        for argument in arguments where ["file", "dir"].contains(argument.valueName) {
            for name in argument.names ?? [] {
                #expect(known.contains(name.kind == "short" ? "-\(name.name)" : "--\(name.name)"))
            }
        }
    }

    @Test("What systemd would replace or split stays as it is")
    func quoting() {
        let upload = units(["--to", "http://h/%20a$b", "--spool", "/a b/\"c'"], writable: ["/a b/\"c'", "/d$e%f"]).upload
        #expect(
            line("ExecStart", in: upload) == #"/usr/bin/ferry upload --to http://h/%%20a$$b --spool "/a b/\"c'""#)
        #expect(line("ReadWritePaths", in: upload) == #""-/a b/\"c'" -/d$e%%f"#)
    }

    @Test("systemd reads the files with secrets for a user, and leaves those to root that are root's")
    func credentials() {
        let words = ["--token-file", "t", "--key=/k", "--ca", "ca"]
        let upload = units(words).upload
        #expect(
            line("ExecStart", in: upload)
                == "/usr/bin/ferry upload --token-file ${CREDENTIALS_DIRECTORY}/token-file --key=${CREDENTIALS_DIRECTORY}/key --ca /srv/ca"
        )
        #expect(upload.contains("\nLoadCredential=key:/k\nLoadCredential=token-file:/srv/t\n"))
        // systemd takes no quotes there.
        #expect(line("LoadCredential", in: units(["--token-file", "/a b/t%"]).upload) == "token-file:/a b/t%%")
        let own = units(words, user: "root").upload
        #expect(line("ExecStart", in: own) == "/usr/bin/ferry upload --token-file /srv/t --key=/k --ca /srv/ca")
        #expect(line("LoadCredential", in: own) == nil)
    }

    @Test("A receiver of a low port may listen there, and no other has that capability")
    func lowPort() {
        #expect(units([]).receive(port: 443).contains("\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n"))
        #expect(!units([]).receive(port: 8787).contains("CAP_NET_BIND_SERVICE"))
    }

    @Test("The package's units are as hardened as those that the program writes", arguments: ServiceRole.allCases)
    func packaged(role: ServiceRole) throws {
        let file = "\(checkout)/packaging/systemd/\(role.unitNames[0])"
        let unit = try String(contentsOfFile: file, encoding: .utf8)
        for setting in SystemdUnits.hardening.split(separator: "\n") {
            #expect(unit.contains("\n\(setting)\n"))
        }
    }

    private let checkout = #filePath.components(separatedBy: "/Tests/ferry/")[0]
}
