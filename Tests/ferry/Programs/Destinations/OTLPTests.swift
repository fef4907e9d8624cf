import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Into a collector of OpenTelemetry") struct OTLPTests {
    private let folder = TemporaryFolder()

    /// Reads requests as OpenTelemetry's own schema has them: what it does not know is an error. Prints a line for each record.
    private static let reader = """
        import sys
        from google.protobuf.json_format import Parse
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        for path in sys.argv[1:]:
            request = Parse(open(path, encoding="utf-8").read(), ExportLogsServiceRequest())
            for resource in request.resource_logs:
                service = {a.key: a.value.string_value for a in resource.resource.attributes}["service.name"]
                for record in resource.scope_logs[0].log_records:
                    keys = ",".join(a.key for a in record.attributes)
                    print(service, record.time_unix_nano, record.severity_number, record.body.WhichOneof("value"), keys)
        """

    @Test(
        "Requests are what OpenTelemetry's schema reads, with events of any kind",
        .needs("python3"), .needsPython("opentelemetry.proto.collector.logs.v1.logs_service_pb2"))
    func schema() async throws {
        let bodies = Mutex<[[UInt8]]>([])
        let server = ScriptedServer.answering { request in
            bodies.withLock { $0.append(request.body) }
            return ScriptedServer.answer(200, "Content-Type: application/json\r\n", body: "{}")
        }
        let events = [
            #"{"time":"2026-11-21T03:15:02.123Z","name":"opened","device":{"id":"a"},"properties":{"n":3,"x":1e-7,"l":[null,{"a":{}}]}}"#,
            #"{"msg":"ü \u0000 \ud800 \"","level":"warn","big":123456789012345678901234567890,"deep":"#
                + String(repeating: #"{"a":["#, count: 60) + String(repeating: "]}", count: 60) + "}",
            "-0.0", "null", "[]", #""text""#,
        ]
        let written = try await Program().run(
            "write", "--spool", folder("spool"), "--create", "--stream", "door", input: events.joined(separator: "\n"))
        #expect(written.status == 0, "\(written.errors)")
        let upload = try await Program().run("upload", "--spool", folder("spool"), "--to", server.url, "--body", "otlp")
        #expect(upload.status == 0, "\(upload.errors)")
        let paths = try bodies.withLock(\.self).enumerated().map { number, body in
            let file = try OpenFile.inMemory()
            try file.write(body)
            try Segments.lines(of: file).joined(separator: "\n")
                .write(toFile: folder("\(number).json"), atomically: true, encoding: .utf8)
            return folder("\(number).json")
        }
        try #require(paths.count == 1)
        let read = try await Program("/usr/bin/env").run("python3", "-c", Self.reader, paths[0])
        #expect(read.status == 0, "\(read.errors)")
        #expect(
            read.output.split(separator: "\n").map(String.init) == [
                "door 1795230902123000000 9 string_value event.name,device,n,x,l", "door 0 13 kvlist_value ",
                "door 0 9 double_value ", "door 0 9 None ", "door 0 9 array_value ", "door 0 9 string_value ",
            ])
    }
}
