import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("A link that is gone before a segment is through")
struct BadLinkTests {
    private let folder = TemporaryFolder()

    @Test(
        "--split-broken off keeps a segment whole however often it breaks off; without it, it arrives in parts, each event once")
    func splitBroken() async throws {
        let hub = try await Hub(folder("hub"))
        let link = Bottleneck.leading(to: hub.port) { .init(cutAfter: 200_000) }
        let spool = try folder.spool()
        let noise = try Segments.noise(300_000)
        let lines = (0..<3000).map { "\"" + noise[$0 * 100..<$0 * 100 + 100].map { String($0, radix: 36) }.joined() + "\"" }
        let name = try spool.put(Segments.gzip(lines.map { $0 + "\n" }.joined()))
        func upload(_ more: String...) async throws -> Int32 {
            let arguments = ["upload", "--spool", spool.path, "--to", link.url, "--retry-now", "--parallel", "1"]
            return try await Program().start(arguments + more).end().status
        }
        for _ in 0..<3 { #expect(try await upload("--split-broken", "off") == 75) }
        #expect(try spool.pending() == [name])
        for _ in 0..<10 where try !spool.pending().isEmpty { _ = try await upload() }
        #expect(try spool.pending().isEmpty)
        #expect(try Spool.open(folder("hub"), access: .read).events(in: [.pending]).sorted() == lines.sorted())
        await hub.stop()
    }
}
