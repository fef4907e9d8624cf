import Testing

@testable import FerryUpload

@Suite("How many requests are under way at once")
struct ConcurrencyRampTests {
    private func ramped(_ latencies: [Duration], limit: Int = 8) -> ConcurrencyRamp {
        var ramp = ConcurrencyRamp(limit: limit, isRecovering: true)
        for latency in latencies { ramp.succeeded(latency) }
        return ramp
    }

    @Test("Steady answers let it grow to the limit, and noise does not make it fall")
    func grows() {
        #expect(ramped([.milliseconds(5), .milliseconds(6), .milliseconds(19), .milliseconds(4)]).window == 8)
    }

    @Test("Answers that slow down make it fall, and it grows again when they are fast again")
    func falls() {
        var ramp = ramped(Array(repeating: .milliseconds(10), count: 20))
        for _ in 0..<20 { ramp.succeeded(.milliseconds(400)) }
        #expect(ramp.window < 8)
        for _ in 0..<40 { ramp.succeeded(.milliseconds(10)) }
        #expect(ramp.window == 8)
    }

    @Test("It falls once for what was under way, not once for each answer")
    func fallsOnce() {
        var ramp = ramped(Array(repeating: .milliseconds(10), count: 20))
        for _ in 0..<8 { ramp.succeeded(.seconds(1)) }
        #expect(ramp.window == 4)
    }

    @Test("An error brings it back to one")
    func error() {
        var ramp = ramped(Array(repeating: .milliseconds(10), count: 20))
        ramp.failed()
        #expect(ramp.window == 1)
    }

    @Test("A path that became slower for good is slow only for a while")
    func drifts() {
        var ramp = ramped(Array(repeating: .milliseconds(10), count: 20))
        for _ in 0..<600 { ramp.succeeded(.milliseconds(300)) }
        #expect(ramp.window == 8)
    }
}
