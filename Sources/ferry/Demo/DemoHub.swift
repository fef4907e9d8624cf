import FerryReceiver
import FerrySpool

/// A receiver on a loopback port that the demonstration switches on and off.
struct DemoHub {
    let spool: Spool

    /// Runs the body while the receiver answers.
    ///
    /// - Parameter port: 0 lets the system choose.
    func whileRunning<Value: Sendable>(
        port: Int, _ body: @escaping @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        var options = ReceiverOptions()
        options.port = port
        let receiver = try Receiver(spool, options: options)
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await receiver.run(onRunning: { continuation.yield($0) })
                return nil
            }
            group.addTask {
                for await port in ports { return try await body(port) }
                return nil
            }
            while let result = try await group.next() {
                guard let result else { continue }
                group.cancelAll()
                while (try? await group.next()) != nil {}
                return result
            }
            throw CommandError(.localFailure, "the receiver ended before it was asked to")
        }
    }
}
