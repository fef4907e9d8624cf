import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Where ferry write stops, and how it goes on there")
struct WriteTests {
    private let folder = TemporaryFolder()

    private func shell(_ script: String) async throws -> Program.Result {
        try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
    }

    @Test("A skipped line that its file does not take counts as not stored")
    func unkept() async throws {
        let lines = (1...15).map { $0 == 10 ? "bad 10" : "\($0)" }.joined(separator: "\n")
        let result = try await Program().run(
            "write", "--create", "--spool", folder("s"), "--skip-invalid", "--invalid", "/dev/full", "--json", input: lines)
        #expect(result.status == 73, "\(result.errors)")
        #expect(result.output.contains("\"nextLine\":10,\"published\":true,\"storedLines\":9"), "\(result.output)")
        #expect(result.errors.contains("tail -n +10 INPUT"), "\(result.errors)")
        #expect(try Spool.open(folder("s"), access: .read).events(in: [.pending]) == (1...9).map { "\($0)" })
    }

    @Test("Going on as told keeps every skipped line whole, also behind one that a full disk cut off")
    func keptWhole() async throws {
        guard folder.mount("size=16k") else { return }
        let result = try await shell(
            """
            head -c 8192 /dev/zero >"$DIR/m/fill"
            awk 'BEGIN { for (i = 1; i <= 600; i++) if (i % 10) print i; else printf "bad %d %0150d\\n", i, 0 }' >"$DIR/in"
            hint=$("$FERRY" write --create --spool "$DIR/s" --skip-invalid --invalid "$DIR/m/inv" "$DIR/in" 2>&1)
            echo "first $?"
            rm "$DIR/m/fill"
            next=$(echo "$hint" | sed -n 's/.*--first-line \\([0-9]*\\)$/\\1/p')
            tail -n +$next "$DIR/in" | "$FERRY" write -q --spool "$DIR/s" --skip-invalid --invalid "$DIR/m/inv" --first-line $next 2>/dev/null
            echo "second $?"
            grep bad "$DIR/in" >"$DIR/bad"; grep -Fxf "$DIR/bad" "$DIR/m/inv" | cmp - "$DIR/bad" && echo whole
            grep -v bad "$DIR/in" >"$DIR/good"; "$FERRY" cat --spool "$DIR/s" | cmp - "$DIR/good" && echo stored
            """)
        #expect(result.output == "first 73\nsecond 65\nwhole\nstored\n", "\(result.errors)")
    }

    @Test("A missing input is named, and its folder not suspected")
    func missingInput() async throws {
        let result = try await Program().run("write", "--create", "--spool", folder("s"), folder("none.jsonl"))
        #expect(result.errors.contains("cannot open \(folder("none.jsonl")): No such file or directory"), "\(result.errors)")
        #expect(!result.errors.contains("folder exist"))
    }

    @Test("An input that cannot be opened is left at its own first line")
    func secondInput() async throws {
        try "1\n2\n3\n".write(toFile: folder("in"), atomically: true, encoding: .utf8)
        let result = try await Program().run("write", "--create", "--spool", folder("s"), "--json", folder("in"), folder("none"))
        #expect(result.status == 74)
        #expect(result.output.contains("\"nextLine\":1,\"published\":true,\"storedLines\":0"), "\(result.output)")
        #expect(
            result.errors.contains("tail -n +1 \(folder("none")) | ferry write --spool \(folder("s")) --first-line 1\n"),
            "\(result.errors)")
    }

    @Test("The command that goes on can be taken as it stands, whatever the files are called")
    func quoted() async throws {
        let result = try await shell(
            """
            cd "$DIR"
            printf '1\\nbad\\n2\\n' >"my file's.jsonl"; printf '3\\n' >-x.jsonl; printf '4\\n' >'$(y).jsonl'
            "$FERRY" write --create --spool s --skip-invalid --invalid /dev/full -- "my file's.jsonl" -x.jsonl '$(y).jsonl' 2>errors
            ferry() { shift; "$FERRY" write --spool s --skip-invalid "$@"; }
            eval "$(sed -n 's/.*To go on, with the same options: //p' errors)" >/dev/null 2>&1
            "$FERRY" cat --spool s
            """)
        #expect(
            result.output == "1\n2\n3\n4\n",
            "\(result.errors) \((try? String(contentsOfFile: folder("errors"), encoding: .utf8)) ?? "")")
    }

    @Test(
        "Interrupted, or its terminal closed, it says in text and in JSON up to which line the input is stored",
        arguments: [SIGINT, SIGHUP])
    func interrupted(signal: Int32) async throws {
        let opened = try folder.spool("s")
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        let write = try Program().start(["write", "--spool", opened.path, "--skip-invalid", "--json", folder("pipe")])
        let end = try #require(FileHandle(forUpdatingAtPath: folder("pipe")))
        try end.write(contentsOf: Data("1\n\nbad\n2\n".utf8))
        try await eventually("the events are in the journal") {
            for name in try opened.directory.names() where name.hasSuffix(".open") {
                if try opened.directory.status(name)?.size == ByteCount(4) { return true }
            }
            return false
        }
        write.send(signal)
        let result = await write.end()
        #expect(result.status == 130, "\(result.errors)")
        #expect(result.output.hasPrefix("{\"events\":2,"), "\(result.output)")
        #expect(result.output.contains("\"invalid\":1,\"nextLine\":5,\"published\":true"), "\(result.output)")
        #expect(
            result.errors.contains("tail -n +5 INPUT | ferry write --spool \(opened.path) --first-line 5\n"),
            "\(result.errors)")
    }

    @Test("What gives way to its limits is told, whatever else is not")
    func dropped() async throws {
        let result = try await shell(
            """
            cd "$DIR"
            for n in 1 2 3; do echo "{\\"a\\":$n}" | "$FERRY" write -q --create --spool s; done
            echo '{"a":4}' | "$FERRY" write -q --spool s --max-spool-bytes 80B
            """)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("evicted 2 pending segments ("), "\(result.errors)")
    }

    @Test("Where its report cannot be printed it says that all is stored all the same", arguments: ["", "--json"])
    func unprinted(option: String) async throws {
        let result = try await shell("echo 1 | \"$FERRY\" write --create --spool \"$DIR/s\" \(option) >/dev/full; echo $?")
        #expect(result.output == "74\n")
        #expect(result.errors.contains("All is stored: 1 event, in "), "\(result.errors)")
    }

    @Test("Interrupted where its report cannot be printed it says how far it came all the same")
    func unprintedInterrupted() async throws {
        let result = try await shell(
            """
            mkfifo "$DIR/pipe"; exec 3<>"$DIR/pipe"; echo 1 >&3
            "$FERRY" write --create --spool "$DIR/s" "$DIR/pipe" >/dev/full & pid=$!
            until ls -A "$DIR/s" 2>/dev/null | grep -q open; do sleep 0.02; done
            kill -TERM $pid; wait $pid; echo $?
            """)
        #expect(result.output == "130\n")
        #expect(result.errors.contains("Interrupted. "), "\(result.errors)")
        #expect(result.errors.contains("--first-line 2"), "\(result.errors)")
        #expect(!result.errors.contains("All is stored"), "\(result.errors)")
    }

    @Test("A file for skipped lines that is what is read, by whatever name, is refused, and nothing is changed")
    func invalidIsInput() async throws {
        let text = "{\"a\":1}\nbad\n{\"a\":2}"
        try text.write(toFile: folder("in"), atomically: true, encoding: .utf8)
        #expect(link(folder("in"), folder("other")) == 0)
        let spool = try folder.spool("s")
        for name in ["in", "other"] {
            let result = try await Program().run(
                "write", "--spool", spool.path, "--skip-invalid", "--invalid", folder(name), folder("in"))
            #expect(result.status == 64, "\(result.errors)")
        }
        let result = try await shell(
            "timeout 20 \"$FERRY\" write --spool \"$DIR/s\" --skip-invalid --invalid \"$DIR/in\" <\"$DIR/in\"")
        #expect(result.status == 64, "\(result.errors)")
        #expect(try String(contentsOfFile: folder("in"), encoding: .utf8) == text)
    }

    @Test("A spool that is removed while it is written into: nothing is said to be stored")
    func removedSpool() async throws {
        let opened = try folder.spool("s")
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        let write = try Program().start(["write", "--spool", opened.path, "--json", folder("pipe")])
        let end = try #require(FileHandle(forUpdatingAtPath: folder("pipe")))
        try end.write(contentsOf: Data("1\n2\n".utf8))
        try await eventually("a journal is there") { try opened.scan().openJournals == 1 }
        try FileManager.default.removeItem(atPath: opened.path)
        write.send(SIGTERM)
        let result = await write.end()
        #expect(result.status == 74, "\(result.errors)")
        #expect(result.errors.contains("the spool \(opened.path) was removed"), "\(result.errors)")
        #expect(!result.errors.contains("are stored"), "\(result.errors)")
        #expect(result.output.contains("\"nextLine\":1,\"published\":false,\"storedLines\":0"), "\(result.output)")
    }
}
