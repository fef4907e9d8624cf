import Foundation
import TestSupport
import Testing

/// moto's server on loopback: S3 and EC2's instance metadata on one port, as the Python package has them.
final class Moto: Sendable {
    static let module = "moto.server"

    let port: Int
    private let server: Running

    var endpoint: String { "http://127.0.0.1:\(port)" }

    /// Starts it, and makes a bucket.
    init(bucket: String) async throws {
        port = LoopbackPort.own()
        server = try Program("/usr/bin/env").start(
            ["python3", "-c", "from moto.server import main; main()", "-H", "127.0.0.1", "-p", "\(port)"])
        _ = try await server.waitFor("Running on")
        _ = try await ask("s3.create_bucket(Bucket='\(bucket)')")
    }

    deinit { server.send(SIGKILL) }

    /// Evaluates what AWS's own library says of it, and returns what Python prints.
    func ask(_ expression: String) async throws -> String {
        let script = """
            import boto3
            s3 = boto3.client('s3', endpoint_url='\(endpoint)', region_name='us-east-1', aws_access_key_id='T', aws_secret_access_key='T')
            print(\(expression))
            """
        let result = try await Program("/usr/bin/env").run("python3", "-c", script)
        try #require(result.status == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .newlines)
    }
}
