import FerrySpool
import Glibc
import ServiceSupport
import TestSupport
import Testing

@Suite("A hub's folder that is moved while it receives")
struct MovedHubTests {
    private let folder = TemporaryFolder()

    @Test(
        "What comes into a folder that was moved away is not acknowledged before it is back, and is there once then",
        arguments: ["moved", "replaced"])
    func moved(how: String) async throws {
        let spool = try folder.spool("hub")
        let names = (1...2).map { Segments.name(second: $0).fileName }
        try await whileReceiving(into: spool) { [folder] (port: Int) async throws in
            func post(_ number: Int) async throws -> (status: Int, body: String) {
                let headers = ["Ferry-Segment": names[number - 1], "Ferry-Spool": "aaaaaaaaaaaaaaaa"]
                return try await RawClient.post(Segments.gzip("\(number)\n"), port: port, headers: headers)
            }
            #expect(try await post(1).status == 200)
            #expect(rename(folder("hub"), folder("old")) == 0)
            if how == "replaced" { _ = try folder.spool("hub") }
            #expect(try await post(2).status == 503)
            // What came before is there no more, either.
            #expect(try await post(1).status == 503)
            if how == "replaced" { #expect(rename(folder("hub"), folder("other")) == 0) }
            #expect(rename(folder("old"), folder("hub")) == 0)
            let again = try await post(2)
            #expect(again.status == 200, "\(again)")
            #expect(again.body.contains("\"duplicate\":true"), "\(again)")
        }
        #expect(try Spool.open(folder("hub"), access: .read).events(in: [.pending]) == ["1", "2"])
    }
}
