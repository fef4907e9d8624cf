import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

/// The programs in Examples that came from another SDK: their requests are compared with what the services' documents ask for.
@Suite("Programs that came from the three SDKs", .needs("python3"))
struct ExampleTests {
    private let folder = TemporaryFolder()

    /// Runs an example against a server that takes everything.
    ///
    /// - Returns: What it printed, and its requests with their bodies inflated.
    private func run(_ example: String) async throws -> (lines: [String], requests: [(request: ReceivedRequest, body: String)]) {
        let received = Mutex<[ReceivedRequest]>([])
        let server = ScriptedServer.answering { request in
            received.withLock { $0.append(request) }
            return ScriptedServer.answer(200)
        }
        let python = Program(
            "/usr/bin/env",
            environment: [
                "PYTHONPATH": "\(Program.checkout)/Sources/PyFerry", "FERRY_LIBRARY": Program.built("libferrytracker.so"),
                "PYTHONDONTWRITEBYTECODE": "1",
            ])
        let result = try await python.run(
            "python3", "\(Program.checkout)/Examples/Python/\(example).py", folder("spool"), server.url)
        #expect(result.status == 0, "\(result.errors)")
        let requests = try received.withLock { $0 }.map { request in
            let file = try OpenFile.inMemory()
            try file.write(request.body)
            var bytes: [UInt8] = []
            try file.inflate(limit: .mebibytes(16)) { bytes += $0 }
            return (request, String(decoding: bytes, as: UTF8.self))
        }
        return (result.output.split(separator: "\n").map(String.init), requests)
    }

    private func json<Value>(_ text: String, _ type: Value.Type) throws -> Value {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Value)
    }

    @Test("App Center: logs with a session of their own, typed properties and the device")
    func appCenter() async throws {
        let (lines, requests) = try await run("appcenter")
        // On a busy machine it has been sent before it is asked for.
        #expect(lines == ["SENT"] || lines == ["NO_DATA"])
        let logs = try requests.flatMap { try #require(try json($0.body, NSDictionary.self)["logs"] as? [NSDictionary]) }
        let failed = try #require(logs.first { $0["name"] as? String == "Purchase failed" })
        let types = ["Amount": "double", "Items": "long", "Retried": "boolean"]
        for property in try #require(failed["typedProperties"] as? [NSDictionary]) {
            let name = try #require(property["name"] as? String)
            #expect(property["type"] as? String == types[name], "\(name)")
        }
        let clicked = try #require(logs.first { $0["name"] as? String == "Video clicked" })
        #expect(clicked["type"] as? String == "event")
        #expect(
            Set(try #require(clicked["typedProperties"] as? [NSDictionary])) == [
                ["type": "string", "name": "Category", "value": "Music"],
                ["type": "string", "name": "FileName", "value": "favorite.avi"],
            ])
        let starts = logs.filter { $0["type"] as? String == "startSession" }
        #expect(starts.count == 1, "once a session")
        #expect(Set(logs.compactMap { $0["sid"] as? String }).count == 1)
        for log in logs {
            #expect(log["timestamp"] is String)
            let device = try #require(log["device"] as? NSDictionary)
            #expect(device["appVersion"] as? String == "1.2.0")
            #expect(device["osName"] is String)
            #expect(device["sdkName"] is String)
        }
        #expect((clicked["device"] as? NSDictionary)?["carrierCountry"] as? String == "PT")
        for (request, _) in requests {
            #expect(request["app-secret"] == "00000000-0000-0000-0000-000000000000")
            #expect(request["install-id"]?.count == 36)
            #expect(request["content-type"] == "application/json")
        }
    }

    @Test("Google Analytics: hits of the Measurement Protocol, 20 a request, when they are dispatched")
    func googleAnalytics() async throws {
        let (lines, requests) = try await run("google_analytics")
        #expect(lines == ["SENT"])
        let hits = requests.map { $0.body.split(separator: "\n") }
        #expect(hits.map(\.count) == [20, 20, 5])
        let values = try hits.joined().map { hit in
            let fields = try #require(URLComponents(string: "http://x/?\(hit)")?.queryItems)
            let field = Dictionary(fields.map { ($0.name, $0.value ?? "") }) { $1 }
            #expect(field["v"] == "1")
            #expect(field["tid"] == "UA-XXXX-Y")
            #expect(field["t"] == "event")
            #expect(field["cid"]?.count == 36)
            #expect(field["uid"] == "ada")
            #expect(field["ec"] == "video")
            #expect(field["ea"] == "play")
            #expect(field["el"] == "favorite.avi")
            #expect(field["cd1"] == "premium")
            // The time since the event, in milliseconds.
            #expect((field["qt"].flatMap { Int($0) } ?? -1) >= 0)
            return field["ev"].flatMap { Int($0) }
        }
        #expect(values == Array(0..<45))
    }

    @Test("Sensors Analytics: track records in order, a track_signup at the login, and the state of the passive start")
    func sensors() async throws {
        let (lines, requests) = try await run("sensors")
        // On a busy machine it has been sent before it is asked for.
        #expect(lines == ["SENT"] || lines == ["NO_DATA"])
        #expect(requests.allSatisfy { $0.body.hasPrefix("[\n") && $0.body.hasSuffix("\n]") })
        let records = try requests.flatMap { try json($0.body, [NSDictionary].self) }
        let names = records.compactMap { $0["event"] as? String }
        #expect(names.filter { !$0.hasPrefix("$App") } == ["ViewProduct", "$SignUp", "Checkout"])
        #expect(names.first == "$AppStartPassively")
        func record(_ name: String) throws -> (record: NSDictionary, properties: NSDictionary) {
            let record = try #require(records.first { $0["event"] as? String == name })
            return (record, try #require(record["properties"] as? NSDictionary))
        }
        let viewed = try record("ViewProduct")
        #expect(viewed.record["type"] as? String == "track")
        let anonymous = try #require(viewed.record["distinct_id"] as? String)
        #expect(anonymous.count == 36)
        #expect(viewed.properties["ProductID"] as? Int == 123_456)
        #expect(viewed.properties["ProductCatalog"] as? String == "Laptop Computer")
        #expect(viewed.properties["IsAddedToFav"] as? Bool == false)
        #expect(viewed.properties["Channel"] as? String == "kiosk")
        #expect(viewed.properties["$app_state"] as? String == "background")
        #expect(viewed.properties["$lib"] is String)
        #expect(viewed.properties["$os"] is String)
        let signUp = try record("$SignUp").record
        #expect(signUp["type"] as? String == "track_signup")
        #expect(signUp["distinct_id"] as? String == "ada")
        #expect(signUp["original_id"] as? String == anonymous)
        let checkout = try record("Checkout")
        #expect(checkout.record["distinct_id"] as? String == "ada")
        #expect(checkout.properties["event_duration"] is NSNumber)
        #expect(checkout.properties["$app_state"] == nil)
        // 13 digits until the year 2286.
        #expect(records.allSatisfy { ($0["time"] as? Int64).map { "\($0)".count } == 13 })
        let times = records.compactMap { $0["time"] as? Int64 }
        #expect(times == times.sorted())
    }
}
