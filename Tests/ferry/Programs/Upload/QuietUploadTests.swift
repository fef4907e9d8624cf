import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("ferry upload --quiet, as cron calls it")
struct QuietUploadTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    @Test("A quiet upload says nothing of what a later call mends, and tells what a person must mend")
    func quiet() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"), as: SegmentName(priority: .normal, created: .now(), id: .random()))
        let upload = ["upload", "--quiet", "--spool", spool.path, "--to"]
        let offline = try await ferry.start(upload + ["http://127.0.0.1:1/"]).end()
        #expect(offline.status == 75)
        #expect(offline.errors.isEmpty && offline.output.isEmpty, "\(offline.errors)")
        try "secret".write(toFile: folder("token"), atomically: true, encoding: .utf8)
        let hub = try await Hub(folder("hub"), ["--token-file", folder("token")])
        let refused = try await ferry.start(upload + [hub.url]).end()
        await hub.stop()
        #expect(refused.status == 77)
        #expect(refused.errors.contains("HTTP 401"), "\(refused.errors)")
        let several = try await ferry.start(upload + ["a=http://127.0.0.1:1/", "--to", "b=http://127.0.0.1:1/"]).end()
        #expect(several.status == 75)
        #expect(several.errors.isEmpty && several.output.isEmpty, "\(several.errors)")
    }
}
