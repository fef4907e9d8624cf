import FerrySpool
import TestSupport
import Testing

@testable import FerryReceiver

@Suite("What a receiver takes, and in which turn")
struct IntakeDecisionTests {
    @Test("Owners take turns, whatever number of items each has; each one's items stay in order")
    func turns() {
        var queue = TurnQueue<Int>()
        for item in 0..<3 { queue.append(item, for: "many") }
        queue.append(10, for: "few")
        queue.append(3, for: "many")
        queue.append(20, for: "late")
        var order: [Int] = []
        while let next = queue.next() { order.append(next.item) }
        #expect(order == [0, 10, 20, 1, 2, 3])
        queue.append(5, for: "few")
        queue.append(6, for: "many")
        #expect(queue.owners(besides: ["few"]) == 1)
        let passing = queue.next(besides: ["few"])
        #expect(passing?.item == 6)
        let held = queue.next(besides: ["few"])
        #expect(held?.item == nil)
        #expect(!queue.isEmpty)
        let last = queue.next()
        #expect(last?.owner == "few")
        #expect(queue.isEmpty)
    }

    @Test("A turn that takes long is followed by shorter ones, and they grow again; neither without end")
    func turnSlice() {
        var slice = TurnSlice()
        #expect(slice.bytes == 16_384)
        slice.adapt(to: .milliseconds(5))
        #expect(slice.bytes == 16_384)
        slice.adapt(to: .milliseconds(80))
        #expect(slice.bytes == 4096)
        for _ in 0..<10 { slice.adapt(to: .seconds(1)) }
        #expect(slice.bytes == 256)
        for _ in 0..<20 { slice.adapt(to: .microseconds(50)) }
        #expect(slice.bytes == 16_384)
    }

    @Test("A body may inflate to its limit, over all of its segments, and to a thousand times its size past the first MiB")
    func allowance() throws {
        var allowance = InflateAllowance(limit: .mebibytes(3))
        allowance.begin(1000)
        try allowance.take(1 << 20)
        #expect(throws: IntakeError.tooDense(ratio: 1000)) { try allowance.take(1) }
        var dense = InflateAllowance(limit: .mebibytes(3))
        dense.begin(1 << 20)
        try dense.take(3 << 20)
        #expect(throws: IntakeError.damaged(GzipError(kind: .tooLarge, offset: 1 << 20))) { try dense.take(1) }
    }

    @Test("Neither a key, nor a half of it, nor what it is a half of is under way at once")
    func kin() {
        var underWay = KeysUnderWay()
        underWay.begin(["aaaaaaaaaaaaaaaa0"], ["aaaaaaaaaaaaaaaa"])
        underWay.begin(["aaaaaaaaaaaaaaaa1"], ["aaaaaaaaaaaaaaaa"])
        #expect(underWay.hasKin(of: ["aaaaaaaaaaaaaaaa0"], []))
        #expect(underWay.hasKin(of: ["aaaaaaaaaaaaaaaa"], []))
        #expect(underWay.hasKin(of: ["aaaaaaaaaaaaaaaa00"], ["aaaaaaaaaaaaaaaa0", "aaaaaaaaaaaaaaaa"]))
        #expect(!underWay.hasKin(of: ["bbbbbbbbbbbbbbbb"], []))
        underWay.end(["aaaaaaaaaaaaaaaa0"], ["aaaaaaaaaaaaaaaa"])
        #expect(underWay.hasKin(of: ["aaaaaaaaaaaaaaaa"], []))
        underWay.end(["aaaaaaaaaaaaaaaa1"], ["aaaaaaaaaaaaaaaa"])
        #expect(!underWay.hasKin(of: ["aaaaaaaaaaaaaaaa"], []))
    }

    @Test("A line that is too long is told with its number, where it becomes so")
    func longLine() throws {
        var lines = JSONLinesCounter(longestLine: ByteCount(10))
        try Array("[1]\n[12345678]\n".utf8).withUnsafeBytes { (bytes: UnsafeRawBufferPointer) throws in try lines.feed(bytes) }
        #expect(throws: JSONLineError(line: 3, column: 11, reason: "the line is longer than 10 B")) {
            try Array("[123456789".utf8).withUnsafeBytes { (bytes: UnsafeRawBufferPointer) throws in try lines.feed(bytes) }
            try Array("0]\n".utf8).withUnsafeBytes { (bytes: UnsafeRawBufferPointer) throws in try lines.feed(bytes) }
        }
    }
}
