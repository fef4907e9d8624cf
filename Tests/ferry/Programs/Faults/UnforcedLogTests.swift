import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("A disk that does not force the log of what came")
struct UnforcedLogTests {
    private let folder = TemporaryFolder()

    /// Fails once to force a file whose name begins with `received-`.
    private static let source = """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <stdatomic.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static atomic_int failed;
        int fdatasync(int descriptor) {
            char link[64], path[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
            ssize_t length = readlink(link, path, sizeof path - 1);
            path[length < 0 ? 0 : length] = 0;
            if (strstr(path, "/received-") && !atomic_exchange(&failed, 1)) { errno = EIO; return -1; }
            return syscall(SYS_fdatasync, descriptor);
        }
        """

    @Test(
        "What is told to be here already, because its key was logged, is a segment, and no hidden file until a restart",
        .needs("cc"))
    func isNamed() async throws {
        let compiler = try #require(Program.find("cc"))
        try Self.source.write(toFile: folder("force.c"), atomically: true, encoding: .utf8)
        let built = try await Program(compiler).run("-shared", "-fPIC", "-o", folder("force.so"), folder("force.c"))
        try #require(built.status == 0, "\(built.errors)")
        let receiver = try Program(environment: ["LD_PRELOAD": folder("force.so")])
            .start(["receive", "--listen", "127.0.0.1:0", "--spool", folder("hub")])
        let port = try #require(Int(try await receiver.waitFor("/127.0.0.1:").prefix { $0.isNumber }))
        let name = Segments.name()
        func post() async throws -> (status: Int, body: String) {
            try await RawClient.post(Segments.gzip("1\n"), port: port, headers: ["Ferry-Segment": name.fileName])
        }
        #expect(try await post().status == 500)
        let hub = try Spool.open(folder("hub"), access: .read)
        #expect(try hub.pending() == [name.fileName])
        let again = try await post()
        #expect(again.status == 200, "\(again)")
        #expect(again.body.contains("\"duplicate\":true"), "\(again)")
        receiver.send(SIGTERM)
        _ = await receiver.end()
        #expect(try hub.pending() == [name.fileName])
    }
}
