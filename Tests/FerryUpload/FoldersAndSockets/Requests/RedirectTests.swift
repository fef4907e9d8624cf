import FerrySpool
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Redirects of requests whose URL names the segment") struct RedirectTests {
    private let folder = TemporaryFolder()

    @Test("Each segment keeps a place of its own", arguments: ["?moved=1", "", "new-{id}", "/other/%7Bsegment%7D"])
    func ownPlaces(location: String) async throws {
        let taken = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            let path = request.line.split(separator: " ")[1]
            if path.hasPrefix("/in/"), taken.withLock({ !$0.contains("seen \(path)") }) {
                taken.withLock { $0.append("seen \(path)") }
                return ScriptedServer.answer(307, "Location: \(location)\r\n")
            }
            taken.withLock { $0.append(String(path)) }
            return ScriptedServer.answer(200)
        }
        let spool = try folder.spool()
        let names = try (0..<3).map { try spool.put(Segments.gzip(Segments.lines(0..<2)), as: Segments.name(second: $0)) }
        var options = UploadOptions(destination: try Destination("http://127.0.0.1:\(server.port)/in/{segment}"))
        options.parallel = 1
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 3)
        let places = taken.withLock { $0.filter { !$0.hasPrefix("seen ") } }
        switch location {
        case "?moved=1": #expect(places == names.map { "/in/\($0)?moved=1" })
        case "": #expect(places == names.map { "/in/\($0)" })
        // The server says the same place for all, in so many words.
        case "new-{id}": #expect(places == [String](repeating: "/in/new-%7Bid%7D", count: 3))
        default: #expect(places == [String](repeating: "/other/%7Bsegment%7D", count: 3))
        }
    }
}
