import FerrySpool
import Foundation
import TestSupport
import Testing

/// Programs in C and Python that fork while they track.
@Suite("Programs that fork", .serialized)
struct ForkTests {
    private let folder = TemporaryFolder()
    private static let library = Program.built("libferrytracker.so")

    /// Runs a mode of Examples/C/forks.c.
    private func run(_ mode: String, preload: String? = nil) async throws -> Program.Result {
        let compiled = try await Program(try #require(Program.find("cc"))).run(
            "-Wall", "-Wextra", "-Werror", "-pthread", "-I", "\(Program.checkout)/Sources/CFerry/include",
            "\(Program.checkout)/Examples/C/forks.c", Self.library,
            "-Wl,-rpath,\((Self.library as NSString).deletingLastPathComponent)", "-o", folder("forks"))
        #expect(compiled.status == 0, "\(compiled.errors)")
        var environment = ["SWIFT_BACKTRACE": "enable=no"]
        environment["LD_PRELOAD"] = preload
        return try await Program(folder("forks"), environment: environment).run(mode, folder("spool"))
    }

    /// How many events of each name are published, what the dead left included.
    private func counts(_ spool: String = "spool") throws -> [String: Int] {
        let spool = try Spool.open(folder(spool), access: .write)
        _ = try spool.housekeeping.recover()
        var counts: [String: Int] = [:]
        for line in try spool.events(in: [.pending]) {
            let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            counts[event["name"] as? String ?? "?", default: 0] += 1
        }
        return counts
    }

    @Test("Workers of a prefork server have trackers of their own; the parent's events are whole", .needs("cc"))
    func prefork() async throws {
        let result = try await run("prefork")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output == "", "\(result.output)\(result.errors)")
        #expect(
            try counts() == ["parent": 600, "worker 0": 200, "worker 1": 200, "worker 2": 200, "worker 3": 200])
    }

    @Test(
        "A child that is forked while another thread uses the library for the first time waits for none of its locks",
        .needs("cc"))
    func early() async throws {
        let result = try await run("early")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output == "", "\(result.output)\(result.errors)")
        #expect(try counts() == ["parent": 150, "child": 30])
    }

    @Test(
        "In a child the library's threads work one at a time: the runtime does not know the number of the one that forked",
        .needs("cc"))
    func turns() async throws {
        let result = try await run("turns")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output == "", "\(result.output)\(result.errors)")
    }

    @Test(
        "A daemon that closed every file it inherited tracks, and closing the inherited tracker closes nothing of its own",
        .needs("cc"))
    func daemonise() async throws {
        let result = try await run("daemonise")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output == "", "\(result.output)\(result.errors)")
        #expect(try counts() == ["before": 10, "daemon": 100])
    }

    @Test("SIGTERM ends the child that it was sent to, and not the parent; a child's own tracker publishes first", .needs("cc"))
    func terminate() async throws {
        let result = try await run("terminate")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output == "", "\(result.output)\(result.errors)")
        #expect(try counts() == ["parent": 30, "child": 10])
    }

    @Test("A child keeps no journal of a killed parent locked", .needs("cc"))
    func orphan() async throws {
        let result = try await run("orphan")
        let child = try #require(pid_t(result.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        defer { kill(child, SIGKILL) }
        #expect(result.status == SIGKILL)
        #expect(kill(child, 0) == 0)
        // The child may have had no turn yet since the fork.
        try await eventually("the events are published") { try counts() == ["parent": 10] }
    }

    @Test(
        "A fork that runs no handlers: the child is told that it is one, loses no file of its own, and repeats no event's ID",
        .needs("cc"))
    func raw() async throws {
        let result = try await run("raw")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output == "", "\(result.output)\(result.errors)")
        #expect(try counts() == ["parent": 20])
    }

    @Test("Forty generations of forks, each with a tracker, keep no file of those before open", .needs("cc"))
    func generations() async throws {
        let result = try await run("generations")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output == "", "\(result.output)\(result.errors)")
        #expect(try counts() == ["generation": 40])
    }

    @Test(
        "A program that closes all files under its tracker is told at the next flush; nothing goes into its next files, and what follows is stored",
        .needs("cc")
    )
    func closeAll() async throws {
        let result = try await run("close_all")
        #expect(result.status == SIGTERM, "\(result.output)\(result.errors)")
        #expect(result.output == "", "\(result.output)\(result.errors)")
        #expect(try counts() == ["before": 10, "after": 20])
    }

    @Test("A daemon without standard streams goes on printing, and nothing of that goes into a segment", .needs("cc"))
    func printing() async throws {
        let result = try await run("print_on")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try counts() == ["daemon": 200])
    }

    @Test("No file of Ferry's has the number of a standard stream, not even for a moment", .needs("cc"))
    func printingAtAnyMoment() async throws {
        // What moves a file to another number takes long enough for a print.
        let slow = try await Preload.build(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <fcntl.h>
            #include <stdarg.h>
            #include <unistd.h>
            static int moved(const char *name, int fd, int command, long argument) {
                int (*next)(int, int, long) = (int (*)(int, int, long))dlsym(RTLD_NEXT, name);
                if (command == F_DUPFD_CLOEXEC) usleep(20000);
                return next(fd, command, argument);
            }
            #define WRAP(name) int name(int fd, int command, ...) { va_list list; va_start(list, command); \\
                long argument = va_arg(list, long); va_end(list); return moved(#name, fd, command, argument); }
            WRAP(fcntl)
            WRAP(fcntl64)
            """, in: folder)
        let result = try await run("print_on", preload: slow)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try counts() == ["daemon": 200])
    }

    @Test(
        "A child of a process that has sent is told that it cannot send, and waits for nothing; what it tracks is published",
        .needs("cc"))
    func sender() async throws {
        let result = try await run("sender")
        #expect(result.status == 0)
        #expect(result.output == "")
        #expect(try counts() == ["parent": 20, "child": 20])
    }

    @Test("Forked while four threads track, no child waits for a lock of theirs", .needs("cc"))
    func race() async throws {
        let result = try await run("race")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output == "", "\(result.output)\(result.errors)")
        #expect(try counts() == ["thread": 8000])
    }

    @Test(
        "A crash is recorded by each open tracker, not by a closed one and not by a child; a stack for signals stays whose it is",
        .needs("cc"))
    func crash() async throws {
        let result = try await run("crash")
        #expect(result.status == SIGSEGV, "\(result.output)\(result.errors)")
        #expect(result.output == "", "\(result.output)\(result.errors)")
        var crashes: [Int] = []
        for name in ["first", "second", "third"] {
            let state = folder("spool/\(name)/.ferry")
            let recordings = try FileManager.default.contentsOfDirectory(atPath: state).filter { $0.hasPrefix("crash-") }
            let lines = try recordings.flatMap {
                try String(contentsOfFile: "\(state)/\($0)", encoding: .utf8).split(separator: "\n").filter {
                    $0.hasPrefix("signal=")
                }
            }
            crashes.append(lines.count)
            #expect(lines.allSatisfy { $0.hasPrefix("signal=\(SIGSEGV) ") })
        }
        #expect(crashes == [0, 1, 1])
    }

    @Test("Python's multiprocessing: a fork's workers are told to open trackers of their own, and do", .needs("python3"))
    func multiprocessing() async throws {
        let script = "\(Program.checkout)/Examples/Python/workers.py"
        let result = try await Program("/usr/bin/env").run("python3", script, Self.library, folder("spool"))
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output == "{(6, 0, 0)}\n0\n", "\(result.output)\(result.errors)")
        var wanted = ["parent": 100]
        for worker in 0..<6 { wanted["worker \(worker)"] = 50 }
        #expect(try counts() == wanted)
    }
}
