import FerrySpool
import Glibc

/// Where the demonstration finds its events.
enum DemoFixtures {
    /// Returns the folder with real segments: beside the binary's folder when installed, above it in a checkout.
    static func folder() -> Directory? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        var places = ["."]
        if length > 0 {
            var folder = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)[...]
            while let slash = folder.lastIndex(of: "/") {
                folder = folder[..<slash]
                places += ["\(folder)/share/ferry", String(folder)]
            }
        }
        for place in places {
            if let folder = try? Directory.open("\(place)/fixtures/segments") { return folder }
        }
        return nil
    }

    /// Copies the segments into a spool, as any producer would: a hidden file first, then a rename.
    static func copy(from folder: Directory, into spool: Spool) throws -> Int {
        var count = 0
        for name in try folder.names() {
            guard SegmentName(name) != nil, let bytes = try folder.contents(of: name, limit: .mebibytes(64)) else {
                continue
            }
            let publication = try spool.publication()
            try publication.file.write(bytes)
            if try publication.publish(as: name) { count += 1 }
        }
        return count
    }

    /// Makes segments for a binary that was copied without its fixtures. Returns their number.
    static func generate(into spool: Spool) throws -> Int {
        var options = SegmentWriter.Options()
        options.roll.events = 100
        options.stream = StreamLabel("demo")
        let writer = SegmentWriter(spool: spool, options: options)
        for number in 1...1000 {
            var line = "{\"time\":\"\(Timestamp.now().rfc3339)\",\"name\":\"demo\",\"number\":\(number)}"
            try line.withUTF8 { try writer.append($0, at: .now) }
        }
        return try writer.finish().count
    }
}
