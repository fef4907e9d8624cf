import FerrySpool
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Answers `POST /v1/segments`.
struct SegmentHandler: Sendable {
    let spool: Spool
    let options: ReceiverOptions
    let admission: Admission
    let pieces: BodyPieces
    /// For looks at how much the spool holds.
    let usageLooks = Turnstile(width: 2)
    let onEvent: @Sendable (ReceiverEvent) -> Void

    /// Takes the segments of a request, and returns the answer.
    ///
    /// - Parameters:
    ///   - guest: The machine that sends it, where the receiver knows machines.
    ///   - address: Where it comes from.
    func handle(_ request: Request, from guest: Guest? = nil, at address: String) async -> Response {
        let origin =
            guest.map { Sender($0.machine.name, at: address) } ?? Sender(saying: request.headers[.ferrySpool], at: address)
        do throws(RefusedRequestError) {
            return try await take(request, from: guest, origin)
        } catch {
            onEvent(.refused(Refusal(error, from: origin)))
            return error.response
        }
    }

    private func take(
        _ request: Request, from guest: Guest?, _ origin: Sender
    ) async throws(RefusedRequestError) -> Response {
        if let control = try? spool.control.read(), control.isDisabled {
            throw RefusedRequestError(
                .serviceUnavailable, "this spool is disabled: it stores nothing new", retryAfter: .seconds(60))
        }
        let sender = request.headers[.ferrySpool]
        var parts: [JoinedSegments.Part]
        do throws(RequestHeaderError) {
            parts = try JoinedSegments.parts(request.headers, now: spool.clock.dateSegment(.now()).created)
        } catch {
            throw RefusedRequestError(.badRequest, "\(error)")
        }
        if let guest { parts = guest.limiting(parts) }
        // Before the keys: one that is known would be answered for, and that ends the only copy.
        if let circle = CircleError(parts.map(\.trail), from: sender, to: spool.id) {
            throw RefusedRequestError(.circle(circle))
        }
        let largest = min(options.maxBody, guest?.largestBody ?? options.maxBody)
        let isTooLarge = request.headers[.contentLength].flatMap(Int64.init).map { $0 > largest.bytes } ?? false
        let received: [ReceivedSegment]
        do throws(IntakeError) {
            // The key before the size: a sender that gets a 413 sends the same events again, in halves with keys of their own.
            if let known = try await known(parts, from: sender, looksAround: false) {
                received = try await compare(request, known, from: guest)
            } else if isTooLarge {
                received = try await compareWithWhatCame(request, parts, from: sender, guest) {
                    await tooLarge(request, parts, from: sender, largest)
                }
            } else {
                received = try await take(request, parts, from: sender, guest)
            }
            if received.contains(where: \.isDuplicate) { try await noteAnswers(to: parts, as: received, from: sender) }
        } catch {
            switch error {
            case .file(let failure), .notAdmitted(let failure):
                onEvent(.failed(failure, from: origin))
                if failure.isDiskFull { await makeRoom(for: request) }
            default: break
            }
            throw RefusedRequestError(error)
        }
        // A folder that was moved meanwhile may be removed next: what is acknowledged must be where it is looked for.
        guard spool.isAtItsPath else {
            throw RefusedRequestError(
                .serviceUnavailable, "the spool's folder was moved away, or is another one", retryAfter: .seconds(5))
        }
        for segment in received { onEvent(.received(segment, from: origin)) }
        return Answer.accepted(received, in: spool.id, mostJoined: options.mostJoined)
    }

    /// Deletes delivered segments. Delivered segments make room for the sender's next try.
    private func makeRoom(for request: Request) async {
        let wanted = request.headers[.contentLength].flatMap(Int64.init).map { ByteCount($0) } ?? options.maxBody
        let deleted = await blocking { [spool] in
            spool.sent.givesWay ? spool.sent.free(atLeast: max(wanted, .mebibytes(1))) : nil
        }
        if let deleted, deleted.segments > 0 { onEvent(.sentDeleted(deleted)) }
    }

    private func known(
        _ parts: [JoinedSegments.Part], from sender: String?, looksAround: Bool
    ) async throws(IntakeError) -> [KnownBody.Part]? {
        do throws(FileError) {
            return try await admission.known(parts, from: sender, looksAround: looksAround)
        } catch {
            throw .file(error)
        }
    }

    /// Takes a body that has no room here, if its segments came before, another way perhaps.
    ///
    /// - Parameter refusal: The answer where they did not.
    private func compareWithWhatCame(
        _ request: Request, _ parts: [JoinedSegments.Part], from sender: String?, _ guest: Guest?,
        otherwise refusal: () async -> IntakeError
    ) async throws(IntakeError) -> [ReceivedSegment] {
        guard let known = try await known(parts, from: sender, looksAround: true) else { throw await refusal() }
        let received = try await compare(request, known, from: guest)
        // What came another way may have been taken away, or written into, while the body came.
        guard try await self.known(parts, from: sender, looksAround: true)?.map(\.before) == known.map(\.before) else {
            throw await refusal()
        }
        return received
    }

    /// Returns the answer to a body that is too large. After 413 its sender splits the segment, which is not for one that is here or was.
    private func tooLarge(
        _ request: Request, _ parts: [JoinedSegments.Part], from sender: String?, _ limit: ByteCount
    ) async -> IntakeError {
        let refusal: IntakeError = limit < options.maxBody ? .largerThanQuota(limit) : .tooLarge(limit: limit)
        guard sender != nil, parts.count == 1, parts[0].identity.key != nil,
            let length = request.headers[.contentLength].flatMap(Int64.init)
        else { return refusal }
        return await admission.notes.run { [recognition = admission.recognition] in
            do throws(FileError) {
                return try recognition.bar(splitting: parts[0], of: ByteCount(max(0, length)), limit: limit)
                    ?? refusal
            } catch {
                return .file(error)
            }
        }
    }

    /// Notes the way that known segments came now. What is known here, and pending, must not go back where it comes from now: there it is known too,
    /// and has ended.
    private func noteAnswers(
        to parts: [JoinedSegments.Part], as received: [ReceivedSegment], from sender: String?
    ) async throws(IntakeError) {
        let failure = await admission.notes.run { [recognition = admission.recognition] () -> FileError? in
            do throws(FileError) {
                try recognition.note(zip(parts, received).filter { $0.1.isDuplicate }.map { ($0, $1) }, from: sender)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw .file(failure) }
    }

    /// Takes a body that came before.
    private func compare(
        _ request: Request, _ known: [KnownBody.Part], from guest: Guest?
    ) async throws(IntakeError) -> [ReceivedSegment] {
        let body = KnownRequest(known, inflateLimit: options.inflateLimit)
        let turn = TurnLength()
        try await pieces.forEach(of: request, from: guest, turn) { piece throws(IntakeError) in
            try await pieces.work(for: request, from: guest, turn) { () throws(IntakeError) in try body.take(piece) }
        }
        return try body.finish()
    }

    /// Takes the body of a request.
    ///
    /// - Parameter sender: The ID of the spool that it comes from; `nil` where the request does not tell.
    private func take(
        _ request: Request, _ parts: [JoinedSegments.Part], from sender: String?, _ guest: Guest?
    ) async throws(IntakeError) -> [ReceivedSegment] {
        // What came before takes no room, and its sender is to learn that it is here.
        var isKnown = false
        if guest != nil {
            do throws(FileError) { isKnown = try admission.recognition.areKnown(parts) } catch { throw .file(error) }
        }
        var room = RequestRoom(of: guest, isKnown: isKnown)
        var stored = ByteCount.zero
        defer { room.end(stored: stored) }
        if room.isLimited, let usage = guest?.usage {
            let looked = await usageLooks.run { [spool] in
                Result { () throws(FileError) in try usage.look(at: spool, besides: admission.gathered) }
            }
            if case .failure(let error) = looked { throw .file(error) }
            do throws(IntakeError) {
                try room.take(ByteCount(request.headers[.contentLength].flatMap(Int64.init).map { max(0, $0) } ?? 0))
            } catch {
                return try await compareWithWhatCame(request, parts, from: sender, guest) { [error] in error }
            }
        }
        let intake = RequestIntake(parts, from: sender, spool: spool, admission.discards, options: options)
        var received: [ReceivedSegment] = []
        var total = ByteCount.zero
        let turn = TurnLength()
        try await pieces.forEach(of: request, from: guest, turn) { piece throws(IntakeError) in
            total += ByteCount(Int64(piece.readableBytes))
            guard total <= options.maxBody else { throw IntakeError.tooLarge(limit: options.maxBody) }
            try room.take(total)
            var left: ByteBuffer? = piece
            while let rest = left {
                left = try await pieces.work(for: request, from: guest, turn) { () throws(IntakeError) in try intake.take(rest) }
                if left != nil { received += try await admit(intake.handOver(), from: sender) }
            }
        }
        if intake.lacksFile {
            try await pieces.work(for: request, from: guest, turn) { () throws(IntakeError) in try intake.finish() }
        } else {
            try intake.finish()
        }
        received += try await admit(intake.handOver(), from: sender)
        stored = received.reduce(.zero) { $0 + ($1.isDuplicate ? .zero : $1.bytes) }
        return received
    }

    /// Hands the candidates over: what becomes of their files is the admission's to decide.
    private func admit(
        _ handedOver: [AdmissionCandidate], from sender: String?
    ) async throws(IntakeError) -> [ReceivedSegment] {
        let results: [AdmissionResult]
        do throws(FileError) {
            results = try await admission.admit(handedOver, vouchesForNames: sender != nil)
        } catch {
            throw .notAdmitted(error)
        }
        for (candidate, result) in zip(handedOver, results) {
            switch result {
            case .conflict: throw .conflict(key: candidate.entry.key)
            case .inPart: throw .inPart(name: candidate.entry.segment)
            case .leaving: throw .circle(.leaving)
            case .unsoundThere: throw .unsoundThere(name: candidate.entry.segment)
            case .notReceived: throw .ownSegment(name: candidate.entry.segment)
            case .left(let error): throw .notAdmitted(error)
            case .stored, .duplicate: break
            }
        }
        return zip(handedOver, results).map { candidate, result in
            ReceivedSegment(
                name: candidate.entry.segment, bytes: ByteCount(candidate.entry.bytes), events: candidate.entry.events,
                digest: candidate.body.digest, isDuplicate: result == .duplicate)
        }
    }
}
