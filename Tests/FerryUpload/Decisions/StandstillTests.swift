import FerrySpool
import Testing

@testable import FerryUpload

@Suite("Why nothing leaves a spool")
struct StandstillTests {
    private let now = Timestamp(milliseconds: 1_793_000_000_000)

    private func control(paused: Bool = false, disabled: Bool = false) -> SpoolControl {
        var control = SpoolControl()
        control.isPaused = paused
        control.isDisabled = disabled
        return control
    }

    private func mark(_ blocker: SendBlocker? = nil) -> UploaderMark {
        UploaderMark(startedAt: now, destination: "http://hub/", deadline: nil, blocked: blocker?.mark)
    }

    private func waiting(
        _ destination: String, for wait: Duration = .seconds(60), tried ago: Duration = .zero
    ) -> (id: String, state: RetryState) {
        let state = RetryState(
            attempts: 1, failures: 1, firstAttemptAt: now - ago, lastAttemptAt: now - ago, nextAttemptAt: now + wait,
            lastError: .init(scope: .destination, kind: "status", message: "503 of \(destination)"))
        return (DestinationID.id(of: destination), state)
    }

    private func standstill(
        _ control: SpoolControl? = nil, _ mark: UploaderMark? = nil, _ destinations: [(id: String, state: RetryState)] = []
    ) -> Standstill? {
        Standstill(control: control ?? self.control(), uploader: mark, destinations: destinations, at: now)
    }

    @Test("Nothing stands in the way of a spool that was told nothing, with an uploader or without")
    func nothing() {
        #expect(standstill() == nil)
        #expect(standstill(nil, mark()) == nil)
    }

    @Test("What a person said goes before what the uploader says, and that before the destination's wait")
    func order() {
        let closed = mark(.windowClosed(until: now + .seconds(5)))
        #expect(standstill(control(paused: true, disabled: true), closed)?.reason == "disabled")
        #expect(standstill(control(paused: true), closed)?.reason == "paused")
        let window = standstill(nil, closed, [waiting("http://hub/")])
        #expect(window?.reason == "window-closed")
        #expect(window?.until == now + .seconds(5))
        #expect(standstill(nil, mark(), [waiting("http://hub/")])?.reason == "destination-waits")
    }

    @Test("The wait is that of the uploader's destination; without an uploader, of the one that was tried last")
    func destination() {
        let two = [waiting("http://hub/", tried: .seconds(5)), waiting("http://other/", for: .seconds(90))]
        #expect(standstill(nil, mark(), two)?.until == now + .seconds(60))
        #expect(standstill(nil, mark(), [waiting("http://other/")]) == nil)
        #expect(standstill(nil, nil, [waiting("http://other/")])?.text.contains("503 of http://other/") == true)
        #expect(standstill(nil, nil, two)?.until == now + .seconds(90))
        let older = waiting("http://other/", tried: .seconds(5))
        #expect(standstill(nil, nil, [older, waiting("http://hub/", for: .zero)]) == nil)
    }

    @Test("A wait that is over is none")
    func over() { #expect(standstill(nil, mark(), [waiting("http://hub/", for: .zero)]) == nil) }

    @Test("An uploader's mark says what the folder does not tell already, and no more")
    func marks() {
        for blocker in [SendBlocker.paused, .disabled, .unavailable("x"), .destinationWaits(until: now, "x")] {
            #expect(blocker.mark == nil, "\(blocker)")
        }
        let told = [
            SendBlocker.noRoute, .interfaceDenied("wwan0"), .windowClosed(until: nil), .off("x"), .misconfigured(until: now, "x"),
            .headWaits(until: now),
        ]
        for blocker in told {
            #expect(blocker.mark?.reason == blocker.kind)
            #expect(blocker.mark?.text == blocker.description)
        }
    }
}
