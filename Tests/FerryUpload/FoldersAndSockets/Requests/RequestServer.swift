import FerrySpool
import FerryUpload
import Foundation
import Synchronization
import TestSupport
import Testing

/// A server that takes notes of requests of numbered events, and answers as it is told by the number of the request, from 1.
final class RequestServer: Sendable {
    struct Request {
        let key: String
        let events: String
        let body: [UInt8]
    }

    let requests = Mutex<[Request]>([])
    let statuses: Mutex<[Int: Int]>

    init(_ statuses: [Int: Int] = [:]) { self.statuses = Mutex(statuses) }

    func answer(_ request: ReceivedRequest) -> String {
        let number = requests.withLock { requests in
            requests.append(
                .init(key: request["idempotency-key"] ?? "", events: request["ferry-events"] ?? "", body: request.body))
            return requests.count
        }
        return ScriptedServer.answer(statuses.withLock { $0[number] } ?? 200)
    }

    var events: [String] { requests.withLock { $0.map(\.events) } }
    var keys: [String] { requests.withLock { $0.map(\.key) } }
}

/// The numbers in the events of a body, which is a JSON array of `{"n":NUMBER}`.
func numbers(in body: [UInt8]) throws -> [Int] {
    let file = try OpenFile.inMemory()
    try file.write(body)
    let text = try Segments.lines(of: file).joined(separator: "\n")
    let events = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Int]]
    return try #require(events).compactMap { $0["n"] }
}

/// Sends what waits in a spool, as JSON arrays, over one connection and without a wait for what failed.
func uploadRequests(
    of spool: Spool, to url: String, events: Int64, _ change: (inout UploadOptions) -> Void = { _ in }
) async throws -> UploadReport {
    var options = UploadOptions(destination: try DestinationURL(url))
    options.body = .jsonArray
    options.requestLimits = RequestLimits(events: events)
    options.ignoresWaits = true
    options.parallel = 1
    change(&options)
    return try await UploadPass(spool, options: options).run()
}
