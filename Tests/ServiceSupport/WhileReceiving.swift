package import FerryReceiver
package import FerrySpool

/// Runs a receiver into a spool meanwhile.
///
/// - Parameters:
///   - change: Changes the receiver's options.
///   - onEvent: Told what the receiver tells.
///   - body: Called with its port.
package func whileReceiving<Value: Sendable>(
    into spool: Spool, _ change: (inout ReceiverOptions) -> Void = { _ in },
    onEvent: @escaping @Sendable (ReceiverEvent) -> Void = { _ in },
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> Value {
    var options = ReceiverOptions()
    options.port = 0
    // What a test leaves open is cut off.
    options.endPatience = .seconds(1)
    change(&options)
    let receiver = try Receiver(spool, options: options, onEvent: onEvent)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask {
            // Cancelled instead, the server would trap where it has taken a connection that it does not serve yet (swift-nio, issue 2637).
            try await receiver.run(until: { for await _ in ends {} }, onRunning: { continuation.yield($0) })
            return nil
        }
        group.addTask {
            defer { end.finish() }
            for await port in ports { return try await body(port) }
            return nil
        }
        defer { group.cancelAll() }
        var value: Value?
        while let result = try await group.next() { if let result { value = result } }
        guard let value else { throw CancellationError() }
        return value
    }
}
