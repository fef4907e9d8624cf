import FerrySpool
import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("An object store") struct ObjectStoreTests {
    private let folder = TemporaryFolder()
    private static let keys = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"]

    private func segment(
        _ bytes: [UInt8], _ name: SegmentName, key: String? = nil, sender: String? = "spool"
    ) throws -> StoredSegment {
        let file = try OpenFile.inMemory()
        try file.write(bytes)
        return StoredSegment(
            file, name: name, key: key, bytes: ByteCount(Int64(bytes.count)), digest: ContentHash.of(bytes), events: 3,
            sender: sender)
    }

    private func isDuplicate(_ result: PutResult) throws -> Bool {
        guard case .stored(let isDuplicate) = result else { throw Unexpected(what: "\(result)") }
        return isDuplicate
    }

    private struct Unexpected: Error { let what: String }

    @Test("A segment is put under the name that its destination would give it, and known the second time") func put() async throws
    {
        let place = SmallStore()
        let server = ScriptedServer.serving(place)
        let store = try ObjectStore(server.bucket("logs/edge"), environment: Self.keys)
        let name = Segments.name(3)
        let bytes = Segments.gzip(Segments.lines(0..<3))
        let first = try await store.put(segment(bytes, name)) { _ in }
        #expect(try !isDuplicate(first))
        let second = try await store.put(segment(bytes, name, sender: nil)) { _ in }
        #expect(try isDuplicate(second))
        #expect(place.names == ["/logs/edge/2026-11-21/\(name.fileName)"])
        #expect(place.names == ["/logs/" + store.name(of: name, key: nil)])
        let object = try #require(place.objects.withLock { $0.values.first })
        #expect(object.bytes == bytes)
        #expect(object.fields["x-amz-meta-ferry-spool"] == "spool")
        #expect(object.fields["x-amz-meta-ferry-sha256"] == ContentHash.of(bytes).hexadecimal)
    }

    @Test("Of other tools' segments the key alone decides the name: their times may differ between two tries") func keyed()
        async throws
    {
        let place = SmallStore()
        let server = ScriptedServer.serving(place)
        let store = try ObjectStore(server.bucket("logs"), environment: Self.keys)
        let bytes = Segments.gzip(Segments.lines(0..<3))
        for second in [0, 90_000] {
            let result = try await store.put(segment(bytes, Segments.name(second: second), key: "k/1 \u{e9}")) { _ in }
            #expect(try isDuplicate(result) == (second > 0))
        }
        let name = store.name(of: Segments.name(3), key: "k/1 \u{e9}")
        #expect(place.names == ["/logs/" + name])
        #expect(name.hasPrefix("keyed/"))
    }

    @Test("Other bytes under a name that is taken are a conflict, and change nothing") func conflict() async throws {
        let place = SmallStore()
        let server = ScriptedServer.serving(place)
        let store = try ObjectStore(server.bucket("logs"), environment: Self.keys)
        let name = Segments.name(3)
        _ = try await store.put(segment(Segments.gzip("{}\n"), name)) { _ in }
        let result = try await store.put(segment(Segments.gzip("{\"n\":1}\n"), name)) { _ in }
        guard case .conflict = result else { throw Unexpected(what: "\(result)") }
        #expect(place.objects.withLock { $0.values.map(\.bytes) } == [Segments.gzip("{}\n")])
    }

    @Test(
        "What a store says tells what may pass, and what a person must mend",
        arguments: [
            (503, "SlowDown", false), (404, "NoSuchBucket", true), (403, "SignatureDoesNotMatch", true), (400, "Odd", false),
        ])
    func failures(status: Int, code: String, isMisconfigured: Bool) async throws {
        let server = ScriptedServer.answering { _ in SmallStore.error(status, code, "Retry-After: 7\r\n") }
        let store = try ObjectStore(server.bucket("logs"), environment: Self.keys)
        let result = try await store.put(segment(Segments.gzip("{}\n"), Segments.name(3))) { _ in }
        guard case .failed(let message, let retryAfter, isMisconfigured) = result else { throw Unexpected(what: "\(result)") }
        #expect(message.contains(code))
        #expect(status != 503 || retryAfter == .seconds(7))
    }

    @Test("A hundred segments at once share the connections, and each is put") func many() async throws {
        let place = SmallStore()
        let server = ScriptedServer.serving(place)
        let store = try ObjectStore(server.bucket("logs"), environment: Self.keys)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for second in 0..<100 {
                let segment = try segment(Segments.gzip(Segments.lines(0..<second + 1)), Segments.name(second: second))
                group.addTask {
                    guard case .stored(isDuplicate: false) = try await store.put(segment, onNotice: { _ in }) else {
                        return false
                    }
                    return true
                }
            }
            for try await isStored in group { #expect(isStored) }
        }
        #expect(place.names.count == 100)
    }

    @Test("A list of several pages has each object once, in the order of names, and what is below the prefix only") func list()
        async throws
    {
        let place = SmallStore(mostListed: 3)
        let server = ScriptedServer.serving(place)
        for number in 0..<8 { place.objects.withLock { $0["/logs/edge/a b\(number).jsonl.gz"] = .init(bytes: [1, 2]) } }
        place.objects.withLock { $0["/logs/edges.jsonl.gz"] = .init(bytes: []) }
        let store = try ObjectStore(server.bucket("logs/edge"), environment: Self.keys)
        var names: [String] = []
        var reader = store.reader()
        let flawed = try await reader.forEachPage(store.namesBegin) { page in
            names += page.map(\.name)
            return true
        }
        #expect(flawed == 0)
        #expect(names == (0..<8).map { "edge/a b\($0).jsonl.gz" })
    }

    @Test("An object of several pieces comes back byte for byte") func get() async throws {
        let place = SmallStore()
        let server = ScriptedServer.serving(place)
        let bytes = try Segments.noise(9_000_000)
        let store = try ObjectStore(server.bucket("logs"), environment: Self.keys)
        _ = try await store.put(segment(bytes, Segments.name(3))) { _ in }
        var lister = store.reader()
        var reader = store.reader()
        let file = try OpenFile.inMemory()
        _ = try await lister.forEachPage("") { page in
            for object in page { try await reader.get(object, into: file) }
            return true
        }
        let isSame = try file.digest().digest == ContentHash.of(bytes)
        #expect(isSame)
    }

    @Test("An object that is another one by now, or has other bytes than it was put with, is no content") func changed()
        async throws
    {
        let place = SmallStore()
        let server = ScriptedServer.serving(place)
        let digest = ["x-amz-meta-ferry-sha256": ContentHash.of([9]).hexadecimal]
        place.objects.withLock { $0["/logs/a"] = .init(bytes: [1, 2], fields: digest) }
        let store = try ObjectStore(server.bucket("logs"), environment: Self.keys)
        var objects: [ListedObject] = []
        var reader = store.reader()
        _ = try await reader.forEachPage("") { page in
            objects += page
            return true
        }
        let object = try #require(objects.first)
        await #expect(throws: ObjectStoreError.self) { try await Self.get(object, of: store) }
        place.objects.withLock { $0["/logs/a"] = .init(bytes: [3, 4]) }
        await #expect(throws: ObjectStoreError.self) { try await Self.get(object, of: store) }
    }

    @Test("An object that is gone since the list is told from a bucket that is") func gone() async throws {
        let code = Mutex("NoSuchKey")
        let entry = "<Contents><Key>a</Key><LastModified>2026-11-27T09:12:50.000Z</LastModified><Size>1</Size></Contents>"
        let server = ScriptedServer.answering { request in
            if request.line.contains("list-type") {
                return ScriptedServer.answer(200, body: "<ListBucketResult>\(entry)</ListBucketResult>")
            }
            return ScriptedServer.answer(404, body: "<Error><Code>\(code.withLock { $0 })</Code></Error>")
        }
        let store = try ObjectStore(server.bucket("logs"), environment: Self.keys)
        var objects: [ListedObject] = []
        var reader = store.reader()
        _ = try await reader.forEachPage("") { page in
            objects += page
            return true
        }
        let object = try #require(objects.first)
        let first = await #expect(throws: ObjectStoreError.self) { try await Self.get(object, of: store) }
        #expect(first?.kind == .changed)
        code.withLock { $0 = "NoSuchBucket" }
        let second = await #expect(throws: ObjectStoreError.self) { try await Self.get(object, of: store) }
        #expect(second?.kind == .misconfigured)
    }

    @Test(
        "What a store does not give of one object stands in the way of no other",
        arguments: [
            (403, "InvalidObjectState"), (403, "AccessDenied"), (400, "InvalidRequest"), (500, "InternalError"), (403, nil),
        ] as [(Int, String?)]) func withheld(status: Int, code: String?) async throws
    {
        let place = SmallStore()
        let server = ScriptedServer { peer in
            while let request = peer.request() {
                if request.line.contains("/logs/b ") {
                    peer.send(ScriptedServer.answer(status, body: code.map { "<Error><Code>\($0)</Code></Error>" } ?? ""))
                } else {
                    peer.send(place.answer(request))
                }
            }
        }
        for name in ["a", "b", "c"] { place.objects.withLock { $0["/logs/\(name)"] = .init(bytes: [1, 2]) } }
        let store = try ObjectStore(server.bucket("logs"), environment: Self.keys)
        var reader = store.reader()
        var lister = store.reader()
        var (given, withheld): ([String], [String]) = ([], [])
        _ = try await lister.forEachPage("") { page in
            for object in page {
                do {
                    try await reader.get(object, into: try OpenFile.inMemory())
                    given.append(object.name)
                } catch let error as ObjectStoreError where error.isOfObject {
                    withheld.append(object.name)
                    if code == "InvalidObjectState" { #expect(error.description.contains("restore it")) }
                }
            }
            return true
        }
        #expect(given == ["a", "c"])
        #expect(withheld == ["b"])
    }

    @Test("A list that is cut off is asked for again; what is no list at all is told as that") func cutList() async throws {
        let count = Mutex(0)
        let list = "<ListBucketResult></ListBucketResult>"
        let server = ScriptedServer { peer in
            while peer.request() != nil {
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                guard isFirst else {
                    peer.send(ScriptedServer.answer(200, body: list))
                    continue
                }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(list.utf8.count)\r\n\r\n<ListBucket")
                return
            }
        }
        let store = try ObjectStore(server.bucket("logs"), environment: Self.keys)
        var reader = store.reader()
        let flawed = try await reader.forEachPage("") { _ in true }
        #expect(flawed == 0)
        #expect(count.withLock { $0 } == 2)
        let web = ScriptedServer.answering { _ in ScriptedServer.answer(404) }
        let wrong = try ObjectStore(web.bucket("logs"), environment: Self.keys)
        let error = await #expect(throws: ObjectStoreError.self) {
            var reader = wrong.reader()
            try await reader.check("")
        }
        #expect(error?.kind == .misconfigured)
    }

    private static func get(_ object: ListedObject, of store: ObjectStore) async throws {
        var reader = store.reader()
        try await reader.get(object, into: try OpenFile.inMemory())
    }

    @Test("A store that lists without an end, or in no order, is given up") func endless() async throws {
        let entry = "<Contents><Key>a</Key><LastModified>2026-11-27T09:12:50.000Z</LastModified><Size>1</Size></Contents>"
        let server = ScriptedServer.answering { _ in
            ScriptedServer.answer(
                200,
                body:
                    "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>\(entry)</ListBucketResult>"
            )
        }
        let store = try ObjectStore(server.bucket("logs"), environment: Self.keys)
        let error = await #expect(throws: ObjectStoreError.self) {
            var reader = store.reader()
            _ = try await reader.forEachPage("") { _ in true }
        }
        #expect(error?.kind == .garbage)
    }

    @Test("A prefix with placeholders names no store") func placeholders() {
        #expect(throws: DestinationURLError.self) {
            try ObjectStore("s3://logs/{machine}?endpoint=http://h", environment: Self.keys)
        }
    }
}
