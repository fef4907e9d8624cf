import FerryReceiver
import FerrySpool

/// Runs a receiver into a spool meanwhile.
///
/// - Parameters:
///   - change: Changes the receiver's options.
///   - onEvent: Told what the receiver tells.
///   - body: Called with its port.
func whileReceiving<Value: Sendable>(
    into spool: Spool, _ change: (inout ReceiverOptions) -> Void = { _ in },
    onEvent: @escaping @Sendable (ReceiverEvent) -> Void = { _ in },
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> Value {
    var options = ReceiverOptions()
    options.port = 0
    change(&options)
    let receiver = try Receiver(spool, options: options, onEvent: onEvent)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask {
            try await receiver.run(onRunning: { continuation.yield($0) })
            return nil
        }
        group.addTask {
            for await port in ports { return try await body(port) }
            return nil
        }
        defer { group.cancelAll() }
        while let result = try await group.next() { if let result { return result } }
        throw CancellationError()
    }
}
