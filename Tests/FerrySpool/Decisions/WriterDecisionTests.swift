import Testing

@testable import FerrySpool

@Suite("When a writer rolls")
struct WriterDecisionTests {
    private let start = ContinuousClock.now

    @Test("By events, by bytes, and never before the first event")
    func limits() {
        let limits = RollLimits(events: 2, bytes: ByteCount(100), after: .seconds(60))
        var state = RollState(firstEventAt: start)
        #expect(state.hasRoom(for: ByteCount(1000), limits))
        state.add(ByteCount(40))
        #expect(state.hasRoom(for: ByteCount(60), limits))
        #expect(!state.hasRoom(for: ByteCount(61), limits))
        state.add(ByteCount(1))
        #expect(!state.hasRoom(for: ByteCount(1), limits))
    }

    @Test("By time since the first event")
    func time() {
        let limits = RollLimits(after: .seconds(60))
        let state = RollState(firstEventAt: start)
        #expect(!state.isDue(at: start + .seconds(59), limits))
        #expect(state.isDue(at: start + .seconds(60), limits))
    }

    @Test("Lines that are not blank are counted, however the pieces fall")
    func lineCounter() {
        let bytes = Array("{}\n\n {}\r\n\t\n{}".utf8)
        for size in 1...bytes.count {
            var counter = LineCounter()
            var ended: Int64 = 0
            var rest = bytes[...]
            while !rest.isEmpty {
                ended += Array(rest.prefix(size)).withUnsafeBytes { counter.count($0) }
                rest = rest.dropFirst(size)
            }
            #expect(ended == 2)
            #expect(counter.totalAtEnd == 3)
        }
    }
}
