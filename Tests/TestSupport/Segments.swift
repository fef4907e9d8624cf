import CZlib
package import FerrySpool
import Glibc

/// Segments for tests.
package enum Segments {
    /// A gzip member as any tool makes it: no note of Ferry's.
    package static func gzip(_ text: String) -> [UInt8] { gzip(Array(text.utf8)) }

    package static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(bytes.count))) + 64)
        var input = bytes
        let produced = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                deflate(&stream, Z_FINISH)
                return output.count - Int(stream.avail_out)
            }
        }
        return Array(output[..<produced])
    }

    /// Bytes that do not compress, so that a body is as large on the wire as a test wants.
    package static func noise(_ count: Int) throws -> [UInt8] { try OpenFile.reading("/dev/urandom").readBytes(count, at: 0) }

    /// As many lines, each a number below 256 by chance, that compress to less than half.
    package static func noiseLines(_ count: Int) throws -> String {
        let lines = (0..<256).map { Array("\($0)\n".utf8) }
        var text: [UInt8] = []
        text.reserveCapacity(4 * count)
        for byte in try noise(count) { text += lines[Int(byte)] }
        return String(decoding: text, as: UTF8.self)
    }

    /// Lines `{"n":0}`, `{"n":1}`, …
    package static func lines(_ range: Range<Int>) -> String { range.map { "{\"n\":\($0)}\n" }.joined() }

    /// The lines that a file holds after inflating.
    package static func lines(of file: OpenFile) throws -> [String] {
        var bytes: [UInt8] = []
        try file.inflate(limit: .mebibytes(1024)) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// A segment name for the given second.
    package static func name(_ priority: Int = 5, second: Int = 0, id: String? = nil, stream: String? = nil) -> SegmentName {
        SegmentName(
            priority: Priority(priority)!, created: Timestamp(rfc3339: "2026-11-21T03:00:00Z")! + .seconds(second),
            id: id ?? SegmentID.random().text, stream: stream)!
    }
}

extension Spool {
    /// Publishes a segment of these bytes.
    @discardableResult
    package func put(_ bytes: [UInt8], as name: SegmentName = Segments.name()) throws -> String {
        let publication = try publication()
        try publication.file.write(bytes)
        publication.file.endWriting()
        _ = try publication.publish(as: name.fileName)
        return name.fileName
    }

    /// The names of the pending segments, in upload order.
    package func pending() throws -> [String] {
        let listing = try scan()
        return listing.entries.map { listing.name(of: $0) }
    }

    /// Has the spool see its clock go steadily for two hours, until this moment.
    ///
    /// - Returns: The last look.
    @discardableResult
    package func settleClock(at wall: Timestamp, boot: String = "a") -> ClockJumpDetector.Reading {
        try? directory.remove(".ferry/clock.json")
        _ = clock.watch(.init(bootID: boot, sinceBoot: 0, wall: wall - .seconds(7200)))
        let last = ClockJumpDetector.Reading(bootID: boot, sinceBoot: 7_200_000, wall: wall)
        _ = clock.watch(last)
        return last
    }

    /// All events in some places.
    package func events(in places: Set<SegmentPlace>) throws -> [String] {
        try files(in: places).flatMap { try $0.open().map(Segments.lines(of:)) ?? [] }
    }
}

extension OpenFile {
    /// Dates the last write back, so that what names the file next is seen to have come after it, however fast it comes.
    package func endWriting() { setModified(time(nil) - 1) }

    /// - Parameter seconds: Since 1970.
    package func setModified(_ seconds: Int) {
        // As words: access and modification, each in seconds and nanoseconds.
        [seconds, 0, seconds, 0].withUnsafeBytes {
            _ = futimens(descriptor, $0.assumingMemoryBound(to: timespec.self).baseAddress)
        }
    }
}

/// Lets what was just received, and has no notes of its writer's, count as written out: on a fast disk the clock may not have ticked since.
package func endWriting(in spool: Spool) throws {
    for name in try spool.pending() { try spool.directory.open(name)?.endWriting() }
}
