import FerrySpool
import Hummingbird
import NIOCore

/// Hands on the bodies of requests as they come, in pieces that take a turn each.
struct BodyPieces: Sendable {
    let options: ReceiverOptions
    let turns: IntakeTurns

    /// Runs what inflates and writes when the sender's turn comes.
    func work<Value: Sendable>(
        for request: Request, from guest: Guest?, _ turn: TurnLength,
        _ work: @escaping @Sendable () throws(IntakeError) -> Value
    ) async throws(IntakeError) -> Value {
        let result = await turns.run(for: guest?.machine.name.text ?? request.headers[.ferrySpool] ?? "") {
            turn.measure { Result { () throws(IntakeError) in try work() } }
        }
        guard let result else { throw .aborted }
        return try result.get()
    }

    /// Hands on the body as it comes. A client that is too slow is refused.
    func forEach(
        of request: Request, from guest: Guest?, _ turn: TurnLength, _ take: (ByteBuffer) async throws(IntakeError) -> Void
    ) async throws(IntakeError) {
        var total = ByteCount.zero
        let start = ContinuousClock.now
        var iterator = request.body.makeAsyncIterator()
        while true {
            let buffer: ByteBuffer?
            // The connection broke: there is no one to answer to.
            do { buffer = try await iterator.next() } catch { throw .aborted }
            guard var buffer else {
                // A body that ends with the receiver is not whole.
                if Task.isCancelled { throw .aborted }
                return
            }
            total += ByteCount(Int64(buffer.readableBytes))
            guest?.meter.charge(buffer.readableBytes)
            let allowed = options.idleTimeout + .seconds(total.bytes / ReceiverOptions.slowestRate.bytes)
            if ContinuousClock.now - start > allowed { throw .tooSlow }
            while let piece = buffer.readSlice(length: min(turn.bytes, buffer.readableBytes)), piece.readableBytes > 0 {
                try await take(piece)
            }
        }
    }
}
