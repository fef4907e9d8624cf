import FerrySpool
import FerryUpload
import Foundation
import TestSupport
import Testing

@testable import ferry

@Suite("Several destinations in a configuration") struct SeveralDestinationsTests {
    private let folder = TemporaryFolder()

    private func setup(_ text: String) throws -> RunSetup {
        try text.write(toFile: folder("ferry.yaml"), atomically: true, encoding: .utf8)
        let path = folder("ferry.yaml")
        return try RunSetup(
            { RunConfiguration(flags: [], path: path, environment: [:], destination: $0) }, environment: [:])
    }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try setup(text)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test("Each has the settings of all and its own") func settings() throws {
        let setup = try setup(
            """
            spools: [\(folder("a"))]
            parallel: 7
            timeout: 5s
            destinations:
              hub: http://hub.example/v1
              archive:
                to: http://archive.example/{day}
                parallel: 2
                order: strict
                required: false
                max-lag: 3h
            routes:
              archive:
                streams: [audit*, web]
                priorities: 0-4
            """)
        #expect(setup.destinations.map(\.lane.name.text) == ["archive", "hub"])
        let (archive, hub) = (setup.destinations[0], setup.destinations[1])
        #expect(hub.options.upload.parallel == 7)
        #expect(hub.options.upload.retention.maxAge == nil)
        #expect(hub.lane == Lane(try #require(LaneName("hub"))))
        #expect(archive.options.upload.parallel == 2)
        #expect(archive.options.upload.order == .strict)
        #expect(archive.options.upload.transport.idleTimeout == .seconds(5))
        #expect(archive.options.upload.retention.maxAge == .seconds(3 * 3600))
        #expect(archive.lane.streams == ["audit*", "web"])
        #expect(archive.lane.priorities == 0...4)
        #expect(!archive.lane.isRequired)
        #expect(!setup.options.upload.keepsSent)
    }

    @Test(
        "Every mistake is told with its place",
        arguments: [
            ("destinations: {hub: {parallel: 2}}", "destinations.hub: 'to' is missing"),
            ("destinations: {hub: {to: 'htp://x'}}", ":2: to 'htp://x'"),
            ("destinations: {hub: {to: 'http://x', paralel: 2}}", "did you mean 'parallel'?"),
            ("destinations: {hub: {to: 'http://x', interval: 2s}}", "is set for all destinations"),
            ("destinations: {Hub: {to: 'http://x'}}", "'Hub' is no name of a destination"),
            ("destinations: {hub: {to: 'http://x', max-lag: 2d}}", "it needs 'required: false'"),
            ("destinations: {hub: 'http://x'}\nroutes: {hup: {streams: [a]}}", "there is no destination of that name"),
            ("destinations: {hub: 'http://x'}\nroutes: {hub: {priorities: 5-2}}", "must be like 0-3"),
            ("destinations: {hub: 'http://x'}\nroutes: {hub: {stream: a}}", "did you mean 'streams'?"),
            ("destinations: {hub: 'http://x'}\nto: http://y", "both say where to send"),
            ("destinations: http://x", "needs a name below it"),
            ("destinations: {hub: {to: 's3://bucket/x', body: sensors}}", "takes segments as they are"),
        ])
    func mistakes(_ text: String, _ message: String) {
        defer { #expect(problems("spools: [\(folder("a"))]\n\(text)\n").count { $0.contains("'htp'") } <= 1, "it is told once") }
        let problems = problems("spools: [\(folder("a"))]\n\(text)\n")
        #expect(problems.contains { $0.contains(message) }, "\(problems)")
    }

    @Test(
        "A name may stand before a URL; without one it is made of the URL",
        arguments: ["hub=http://a.example/x?y=1", "http://a.example/x?y=1"])
    func names(_ text: String) {
        let one = NamedURL(text)
        #expect(one.url == "http://a.example/x?y=1")
        #expect(one.name?.text == (text.hasPrefix("hub=") ? "hub" : nil))
        #expect(NamedURL.all([text])[0].name.text.hasPrefix(text.hasPrefix("hub=") ? "hub" : "a-example-"))
    }
}
