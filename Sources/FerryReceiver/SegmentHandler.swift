public import FerrySpool
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Answers `POST /v1/segments`.
struct SegmentHandler: Sendable {
    let spool: Spool
    let options: ReceiverOptions
    let admission: Admission
    let onReceived: @Sendable (ReceivedSegment) -> Void

    func handle(_ request: Request) async throws -> Response {
        if let length = request.headers[.contentLength].flatMap(Int64.init), length > options.maxBody.bytes {
            return Answer.refusal(.contentTooLarge, "the body is larger than \(options.maxBody)")
        }
        let arrival: Arrival
        do throws(FileError) { arrival = try spool.beginArrival() } catch { return Answer.response(.file(error)) }
        do throws(IntakeRefusal) {
            let response = try await take(request, into: arrival)
            spool.discard(arrival)
            return response
        } catch {
            // Its key may be in the log already, which says that it is kept: whoever opens the spool next decides by the log.
            if case .notAdmitted = error {} else { spool.discard(arrival) }
            return Answer.response(error)
        }
    }

    private func take(_ request: Request, into arrival: Arrival) async throws(IntakeRefusal) -> Response {
        var intake = BodyIntake(into: arrival.file, limit: options.maxBody, inflateLimit: options.inflateLimit)
        let start = ContinuousClock.now
        do {
            for try await buffer in request.body {
                try intake.take(buffer)
                let allowed = options.idleTimeout + .seconds(intake.bytes.bytes / ReceiverOptions.slowestRate.bytes)
                if ContinuousClock.now - start > allowed { throw IntakeRefusal.tooSlow }
            }
        } catch let refusal as IntakeRefusal {
            throw refusal
        } catch {
            // The connection broke: nobody is there to answer to.
            throw .aborted
        }
        let (digest, events) = try intake.finish()
        let identity = SegmentIdentity(request.headers, now: .now())
        let entry = ReceivedEntry(
            at: .now(), key: identity.key ?? identity.name.id, sha256: digest.hexadecimal, segment: identity.name.fileName,
            bytes: intake.bytes.bytes, events: events)
        let result: AdmissionResult
        do throws(FileError) {
            result = try await admission.admit(arrival, entry, key: identity.key, digest: digest)
        } catch {
            throw .notAdmitted(error)
        }
        if result == .conflict {
            return Answer.refusal(.unprocessableContent, "the key \(entry.key) came before, with other bytes")
        }
        onReceived(
            ReceivedSegment(name: entry.segment, bytes: intake.bytes, events: events, isDuplicate: result == .duplicate))
        return Answer.accepted(segment: entry.segment, events: events, isDuplicate: result == .duplicate)
    }
}

/// A segment that the receiver answered for.
public struct ReceivedSegment: Sendable {
    public let name: String
    public let bytes: ByteCount
    public let events: Int64
    public let isDuplicate: Bool
}
