import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Keys of an instance") struct MetadataTests {
    private let folder = TemporaryFolder()

    private func ferry(_ environment: [String: String]) -> Program {
        Program(environment: environment.merging(["HOME": folder.path]) { $1 })
    }

    @Test("Where no instance metadata is, the same line says what is needed, and nothing was sent") func none() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        let off = try await ferry(["AWS_EC2_METADATA_DISABLED": "true"]).run(
            "upload", "--spool", spool.path, "--to", "s3://logs/a?endpoint=http://127.0.0.1:9")
        let nowhere = ferry(["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(LoopbackPort.own())"])
        let place = "s3://logs/a?endpoint=http://127.0.0.1:9"
        let line = off.errors.trimmingCharacters(in: .newlines)
        #expect(off.status == 78)
        #expect(line.contains("an s3:// destination needs credentials: AWS_ACCESS_KEY_ID"), "\(off.errors)")
        for arguments in [
            ["upload", "--spool", spool.path, "--to", place], ["run", "--spool", spool.path, "--to", place],
            ["upload", "--spool", spool.path, "--to", "a=\(place)", "--to", "b=http://127.0.0.1:9/"], ["list", place],
            ["receive", "--listen", "127.0.0.1:0", "--store", place],
        ] {
            let result = try await nowhere.start(arguments).end()
            #expect(result.status == 78, "\(arguments)")
            #expect(result.errors.contains(line), "\(result.errors)")
            #expect(result.errors.contains("EC2's instance metadata (http://127.0.0.1:"), "\(result.errors)")
        }
        #expect(try spool.scan().entries.count == 1)
    }

    @Test("A check of the configuration asks the instance only with --online") func check() async throws {
        let requests = Mutex(0)
        let metadata = ScriptedServer.answering { _ in
            requests.withLock { $0 += 1 }
            return ScriptedServer.answer(404)
        }
        let spool = try folder.spool()
        let program = ferry(["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(metadata.port)"])
        let arguments = [
            "config", "check", "--spool", spool.path, "--to", "s3://logs/a?endpoint=http://127.0.0.1:9",
        ]
        let check = try await program.start(arguments).end()
        #expect(check.status == 0, "\(check.errors)")
        #expect(check.output.contains("its keys are asked of EC2's instance metadata"), "\(check.output)")
        #expect(requests.withLock { $0 } == 0)
        let online = try await program.start(arguments + ["--online"]).end()
        #expect(online.status == 77, "\(online.errors)")
        #expect(online.output.contains("gives no keys: asked for a token it answers HTTP 404"), "\(online.output)")
        #expect(requests.withLock { $0 } == 1)
    }
}
