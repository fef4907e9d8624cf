import FerrySpool
import Testing

@testable import FerryUpload

@Suite("Which segments are due, and why others are not")
struct DueDecisionTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
    private let options: UploadOptions

    init() throws { options = UploadOptions(destination: try DestinationURL("http://hub/")) }

    /// A segment of a name.
    private func segment(
        _ name: String, _ state: PendingSegment.State = .due, created ago: Duration = .seconds(60), retry: RetryState? = nil,
        failure: FileError? = nil
    ) -> PendingSegment {
        PendingSegment(
            name: name, priority: .normal, created: now - ago, size: ByteCount(100), state: state, retry: retry, failure: failure,
            notes: nil)
    }

    private func failed(_ scope: RetryState.LastError.Scope, for wait: Duration, tried ago: Duration = .zero) -> RetryState {
        RetryState(
            attempts: 1, failures: 1, firstAttemptAt: now - ago, lastAttemptAt: now - ago, nextAttemptAt: now + wait,
            lastError: .init(scope: scope, kind: "status", message: "HTTP 503"))
    }

    /// What is decided of segments, one after the other; `nil` for what is sent.
    private func reasons(
        _ segments: [PendingSegment], control: SpoolControl = SpoolControl(), destination: RetryState? = nil,
        drops: [String: String] = [:], _ change: (inout UploadOptions) -> Void = { _ in }
    ) -> [NotSentReason?] {
        var options = options
        change(&options)
        let rules = SegmentQueue.Rules(options.due, at: now)
        var decision = DueDecision(options, rules, control: control, destination: destination, at: now)
        return segments.map { decision.reason(for: $0, droppedAs: drops[$0.name]) }
    }

    private var paused: SpoolControl {
        var control = SpoolControl()
        control.isPaused = true
        return control
    }

    /// The word for programs of a standstill that is a reason.
    private func kind(_ reason: NotSentReason?) -> String? {
        if case .standstill(let standstill) = reason { standstill.reason } else { nil }
    }

    @Test("What nothing holds up is sent")
    func sent() { #expect(reasons([segment("a"), segment("b")]) == [nil, nil]) }

    @Test("A pause holds up all, and then nothing is deleted either")
    func pause() {
        let reasons = reasons([segment("a"), segment("b")], control: paused, drops: ["a": "too old"])
        #expect(reasons.map(kind) == ["paused", "paused"])
    }

    @Test("The destination's wait holds up what is not deleted first")
    func destination() {
        let reasons = reasons(
            [segment("a"), segment("b")], destination: failed(.destination, for: .seconds(9)), drops: ["a": "old"])
        #expect(reasons[0] == .dropped(why: "old"))
        #expect(kind(reasons[1]) == "destination-waits")
    }

    @Test("A destination's wait that is over holds up nothing, nor one that is to be ignored")
    func destinationIsDue() {
        #expect(reasons([segment("a")], destination: failed(.destination, for: .seconds(-1), tried: .seconds(9))) == [nil])
        #expect(reasons([segment("a")], destination: failed(.destination, for: .seconds(9))) { $0.ignoresWaits = true } == [nil])
    }

    @Test("A segment's own back-off holds it up until its end, but not where waits are ignored")
    func backOff() {
        let segments = [segment("a", .waits(until: now), retry: failed(.segment, for: .seconds(9))), segment("b")]
        #expect(reasons(segments) == [.waits(until: now + .seconds(9)), nil])
        #expect(reasons(segments) { $0.ignoresWaits = true } == [nil, nil])
    }

    @Test("What waited for the destination does not wait by itself")
    func victim() {
        let waiting = segment("a", .waits(until: now + .seconds(9)), retry: failed(.destination, for: .seconds(9)))
        #expect(reasons([waiting]) == [nil])
    }

    @Test("The longest wait that can be meant is the configured one, for segments and the destination")
    func longest() {
        let days = failed(.segment, for: .seconds(2 * 86_400))
        #expect(reasons([segment("a", retry: days)]) == [nil])
        #expect(reasons([segment("a")], destination: days) == [nil])
        func configured(_ options: inout UploadOptions) { options.backOff.intervals = [.seconds(3 * 86_400)] }
        #expect(reasons([segment("a", retry: days)], configured) == [.waits(until: now + .seconds(2 * 86_400))])
        #expect(reasons([segment("a")], destination: days, configured).map(kind) == ["destination-waits"])
    }

    @Test("In strict order what waits for any reason of its own holds up those behind it, and says which it is")
    func strict() {
        let until = now + .seconds(9)
        let error = FileError("open", "b", code: 5)
        let heads: [(PendingSegment, NotSentReason)] = [
            (segment("b", retry: failed(.segment, for: .seconds(9))), .waits(until: until)),
            (segment("b", .beingWritten(until: until)), .beingWritten(until: until)),
            (segment("b", .unfinished(until: until)), .unfinished(until: until)),
            (segment("b", failure: error), .unusable(error)),
        ]
        for (head, reason) in heads {
            let segments = [segment("a"), head, segment("c"), segment("d", retry: failed(.segment, for: .seconds(9)))]
            #expect(reasons(segments) { $0.order = .strict } == [nil, reason, .behind("b"), .behind("b")])
            #expect(reasons(segments) == [nil, reason, nil, .waits(until: until)])
        }
    }

    @Test("In strict order nothing waits behind what travels, is deleted or held back")
    func passedBy() {
        let segments = [
            segment("a", .exported(bundle: "x")), segment("b"), segment("c"), segment("d", created: .seconds(9 * 86_400)),
        ]
        let reasons = reasons(segments, drops: ["b": "too old"]) { options in
            options.order = .strict
            options.due = DueTime(time: .endOfDay, zone: .utc, late: .hold)
        }
        #expect(reasons == [.travels(bundle: "x"), .dropped(why: "too old"), nil, .late])
    }

    @Test("Late data is held back where the deadline says so, and sent where it says that", arguments: DueTime.Late.allCases)
    func late(_ late: DueTime.Late) {
        let reasons = reasons([segment("a", created: .seconds(9 * 86_400)), segment("b")]) { options in
            options.due = DueTime(time: .endOfDay, zone: .utc, late: late)
        }
        #expect(reasons == [late == .send ? nil : .late, nil])
    }

    @Test("The limit counts what is sent, and nothing else")
    func limit() {
        let segments = [
            segment("a"), segment("b", retry: failed(.segment, for: .seconds(9))), segment("c", .exported(bundle: "x")),
            segment("d"),
            segment("e"), segment("f", retry: failed(.segment, for: .seconds(9))),
        ]
        let until = now + .seconds(9)
        #expect(
            reasons(segments) { $0.limit = 2 } == [
                nil, .waits(until: until), .travels(bundle: "x"), nil, .overLimit, .overLimit,
            ])
    }

    @Test("Waits from before a moment are void where that is said, and no others")
    func forgotten() {
        let state = failed(.segment, for: .seconds(9), tried: .seconds(5))
        #expect(options.wait(of: state, at: now, forgetsBefore: now - .seconds(4)) == nil)
        #expect(options.wait(of: state, at: now, forgetsBefore: now - .seconds(5)) == now + .seconds(9))
        #expect(options.wait(of: state, at: now) == now + .seconds(9))
    }
}
