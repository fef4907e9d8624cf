import FerryIntake
import FerrySpool
import NIOCore
import Synchronization

/// The same for a request whose pieces are taken on other threads, one at a time.
final class KnownRequest: Sendable {
    private let body: Mutex<KnownBody>

    init(_ parts: [KnownBody.Part], inflateLimit: ByteCount) { body = Mutex(KnownBody(parts, inflateLimit: inflateLimit)) }

    func take(_ piece: ByteBuffer) throws(IntakeError) {
        try body.withLock { body throws(IntakeError) in
            var piece = piece
            try body.take(&piece)
        }
    }

    func finish() throws(IntakeError) -> [ReceivedSegment] {
        try body.withLock { body throws(IntakeError) in try body.finish() }
    }
}
