import TestSupport
import Testing

@testable import FerrySpool

@Suite("Whose limits a spool has")
struct SpoolSettingsDecisionTests {
    private let now = Timestamp(rfc3339: "2026-11-21T09:00:00Z")!
    private let small = RetentionLimits(maxBytes: ByteCount(10_000_000), maxAge: .seconds(25 * 86_400))
    private let large = RetentionLimits(maxBytes: ByteCount(50_000_000))

    private func change(_ known: SpoolSettings?, _ limits: RetentionLimits, isSet: Bool, _ program: String = "ferry run")
        -> ConfiguredLimits.Change
    {
        ConfiguredLimits(limits, isSet: isSet, program: program).change(of: known, at: now)
    }

    private func settings(_ limits: RetentionLimits, _ program: String) -> SpoolSettings {
        SpoolSettings(retention: limits, setAt: now - .seconds(60), setBy: program)
    }

    @Test("What a person set is written, over what another set before")
    func set() {
        let wanted = SpoolSettings(retention: large, setAt: now, setBy: "ferry run")
        #expect(change(nil, large, isSet: true) == .write(wanted))
        #expect(change(settings(small, "tracker of myapp"), large, isSet: true) == .write(wanted))
        #expect(change(settings(small, "ferry run"), large, isSet: true) == .write(wanted))
    }

    @Test("What is known already is not written again")
    func known() {
        #expect(change(settings(large, "ferry run"), large, isSet: true) == .keep)
    }

    @Test("A profile's limits are written nowhere, and take nothing from what another set")
    func profile() {
        #expect(change(nil, small, isSet: false) == .keep)
        #expect(change(settings(large, "tracker of myapp"), small, isSet: false) == .keep)
    }

    @Test("A program that is told nothing of limits any more takes its own away")
    func goesBack() {
        #expect(change(settings(large, "ferry run"), small, isSet: false) == .remove)
    }

    @Test("A name of any length is known again")
    func longName() {
        let name = String(repeating: "a\u{1b}", count: 500)
        guard case .write(let written) = change(nil, large, isSet: true, name) else {
            Issue.record("nothing is written")
            return
        }
        #expect(written.setBy.unicodeScalars.count == 128)
        #expect(change(written, large, isSet: true, name) == .keep)
        #expect(change(written, small, isSet: false, name) == .remove)
    }

    @Test(
        "Numbers that are no limit make the file unreadable",
        arguments: [
            #"{"maxBytes":0}"#, #"{"maxBytes":-1}"#, #"{"maxBytes":1e30}"#, #"{"maxAgeMs":0}"#,
            #"{"maxAgeMs":9223372036854775807}"#,
            #"{"maxBytes":"1"}"#,
        ])
    func bounds(text: String) {
        let line = text.dropLast() + #","setAt":"2026-11-21T09:00:00.000Z","setBy":"x"}"#
        #expect(Array(line.utf8).withUnsafeBufferPointer { JSONLine.decode(SpoolSettings.self, $0) } == nil)
        let sound = #"{"setAt":"2026-11-21T09:00:00.000Z","setBy":"x"}"#
        #expect(
            Array(sound.utf8).withUnsafeBufferPointer { JSONLine.decode(SpoolSettings.self, $0) }?.retention.isUnlimited == true)
    }
}
