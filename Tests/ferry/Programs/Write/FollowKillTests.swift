import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("ferry write --follow, killed again and again while the log grows and is rotated, takes each line once")
struct FollowKillTests {
    /// The same numbers in each run (splitmix64).
    private struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var value = state
            value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
            value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
            return value ^ (value >> 31)
        }
    }

    @Test(
        .needs("logrotate"),
        arguments: ["create", "copytruncate", "create\n compress\n delaycompress", "copytruncate\n compress"])
    func killed(way: String) async throws {
        let logs = try FollowedFolder()
        var random = Random(state: 7)
        var last = 0
        let isCopying = way.hasPrefix("copy")
        // What is there before a log is followed for the first time is left alone.
        try logs.append("")
        let first = try logs.follow()
        try await logs.isFollowed()
        first.send(SIGKILL)
        _ = await first.end()
        for round in 0..<15 {
            let running = try logs.follow("--roll-events", "70")
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let count = Int.random(in: 1...200, using: &random)
                try logs.append((last + 1)...(last + count))
                last += count
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &random)))
                guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
                if isCopying {
                    // In the middle of a line.
                    last += 1
                    try logs.append("{\"n\":")
                    try await logs.rotate(way)
                    try logs.append("\(last)}\n")
                } else {
                    try await logs.rotate(way)
                }
            }
            running.send(SIGKILL)
            _ = await running.end()
            // Another process seals what the killed one left in its journal.
            if round % 3 == 0 { _ = try await Program().run("write", "-q", "--spool", logs.spool) }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                last += 1
                try logs.append(last...last)
                try await logs.rotate(way)
            }
        }
        try logs.append((last + 1)...(last + 1))
        let running = try logs.follow()
        try await eventually("all is stored") { try logs.stored.contains("{\"n\":\(last + 1)}") }
        // It may tell of the journal that the last one left.
        running.send(SIGTERM)
        #expect(await running.end().status == 0)
        #expect(try logs.stored == logs.numbers(1...(last + 1)))
    }
}
