import FerrySpool
import FerryUpload
import HTTPTypes
import Hummingbird
import NIOCore

/// Answers `POST /v1/segments` of a receiver that puts segments into an object store, and keeps nothing itself.
struct StoreHandler: Sendable {
    let store: ObjectStore
    /// The folder of the bodies under way.
    let scratch: String
    let options: ReceiverOptions
    let pieces: BodyPieces
    let onEvent: @Sendable (ReceiverEvent) -> Void

    /// Takes the segments of a request, and returns the answer.
    ///
    /// - Parameter address: Where it comes from.
    func handle(_ request: Request, at address: String) async -> Response {
        let origin = Sender(saying: request.headers[.ferrySpool], at: address)
        do throws(RefusedRequestError) {
            return try await take(request, from: origin)
        } catch {
            onEvent(.refused(Refusal(error, from: origin)))
            return error.response
        }
    }

    private func take(_ request: Request, from origin: Sender) async throws(RefusedRequestError) -> Response {
        let parts: [JoinedSegments.Part]
        do throws(RequestHeaderError) {
            parts = try JoinedSegments.parts(request.headers, now: .now())
        } catch {
            throw RefusedRequestError(.badRequest, "\(error)")
        }
        // A store sends nothing on: no way leads back from it, but one that is too long goes in a circle before.
        if let circle = CircleError(parts.map(\.trail), from: nil, to: "") { throw RefusedRequestError(.circle(circle)) }
        let received: [ReceivedSegment]
        do throws(IntakeError) {
            received = try await take(request, parts)
        } catch {
            if case .file(let failure) = error { onEvent(.failed(failure, from: origin)) }
            throw RefusedRequestError(error)
        }
        for segment in received { onEvent(.received(segment, from: origin)) }
        return Answer.accepted(received, mostJoined: options.mostJoined)
    }

    private func take(_ request: Request, _ parts: [JoinedSegments.Part]) async throws(IntakeError) -> [ReceivedSegment] {
        let sender = request.headers[.ferrySpool]
        let intake = ScratchIntake(parts, scratch: scratch, options: options)
        let turn = TurnLength()
        var received: [ReceivedSegment] = []
        var total = ByteCount.zero
        // Of a segment that is too large for the limits of today, and was put before.
        var before: BodyDigest?
        let length = request.headers[.contentLength].flatMap(Int64.init).map { ByteCount($0) } ?? .zero
        if length > options.maxBody { before = try await digest(of: parts, otherwise: .tooLarge(limit: options.maxBody)) }
        try await pieces.forEach(of: request, from: nil, turn) { piece throws(IntakeError) in
            total += ByteCount(Int64(piece.readableBytes))
            if before == nil, total > options.maxBody {
                before = try await digest(of: parts, otherwise: .tooLarge(limit: options.maxBody))
            }
            var left: ByteBuffer? = piece
            while let rest = left {
                guard before == nil else {
                    return try await pieces.work(for: request, from: nil, turn) { () throws(IntakeError) in try intake.skip(rest)
                    }
                }
                do throws(IntakeError) {
                    left = try await pieces.work(for: request, from: nil, turn) { () throws(IntakeError) in try intake.take(rest)
                    }
                } catch {
                    guard error.asksForHalves else { throw error }
                    // What was taken of the piece is hashed: the one segment of the request takes all of it.
                    before = try await digest(of: parts, otherwise: error)
                    return
                }
                if left != nil { received += try await put(intake.handOver(), from: sender) }
            }
        }
        if let before { return [try duplicate(parts[0], intake, of: before)] }
        do throws(IntakeError) {
            try await pieces.work(for: request, from: nil, turn) { () throws(IntakeError) in try intake.finish() }
        } catch {
            guard error.asksForHalves else { throw error }
            return [try duplicate(parts[0], intake, of: try await digest(of: parts, otherwise: error))]
        }
        return received + (try await put(intake.handOver(), from: sender))
    }

    /// Returns the SHA-256 of the object of a request's one segment. On a 413 its sender splits it, which is not for one that is in the store: its
    /// halves would be the same events under other names.
    private func digest(
        of parts: [JoinedSegments.Part], otherwise refusal: IntakeError
    ) async throws(IntakeError) -> BodyDigest {
        guard parts.count == 1, parts[0].bytes == nil, parts[0].identity.key != nil else { throw refusal }
        let identity = parts[0].identity
        var reader = store.reader()
        let found: BodyDigest??
        do throws(ObjectStoreError) {
            found = try await reader.digest(ofObject: store.name(of: identity.name, key: identity.keyOfMadeName))
        } catch {
            throw .store(error.description, retryAfter: Self.patience)
        }
        guard let digest = found ?? nil else { throw refusal }
        return digest
    }

    private func duplicate(
        _ part: JoinedSegments.Part, _ intake: ScratchIntake, of before: BodyDigest
    ) throws(IntakeError) -> ReceivedSegment {
        guard let seen = intake.seen, seen.digest == before else {
            throw .conflict(key: part.identity.key ?? part.identity.name.id)
        }
        return ReceivedSegment(
            name: fileName(part.identity), bytes: seen.bytes, events: nil, digest: seen.digest, isDuplicate: true)
    }

    private func put(_ segments: [ScratchSegment], from sender: String?) async throws(IntakeError) -> [ReceivedSegment] {
        let results = await withTaskGroup(of: (Int, Result<ReceivedSegment, IntakeError>).self) { group in
            for (index, segment) in segments.enumerated() {
                group.addTask {
                    do throws(IntakeError) {
                        return (index, .success(try await put(segment, from: sender)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var received: [ReceivedSegment] = []
        for index in segments.indices { if let result = results[index] { received.append(try result.get()) } }
        return received
    }

    private func put(_ segment: ScratchSegment, from sender: String?) async throws(IntakeError) -> ReceivedSegment {
        let identity = segment.part.identity
        let stored = StoredSegment(
            segment.file, name: identity.name, key: identity.keyOfMadeName, bytes: segment.bytes, digest: segment.body.digest,
            events: segment.events, sender: sender)
        let result: PutResult
        do throws(FileError) {
            result = try await store.put(stored) { onEvent(.warning($0)) }
        } catch {
            throw .file(error)
        }
        switch result {
        case .stored(let isDuplicate):
            return ReceivedSegment(
                name: fileName(identity), bytes: segment.bytes, events: segment.events, digest: segment.body.digest,
                isDuplicate: isDuplicate)
        case .conflict: throw .conflict(key: identity.key ?? identity.name.id)
        case .tooLarge(let reason): throw .tooLargeForStore(reason)
        case .failed(let reason, let retryAfter, let isMisconfigured):
            throw .store(reason, retryAfter: retryAfter ?? (isMisconfigured ? Self.longPatience : Self.patience))
        }
    }

    /// How soon a sender is to come back when the store says nothing of it, or a person must mend something.
    private static let (patience, longPatience) = (Duration.seconds(5), Duration.seconds(60))

    private func fileName(_ identity: SegmentIdentity) -> String {
        let name = store.name(of: identity.name, key: identity.keyOfMadeName)
        return name.split(separator: "/").last.map(String.init) ?? name
    }
}

extension SegmentIdentity {
    /// The key of a segment whose name was made for it; `nil` where its name says all.
    fileprivate var keyOfMadeName: String? { givenName == nil ? key : nil }
}

extension IntakeError {
    /// Whether the answer to it is 413, on which a sender splits a segment.
    fileprivate var asksForHalves: Bool { RefusedRequestError(self).status == .contentTooLarge }
}
