import FerryReceiver
import FerryTransfer
import FerryUpload
import ServiceSupport
import TestSupport
import Testing

@testable import FerrySpool

/// Sends all of a spool, deleting what arrived. Returns how many are left.
func send(_ source: Spool, to target: Spool, coalesce: ByteCount? = nil) async throws -> Int {
    try endWriting(in: source)
    return try await whileReceiving(into: target) { port in
        var options = UploadOptions(destination: try DestinationURL("http://127.0.0.1:\(port)/v1/segments"))
        options.keepsSent = false
        options.ignoresWaits = true
        options.coalesce = coalesce.map { .upTo($0) } ?? .off
        return try await UploadPass(source, options: options).run().remaining
    }
}

/// Sends one segment, and loses the answer.
func lose(_ name: String, _ source: Spool, to target: Spool) async throws {
    let file = try #require(try source.directory.open(name))
    let bytes = try file.readBytes(1 << 20, at: 0)
    let segment = try #require(SegmentName(name))
    let trail = Ways().trail(of: file, segment, in: source)
    let headers = [
        "Idempotency-Key": "\"\(segment.id)\"", "Ferry-Segment": name, "Ferry-Spool": source.id, "Ferry-Hops": "\(trail.hops)",
        "Ferry-Via": trail.spools.isEmpty ? "-" : trail.spools.joined(separator: " "),
    ]
    let answer = try await whileReceiving(into: target) { try await RawClient.post(bytes, port: $0, headers: headers) }
    #expect(answer.status == 200)
}

/// Carries all of a spool to another by a stick, and back the receipt. Returns how many the hub withheld.
func carry(_ source: Spool, to hub: Spool, on folder: TemporaryFolder) throws -> Int {
    try endWriting(in: source)
    let stick = folder("stick-\(source.id)-\(hub.id)")
    _ = try Directory.make(stick)
    let now = Timestamp.now()
    let exported = try Export(source, options: ExportOptions(), now: now).run(to: stick)
    let path = try #require(exported.path)
    let report = try #require(try Import(hub, options: ImportOptions()).run(path, at: now).first).get()
    if !report.receipt.segments.isEmpty { _ = try source.exports.acknowledge(report.receiptBytes, from: nil, at: now) }
    return report.withheld.count
}

/// Publishes segments of one event each.
func fill(_ spool: Spool, _ count: Int = 3) throws -> [String] {
    try (0..<count).map { try spool.put(Segments.gzip("{\"n\":\($0)}\n"), as: Segments.name(second: $0)) }
}

/// Whether files keep notes of their ways here.
func notesTrails(_ spool: Spool) throws -> Bool {
    let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1000))
    try spool.directory.open(name)?.setTrail(#require(Trail(hops: 1)))
    defer { try? spool.directory.remove(name) }
    let isNoted = try spool.directory.open(name)?.trail.hops == 1
    if !isNoted { print("NOT TESTED: this file system has no extended attributes") }
    return isNoted
}
