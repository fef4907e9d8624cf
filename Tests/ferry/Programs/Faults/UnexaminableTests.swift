import FerrySpool
import Foundation
import TestSupport
import Testing

/// fstatat(2) answers EIO for segments.
@Suite("Segments that the disk or the server lets no program examine")
struct UnexaminableTests {
    private let folder = TemporaryFolder()

    /// Ferry with a disk on which examining a segment fails while `fails` is there: a file goes with the first failure, a folder stays.
    private func ferry() async throws -> Program {
        let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <string.h>
            #include <sys/stat.h>
            #include <unistd.h>
            int fstatat(int folder, const char *name, struct stat *found, int flags) {
                int (*next)(int, const char *, struct stat *, int) = dlsym(RTLD_NEXT, "fstatat");
                const char *end = strrchr(name, '.');
                if (end && strcmp(end, ".gz") == 0 && access("\(folder("fails"))", F_OK) == 0) {
                    unlink("\(folder("fails"))");
                    errno = EIO;
                    return -1;
                }
                return next(folder, name, found, flags);
            }
            """
        return Program(environment: ["LD_PRELOAD": try await Preload.build(source, in: folder)])
    }

    @Test("A single failure, at the start or as a segment appears, leaves no segment unsent", .needs("cc"))
    func once() async throws {
        let ferry = try await ferry()
        let spool = try folder.spool()
        let hub = try await Hub(folder("hub"))
        func arrived() throws -> [String] { try Spool.open(folder("hub"), access: .read).pending() }
        let first = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        _ = FileManager.default.createFile(atPath: folder("fails"), contents: nil)
        let run = try ferry.start(["run", "--spool", spool.path, "--to", hub.url])
        try await eventually("the first") { try arrived() == [first] }
        #expect(!FileManager.default.fileExists(atPath: folder("fails")))
        _ = FileManager.default.createFile(atPath: folder("fails"), contents: nil)
        let second = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 2))
        try await eventually("the second") { try arrived() == [first, second] }
        #expect(!FileManager.default.fileExists(atPath: folder("fails")))
        run.send(SIGTERM)
        #expect(await run.end().status == 0)
        await hub.stop()
    }

    @Test(
        "What cannot be examined is told, and is no success: nothing is dropped, nothing called empty", .needs("cc"),
        arguments: [
            ["upload", "--to", "http://127.0.0.1:9/"], ["upload", "--to", "http://127.0.0.1:9/", "--quiet"], ["list"], ["status"],
            ["upload", "--to", "http://127.0.0.1:9/", "--quiet", "--max-spool-bytes", "1"], ["prune", "--max-spool-bytes", "1"],
            ["prune", "--max-spool-age", "1s"], ["prune", "--max-spool-bytes", "1", "--quiet"],
        ])
    func always(command: [String]) async throws {
        let ferry = try await ferry()
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        #expect(mkdir(folder("fails"), 0o700) == 0)
        let result = try await ferry.start(command + ["--spool", spool.path]).end()
        #expect(result.status == 74)
        #expect((result.output + result.errors).contains("Input/output error"), "\(result.output)\(result.errors)")
        #expect(try spool.pending() == [name])
    }
}
