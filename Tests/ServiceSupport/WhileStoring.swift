package import FerryReceiver
import FerryUpload
package import TestSupport

/// Runs a receiver that puts segments into a bucket meanwhile.
///
/// - Parameters:
///   - bucket: The bucket, and the prefix: `logs/edge`.
///   - change: Changes the receiver's options.
///   - body: Called with its port.
package func whileStoring(
    into bucket: String, of server: ScriptedServer, scratch: TemporaryFolder,
    _ change: (inout ReceiverOptions) -> Void = { _ in },
    onEvent: @escaping @Sendable (ReceiverEvent) -> Void = { _ in },
    _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
    var options = ReceiverOptions()
    options.port = 0
    options.endPatience = .seconds(1)
    change(&options)
    let store = try ObjectStore(
        server.bucket(bucket), environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"])
    let receiver = try Receiver(store, scratch: scratch.path, options: options, onEvent: onEvent)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await receiver.run(until: { for await _ in ends {} }, onRunning: { continuation.yield($0) }) }
        group.addTask {
            defer { end.finish() }
            for await port in ports { return try await body(port) }
        }
        try await group.waitForAll()
    }
}
