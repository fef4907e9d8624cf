import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("ferry write --follow catches up with many files that came while nothing followed")
struct FollowBacklogTests {
    private let logs: FollowedFolder

    init() throws { logs = try FollowedFolder() }

    /// A log that is rotated faster than its files are taken loses those that are removed.
    @Test("Compressed files are not read again for each one that is taken", arguments: [false, true])
    func compressed(isLogEmpty: Bool) async throws {
        try logs.append(1...1)
        let first = try logs.follow()
        try await logs.waits(for: 1...1)
        await logs.stop(first)
        let count = 24
        logs.move("app.log", "app.log.\(count + 1)")
        var size: Int64 = 0
        for number in 1...count {
            let name = "app.log.\(count - number + 1)"
            let noise = (0..<100).map { _ in Data((0..<768).map { _ in UInt8.random(in: 0...255) }).base64EncodedString() }
            try logs.append(noise.map { "{\"file\":\(number),\"noise\":\"\($0)\"}\n" }.joined(), to: name)
            try await logs.compress(name)
            size += try FileStatus(of: logs.folder("\(name).gz")).size.bytes
        }
        if isLogEmpty { try logs.append("") } else { try logs.append(2...2) }
        let last = 1 + 100 * count + (isLogEmpty ? 0 : 1)
        let second = try logs.follow()
        try await eventually("all is stored") { try logs.stored.count >= last }
        let text = try String(contentsOfFile: "/proc/\(second.processIdentifier)/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
        let read = try #require(Int64(line.dropFirst(7)))
        // Each is looked at, and read; what is written is read to be published.
        #expect(read < 8 * size, "\(read) bytes were read of \(count) files with \(size)")
        await logs.stop(second)
        #expect(try logs.stored.count == last)
    }

    @Test("A file with the number that an empty log had casts no doubt on those that came before it")
    func number() async throws {
        try logs.append("")
        let first = try logs.follow()
        try await logs.isFollowed()
        await logs.stop(first)
        logs.move("app.log", "app.log.1")
        try logs.append(1...2, to: "app.log.2")
        try logs.append(3...4, to: "app.log.1")
        try logs.append(5...5)
        let second = try logs.follow()
        try await logs.waits(for: 1...5)
        await logs.stop(second)
    }
}
