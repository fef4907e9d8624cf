import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("File systems that lock only what may be written, or nothing at all")
struct LockTests {
    private let folder = TemporaryFolder()

    /// What NFS does, for a program that loads it before the C library.
    private static let source = """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <fcntl.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/file.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int flock(int descriptor, int operation) {
            const char *locks = getenv("TEST_LOCKS");
            if (locks && !strcmp(locks, "none")) { errno = ENOLCK; return -1; }
            int isReadOnly = (fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY;
            if (locks && !strcmp(locks, "writable") && operation & LOCK_EX && isReadOnly) { errno = EBADF; return -1; }
            return syscall(SYS_flock, descriptor, operation);
        }
        """

    /// Returns `ferry` on such a file system.
    private func ferry(locks: String) async throws -> Program {
        let library = try await Preload.build(Self.source, in: folder)
        return Program(environment: ["LD_PRELOAD": library, "TEST_LOCKS": locks])
    }

    @Test("Where a lock needs a file that may be written, everything is written, sealed and sent", .needs("cc"))
    func writable() async throws {
        let ferry = try await ferry(locks: "writable")
        let spool = try folder.spool()
        try spool.put(Segments.gzip("1\n"), as: Segments.name(second: 1))
        try spool.directory.replace(Segments.name(second: 2).journalName, with: Array("2\n".utf8), durable: false)
        let written = try await ferry.run("write", "--spool", spool.path, input: "3\n")
        #expect(written.status == 0, "\(written.errors)")
        let hub = try await Hub(folder("hub"))
        let upload = try await ferry.run("upload", "--spool", spool.path, "--to", hub.url)
        await hub.stop()
        #expect(upload.status == 0, "\(upload.errors)")
        #expect(upload.output.contains("sent 3 segments"), "\(upload.output)")
        #expect(try Set(Spool.open(folder("hub"), access: .read).events(in: [.pending])) == ["1", "2", "3"])
    }

    @Test(
        "Where locks do not work at all, every command that writes or sends says so and ends with 74", .needs("cc"),
        arguments: [
            ["write"], ["upload", "--to", "http://127.0.0.1:9/"], ["prune", "--max-spool-bytes", "1"], ["retry", "--all"],
            ["pause"],
            ["resume"], ["export", "/nowhere"], ["import", "/nowhere"], ["receive", "--listen", "127.0.0.1:0"],
        ])
    func none(_ command: [String]) async throws {
        let ferry = try await ferry(locks: "none")
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("1\n"))
        let result = try await ferry.start(command + ["--spool", spool.path]).end()
        #expect(result.status == 74, "\(result.output)")
        #expect(result.errors.contains("cannot lock"), "\(result.errors)")
        #expect(try spool.pending() == [name])
    }

    @Test("Where locks do not work at all, one may look", .needs("cc"))
    func looking() async throws {
        let ferry = try await ferry(locks: "none")
        let spool = try folder.spool()
        try spool.put(Segments.gzip("1\n"))
        #expect(try await ferry.run("status", "--spool", spool.path).status == 0)
        #expect(try await ferry.run("cat", "--spool", spool.path).output == "1\n")
    }
}
