import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("What the program that starts ferry leaves it")
struct StartTests {
    private let folder = TemporaryFolder()

    private func shell(_ script: String) async throws -> Program.Result {
        try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
    }

    @Test("Closed standard files are empty ones: no file of Ferry's gets their numbers", arguments: ["<&-", "<&- >&- 2>&-"])
    func closedInput(files: String) async throws {
        let result = try await shell("timeout -s KILL 60 \"$FERRY\" write --create --spool \"$DIR/s\" \(files)")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try Spool.open(folder("s"), access: .read).pending().isEmpty)
    }

    @Test("Without an output, events are stored and nothing is written among them")
    func closedOutput() async throws {
        let result = try await shell("echo 1 | timeout -s KILL 60 \"$FERRY\" write --create --spool \"$DIR/s\" >&- 2>&-")
        #expect(result.status == 0)
        #expect(try Spool.open(folder("s"), access: .read).events(in: [.pending]) == ["1"])
    }

    @Test(
        "With too few open files for its sockets, a command says so in one line, and sends nothing",
        arguments: ["upload --spool \"$DIR/s\" --to http://127.0.0.1:9/", "receive --spool \"$DIR/s\"", "demo"])
    func fewDescriptors(command: String) async throws {
        try folder.spool("s").put(Segments.gzip("1\n"))
        let result = try await shell("ulimit -n 9; exec timeout -s KILL 60 \"$FERRY\" \(command)")
        #expect(result.status == 74, "\(result.errors)")
        #expect(result.errors.contains("ulimit -n"), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }

    @Test("With too few open files for so many requests at once an upload says so in one line")
    func fewDescriptorsForManyRequests() async throws {
        try folder.spool("s").put(Segments.gzip("1\n"))
        let result = try await shell(
            "ulimit -n 120; exec timeout -s KILL 60 \"$FERRY\" upload --spool \"$DIR/s\" --to http://127.0.0.1:9/ --parallel 64")
        #expect(result.status == 74, "\(result.errors)")
        #expect(result.errors.contains("ulimit -n"), "\(result.errors)")
    }

    @Test(
        "A name that is not UTF-8 is refused: another folder would be meant",
        arguments: ["\"$FERRY\" init --spool \"$(printf 'k\\344')\"", "FERRY_SPOOL=\"$(printf 'k\\344')\" \"$FERRY\" status"])
    func otherEncodings(command: String) async throws {
        let result = try await shell("cd \"$DIR\" && \(command); echo $?; ls")
        #expect(result.output == "64\n")
        #expect(result.errors.contains("is not UTF-8"))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test(
        "With too few open files a writer says so in one line, and stores nothing or says up to where",
        arguments: [6, 10, 14, 18, 22, 24, 32])
    func fewDescriptorsForWriting(limit: Int) async throws {
        let lines = Segments.lines(0..<3000)
        try lines.write(toFile: folder("in"), atomically: true, encoding: .utf8)
        let result = try await shell(
            "ulimit -n \(limit); exec timeout -s KILL 60 \"$FERRY\" write -q --create --spool \"$DIR/s\" --roll-events 300 \"$DIR/in\""
        )
        if result.status == 0 {
            #expect(try Spool.open(folder("s"), access: .read).events(in: [.pending]).count == 3000)
        } else {
            #expect(result.status == 74, "\(result.errors)")
            #expect(result.errors.contains("ulimit -n"), "\(result.errors)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
            #expect(access(folder("s"), F_OK) != 0)
        }
    }

    @Test("Without /proc, from which Swift reads the arguments, no command is taken for a call for help")
    func noProcessFileSystem() async throws {
        // Where mounts are not allowed, the shell ends before.
        let result = try await Program("/usr/bin/unshare").run(
            "--mount", "sh", "-c", "mount -t tmpfs none /proc || { echo SKIP; exit; }; exec \"$0\" status", Program.ferry)
        guard result.status != 1, result.output != "SKIP\n" else { return }
        #expect(result.status == 74)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("is /proc mounted?"), "\(result.errors)")
    }

    @Test("The system's log hears nothing of threads whose priority a user may not raise", .needs("strace"))
    func systemLog() async throws {
        let strace = try #require(Program.find("strace"))
        try folder.spool("s").put(Segments.gzip("1\n"))
        let user = getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
        let result = try await shell(
            """
            chmod -R a+rwX "$DIR"
            \(user) \(strace) -f -e trace=connect,setpriority "$FERRY" upload --spool "$DIR/s" --to http://127.0.0.1:9/
            """)
        #expect(result.errors.contains("setpriority"), "\(result.errors)")
        #expect(!result.errors.contains("/dev/log"), "\(result.errors)")
    }

    @Test("A file size limit stops a writer as a full disk does, and it says where")
    func fileSize() async throws {
        // Blocks of 512 bytes, in a POSIX shell.
        let result = try await shell(
            """
            awk 'BEGIN { for (i = 1; i <= 4000; i++) printf "{\\"n\\":%d,\\"x\\":\\"%050d\\"}\\n", i, 0 }' >"$DIR/in"
            cat "$DIR/in" | (ulimit -f 240; exec "$FERRY" write --create --spool "$DIR/s" --json 2>"$DIR/errors")
            echo "first $?"
            next=$(sed -n 's/.*--first-line \\([0-9]*\\)$/\\1/p' "$DIR/errors")
            [ "$next" -gt 1 ] && echo "some are stored"
            tail -n +$next "$DIR/in" | "$FERRY" write -q --spool "$DIR/s" --first-line $next
            "$FERRY" cat --spool "$DIR/s" | cmp - "$DIR/in" && echo all
            """)
        #expect(result.output.contains("first 73\nsome are stored\nall\n"), "\(result.output) \(result.errors)")
    }
}
