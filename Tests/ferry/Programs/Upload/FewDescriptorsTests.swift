import FerrySpool
import Glibc
import TestSupport
import Testing

@Suite("Senders with few descriptors")
struct FewDescriptorsTests {
    private let folder = TemporaryFolder()

    @Test(
        "Small segments go out together a few at a time, and what arrived is settled", arguments: ["upload", "run"], [64, 256])
    func joined(command: String, limit: Int) async throws {
        let hub = try await Hub(folder("hub"))
        let source = try folder.spool("source")
        for second in 0..<300 { try source.put(Segments.gzip("\(second)\n"), as: Segments.name(second: second)) }
        let sender = try Program("/bin/sh", environment: ["FERRY": Program.ferry]).start([
            "-c", "ulimit -n \(limit); exec \"$FERRY\" \(command) --spool \"$1\" --to \"$2\"", "sh", source.path, hub.url,
        ])
        try await eventually("all are settled: \(sender.errors)") { try source.pending().isEmpty }
        if command == "run" { sender.send(SIGTERM) }
        let ended = await sender.end()
        await hub.stop()
        #expect(command == "run" || ended.status == 0)
        #expect(!sender.errors.contains("Too many open files"), "\(sender.errors)")
        #expect(try Set(Spool.open(folder("hub"), access: .read).events(in: [.pending])).count == 300)
    }
}
