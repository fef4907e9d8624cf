import Crypto
package import FerrySpool
import Foundation
package import Synchronization
package import TestSupport

/// An object store as the S3 reference describes it, as far as Ferry asks: PutObject with `If-None-Match`, HeadObject, GetObject with `Range`,
/// ListObjectsV2.
package final class SmallStore: Sendable {
    package struct Object: Sendable {
        package var bytes: [UInt8]
        package var fields: [String: String]

        package init(bytes: [UInt8], fields: [String: String] = [:]) {
            self.bytes = bytes
            self.fields = fields
        }
    }

    /// By bucket and name: `/logs/edge/…`.
    package let objects = Mutex<[String: Object]>([:])
    package let requests = Mutex<[ReceivedRequest]>([])
    /// Whether the condition is heeded.
    private let isConditional: Bool
    /// The objects of a page.
    private let mostListed: Int

    package init(isConditional: Bool = true, mostListed: Int = 1000) {
        self.isConditional = isConditional
        self.mostListed = mostListed
    }

    /// The names of its objects, in their order.
    package var names: [String] { objects.withLock { $0.keys.sorted() } }

    package func answer(_ request: ReceivedRequest) -> [UInt8] {
        requests.withLock { $0.append(request) }
        let words = request.line.split(separator: " ").map(String.init)
        let parts = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        let path = parts[0].removingPercentEncoding ?? parts[0]
        if parts.count > 1 { return Array(list(path, parts[1]).utf8) }
        if words[0] == "PUT" { return Array(put(request, path).utf8) }
        guard let object = objects.withLock({ $0[path] }) else {
            return Array((words[0] == "HEAD" ? "HTTP/1.1 404 Not Found\r\n\r\n" : Self.error(404, "NoSuchKey")).utf8)
        }
        let fields = Self.tag(object.bytes) + object.fields.map { "\($0.key): \($0.value)\r\n" }.joined()
        guard words[0] == "GET" else {
            return Array("HTTP/1.1 200 OK\r\nContent-Length: \(object.bytes.count)\r\n\(fields)\r\n".utf8)
        }
        if let wanted = request["if-match"], !Self.tag(object.bytes).contains(wanted) {
            return Array(Self.error(412, "PreconditionFailed").utf8)
        }
        let bounds = (request["range"] ?? "").dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        let body = bounds.count == 2 ? Array(object.bytes[bounds[0]...min(bounds[1], object.bytes.count - 1)]) : object.bytes
        return Array("HTTP/1.1 206 Partial Content\r\nContent-Length: \(body.count)\r\n\(fields)\r\n".utf8) + body
    }

    private func put(_ request: ReceivedRequest, _ path: String) -> String {
        let isNew = objects.withLock { objects in
            if isConditional, request["if-none-match"] == "*", objects[path] != nil { return false }
            objects[path] = Object(bytes: request.body, fields: request.headers.filter { $0.key.hasPrefix("x-amz-meta-") })
            return true
        }
        return isNew ? ScriptedServer.answer(200, Self.tag(request.body)) : Self.error(412, "PreconditionFailed")
    }

    private func list(_ bucket: String, _ query: String) -> String {
        let pairs = query.split(separator: "&").map {
            $0.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        }
        let values = Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1].removingPercentEncoding ?? "") })
        let begin = bucket + (values["prefix"] ?? "")
        let found = objects.withLock { $0.filter { $0.key.hasPrefix(begin) } }.sorted { $0.key < $1.key }
            .filter { $0.key > bucket + (values["continuation-token"] ?? "") }
        let most = min(mostListed, values["max-keys"].flatMap { Int($0) } ?? 1000)
        let entries = found.prefix(most).map { name, object in
            let key = name.dropFirst(bucket.count).addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
            return "<Contents><Key>\(key)</Key><LastModified>2026-11-27T09:12:50.000Z</LastModified>"
                + "<ETag>&quot;\(Self.md5(object.bytes))&quot;</ETag><Size>\(object.bytes.count)</Size></Contents>"
        }
        let next =
            found.count > most
            ? "<IsTruncated>true</IsTruncated><NextContinuationToken>\(found[most - 1].key.dropFirst(bucket.count))</NextContinuationToken>"
            : "<IsTruncated>false</IsTruncated>"
        return ScriptedServer.answer(
            200, body: "<?xml version=\"1.0\"?><ListBucketResult>\(next)\(entries.joined())</ListBucketResult>")
    }

    private static func md5(_ bytes: [UInt8]) -> String {
        Insecure.MD5.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
    }

    private static func tag(_ bytes: [UInt8]) -> String { "ETag: \"\(md5(bytes))\"\r\n" }

    package static func error(_ status: Int, _ code: String, _ fields: String = "") -> String {
        ScriptedServer.answer(status, fields, body: "<Error><Code>\(code)</Code><Message>no</Message></Error>")
    }
}

extension ScriptedServer {
    /// Serves a store.
    package static func serving(_ store: SmallStore, port: Int = 0) -> ScriptedServer {
        ScriptedServer(port: port) { peer in
            while let request = peer.request() { peer.send(store.answer(request)) }
        }
    }

    /// The URL of a bucket of the store that it serves.
    package func bucket(_ path: String) -> String { "s3://\(path)?endpoint=http://127.0.0.1:\(port)" }
}
