import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("An empty folder, where a file system may be missing")
struct EmptyFolderTests {
    private let folder = TemporaryFolder()

    @Test(
        "No command takes it for a spool, or leaves something in it",
        arguments: [
            ["write"], ["upload", "--to", "http://127.0.0.1:1/"], ["upload", "--to", "http://127.0.0.1:1/", "--dry-run"],
            ["prune", "--max-spool-bytes", "1"], ["retry", "--all"], ["pause"], ["enable"], ["flush"], ["list"], ["cat"],
            ["verify"],
        ])
    func refused(command: [String]) async throws {
        #expect(mkdir(folder("empty"), 0o700) == 0)
        let result = try await Program().start(command + ["--spool", folder("empty")], input: "1\n").end()
        #expect(result.status == 74, "\(result.output)")
        #expect(
            result.errors.contains("is its file system mounted? ferry init \(folder("empty")) makes it a spool"),
            "\(result.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("empty")).isEmpty)
    }

    @Test("The default spool is made where it is missing, and not of an empty folder")
    func standard() async throws {
        let shell = Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path, "FERRY_SPOOL": ""])
        let result = try await shell.run(
            "-c",
            """
            cd "$DIR"; mkdir spool
            echo 1 | "$FERRY" write -q 2>/dev/null; echo $?
            rmdir spool && echo empty
            echo 1 | "$FERRY" write -q 2>/dev/null; echo $?
            mkdir other; echo 1 | "$FERRY" write -q --create --spool other; echo $?
            """)
        #expect(result.output == "74\nempty\n0\n0\n", "\(result.errors)")
    }
}
