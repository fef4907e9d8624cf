import Crypto
package import FerrySpool
import NIOCore

/// Reads a store: one request after the other, over one connection, which is opened when needed.
package struct ObjectReader: ~Copyable {
    private let location: S3Location
    private let keys: S3KeySource
    private let kind: S3Destination
    private let connector: Connector
    private let eventLoop: any EventLoop
    private var open: HTTPConnection?
    private var withheld = WithheldObjects()

    init(
        _ location: S3Location, _ keys: S3KeySource, _ kind: S3Destination, _ connector: Connector, _ eventLoop: any EventLoop
    ) {
        self.location = location
        self.keys = keys
        self.kind = kind
        self.connector = connector
        self.eventLoop = eventLoop
    }

    deinit { open?.close() }

    /// A page of the list has this many objects at most, and 4 KB for each of them.
    private static let mostListed = 1000
    /// A list may have this many empty pages in a row: AWS makes some where many objects were deleted.
    private static let mostEmptyPages = 1000
    /// An object is read in pieces of this size.
    private static let piece = ByteCount.mebibytes(4)

    /// Looks whether the store lets this reader in.
    ///
    /// - Parameter prefix: What names begin with.
    package mutating func check(_ prefix: String) async throws(ObjectStoreError) {
        _ = try await page(prefix, after: nil, most: 1)
    }

    /// Calls `body` with each object whose name begins with a prefix, in the byte order of names.
    ///
    /// - Returns: How many entries of the list cannot be read.
    package mutating func forEachPage(
        _ prefix: String, _ body: ([ListedObject]) async throws -> Bool
    ) async throws -> Int {
        var (token, last) = (String?.none, "")
        var (flawed, empty) = (0, 0)
        while true {
            let page = try await page(prefix, after: token, most: Self.mostListed)
            flawed += page.flawed
            // What a store lists twice would be read twice; what is not below the prefix was not asked for.
            var objects: [ListedObject] = []
            for object in page.objects where object.name.utf8.starts(with: prefix.utf8) {
                guard last.utf8.lexicographicallyPrecedes(object.name.utf8) else {
                    throw ObjectStoreError(.garbage, "\(location.description): its list is not in the order of names")
                }
                last = object.name
                objects.append(object)
            }
            empty = objects.isEmpty ? empty + 1 : 0
            guard try await body(objects), let next = page.next else { return flawed }
            guard next != token, empty < Self.mostEmptyPages else {
                throw ObjectStoreError(.garbage, "\(location.description): its list has no end")
            }
            token = next
        }
    }

    private mutating func page(_ prefix: String, after token: String?, most: Int) async throws(ObjectStoreError) -> ObjectListing
    {
        var query = ["encoding-type=url", "list-type=2", "max-keys=\(most)", "prefix=\(prefix.percentEncodedForURL)"]
        if let token { query.append("continuation-token=\(token.percentEncodedForURL)") }
        let answer = try await success("GET", "?" + query.joined(separator: "&"))
        guard let listing = ObjectListing(answer.body) else {
            throw ObjectStoreError(.garbage, "\(location.description): its answer is no list of a bucket's objects")
        }
        return listing
    }

    /// Returns the SHA-256 that an object was put with; `nil` where there is no such object, an inner `nil` where it says none.
    package mutating func digest(ofObject name: String) async throws(ObjectStoreError) -> BodyDigest?? {
        let answer = try await answer("HEAD", Self.target(name))
        if answer.status == 404 { return nil }
        guard answer.status == 200 else { throw failure(answer, isOfObject: true) }
        return .some(answer.header(S3Answer.digestField).flatMap { BodyDigest(hexadecimal: $0) })
    }

    /// Writes an object into an empty file, and compares it with the SHA-256 that it was put with.
    ///
    /// - Throws: ``ObjectStoreError``, which tells by ``ObjectStoreError/isOfObject`` whether others are to be read.
    package mutating func get(_ object: ListedObject, into file: OpenFile) async throws {
        do {
            try await read(object, into: file)
            withheld.gave()
        } catch let error as ObjectStoreError {
            throw withheld.judge(error)
        }
    }

    private mutating func read(_ object: ListedObject, into file: OpenFile) async throws {
        var offset: Int64 = 0
        var expected: String?
        var hash = SHA256()
        while offset < object.size.bytes {
            let end = min(offset + Self.piece.bytes, object.size.bytes)
            var fields = [(name: "Range", value: "bytes=\(offset)-\(end - 1)")]
            if !object.etag.isEmpty { fields.append(("If-Match", object.etag)) }
            let answer = try await success("GET", Self.target(object.name), fields, bytes: end - offset)
            if offset == 0 { expected = answer.header(S3Answer.digestField) }
            hash.update(data: answer.body)
            try file.write(answer.body)
            offset = end
        }
        guard let expected, expected != RequestSignature.hex(hash.finalize()) else { return }
        throw ObjectStoreError(.changed, "\(location.description): the object's bytes are not those that it was put with")
    }

    private static func target(_ name: String) -> String {
        name.split(separator: "/", omittingEmptySubsequences: false).map { String($0).percentEncodedForURL }.joined(
            separator: "/")
    }

    /// The pauses before the tries that follow one that failed for a while.
    private static let pauses = [Duration.milliseconds(200), .seconds(1), .seconds(3)]

    /// Makes a request until it succeeds, or has no chance to.
    ///
    /// - Parameter bytes: How long the answer's body must be.
    private mutating func success(
        _ method: String, _ target: String, _ fields: [(name: String, value: String)] = [], bytes: Int64? = nil
    ) async throws(ObjectStoreError) -> Answer {
        var pauses = Self.pauses[...]
        while true {
            let failure: ObjectStoreError
            do throws(ObjectStoreError) {
                let answer = try await answer(method, target, fields)
                guard answer.status == 200 || answer.status == 206 else { throw self.failure(answer, isOfObject: bytes != nil) }
                // A connection that breaks within the body leaves a part of it.
                guard answer.isWhole, bytes == nil || Int64(answer.body.count) == bytes else {
                    throw ObjectStoreError(
                        .unavailable, "\(location.description): an answer was cut off", mayBeOfObject: bytes != nil)
                }
                return answer
            } catch {
                failure = error
            }
            guard failure.kind == .unavailable, let pause = pauses.popFirst() else { throw failure }
            do { try await Task.sleep(for: pause) } catch { throw failure }
        }
    }

    private func failure(_ answer: Answer, isOfObject: Bool) -> ObjectStoreError {
        // Stores name what is missing: the object, or the whole bucket.
        let isBucketMissing = String(decoding: answer.body, as: UTF8.self).contains("NoSuchBucket")
        if isOfObject, answer.status == 404 && !isBucketMissing || answer.status == 412 {
            return ObjectStoreError(.changed, "\(location.description): the object is gone, or another one has its name")
        }
        let read = S3Answer(answer, at: .now())
        if isOfObject, read.isArchived {
            return ObjectStoreError(
                .withheld, "\(location.description): the object is in an archive (InvalidObjectState): restore it there first")
        }
        return ObjectStoreError(
            read.problem, isDenied: read.isDenied, mayBeOfObject: isOfObject && read.mayBeOfObject, of: location.description)
    }

    /// Makes a request, and makes it again where the store tells how: by its clock, or with keys that were mended.
    private mutating func answer(
        _ method: String, _ target: String, _ fields: [(name: String, value: String)] = []
    ) async throws(ObjectStoreError) -> Answer {
        _ = keys.follow(at: .now)
        if let reason = await keys.renew(at: .now()) { throw ObjectStoreError(reason, of: location.description) }
        var step = DeliveryStep(method: method, carriesBody: false)
        while true {
            let request = StepRequest(
                step: step, outgoing: OutgoingRequest(facts: [], body: .bytes(ByteBuffer()), attempt: 1),
                origin: location.bucketURL.origin, target: location.bucketURL.target + target, time: .now())
            let answer: Answer
            do throws(TransportError) {
                answer = try await send(request, fields)
            } catch {
                throw ObjectStoreError(Verdict(error), of: location.description)
            }
            guard step.number == 0, answer.status >= 400 else { return answer }
            var trace = RequestTrace()
            if case .ask = kind.meaning(of: answer, to: request, &trace) {
                step.number += 1
            } else if answer.status == 403 || answer.status == 400, await keys.readAgain() {
                step.number += 1
            } else {
                return answer
            }
        }
    }

    private mutating func send(
        _ request: StepRequest, _ fields: [(name: String, value: String)]
    ) async throws(TransportError) -> Answer {
        do throws(TransportError) {
            return try await sendOnce(request, fields)
        } catch .closed(_, isStale: true) {
            // The store closed the idle connection just as the request went out.
            open = nil
            return try await sendOnce(request, fields)
        }
    }

    private mutating func sendOnce(
        _ request: StepRequest, _ fields: [(name: String, value: String)]
    ) async throws(TransportError) -> Answer {
        let connection: HTTPConnection
        if let open, open.isOpen {
            connection = open
        } else {
            connection = try await connector.connect(to: request.origin, on: eventLoop)
        }
        open = connection
        var all = [(name: "Host", value: request.origin.hostHeader), (name: "User-Agent", value: RequestHead.userAgent)]
        all += kind.fields(of: request) + fields
        if let authorization = connection.proxyAuthorization { all.append(("Proxy-Authorization", authorization)) }
        let origin = connection.usesAbsoluteTarget ? "\(request.origin)" : ""
        let head =
            "\(request.step.method) \(origin)\(request.target) HTTP/1.1\r\n"
            + all.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
        do throws(ExchangeError) {
            return try await connection.send(
                Exchange(
                    head: ByteBuffer(string: head), body: .bytes(ByteBuffer()), isHead: request.step.method == "HEAD",
                    isDownload: true))
        } catch {
            throw error.reason
        }
    }
}
