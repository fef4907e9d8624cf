import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import ferry

@Suite("The file of metrics")
struct MetricsFileTests {
    private let folder = TemporaryFolder()

    @Test("It is replaced as a whole, is for all to read, and leaves nothing beside it")
    func replaced() async throws {
        let file = MetricsFile(folder("ferry.prom"), log: Log(isQuiet: true))
        await file.write("a 1\n")
        await file.write("a 2\n")
        #expect(try String(contentsOfFile: folder("ferry.prom"), encoding: .utf8) == "a 2\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["ferry.prom"])
        var status = stat()
        #expect(stat(folder("ferry.prom"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o644)
    }

    @Test("A link in the place of the new file is not followed")
    func link() async throws {
        try "precious".write(toFile: folder("victim"), atomically: true, encoding: .utf8)
        #expect(symlink(folder("victim"), folder("ferry.prom.tmp")) == 0)
        await MetricsFile(folder("ferry.prom"), log: Log(isQuiet: true)).write("a 1\n")
        #expect(try String(contentsOfFile: folder("victim"), encoding: .utf8) == "precious")
        #expect(try String(contentsOfFile: folder("ferry.prom"), encoding: .utf8) == "a 1\n")
    }

    @Test("One that cannot be replaced stays, and nothing is left beside it")
    func failing() async throws {
        mkdir(folder("ferry.prom"), 0o755)
        await MetricsFile(folder("ferry.prom"), log: Log(isQuiet: true)).write("a 1\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["ferry.prom"])
    }
}
