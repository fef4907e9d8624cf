import FerrySpool
import Testing

@testable import FerryTracker

@Suite("When a tracker publishes everything for an uploader that counts events")
struct SendThresholdTests {
    private func threshold(_ events: Int64, _ unpublished: SendThreshold.Unpublished = .init()) -> SendThreshold {
        SendThreshold(.init(events: events, interval: .seconds(15), leavesCriticalOut: false), unpublished)
    }

    /// Stores so many, and returns at which ones everything is published.
    private func reached(
        _ threshold: inout SendThreshold, _ numbers: ClosedRange<Int>, at seconds: Int,
        _ left: SendThreshold.Unpublished = .init()
    ) -> [Int] {
        numbers.filter { _ in threshold.stored(at: .seconds(seconds)) { left } }
    }

    @Test("At each so many stored events, from the first one on")
    func count() {
        var threshold = threshold(10)
        #expect(reached(&threshold, 1...35, at: 0) == [10, 20, 30])
    }

    @Test("What is stored when the uploader comes counts")
    func before() {
        var threshold = threshold(10, .init(events: 7, since: .zero))
        #expect(reached(&threshold, 1...5, at: 1) == [3])
    }

    @Test("What was published since the uploader began counts with what is in journals, and nothing from before")
    func publishedMeanwhile() throws {
        let start = try #require(Timestamp(rfc3339: "2026-11-24T03:00:00Z"))
        var published = RecentPublications()
        published.add(.init(events: 100, since: .seconds(1)), .normal, at: start - .milliseconds(1))
        published.add(.init(events: 3, since: .seconds(2)), .normal, at: start)
        published.add(.init(events: 2, since: .seconds(3)), .critical, at: start + .seconds(1))
        let rule = UploaderMark.Threshold(events: 10, interval: .seconds(15), leavesCriticalOut: true)
        let counted = published.counted(rule, since: start, with: .init(events: 4, since: .seconds(4)))
        #expect(counted.events == 7)
        #expect(counted.since == .seconds(2))
        var threshold = SendThreshold(rule, counted)
        #expect(reached(&threshold, 1...5, at: 5) == [3])
    }

    @Test("When the oldest counted event is as old as the interval, what was published has been sent: journals count on")
    func interval() {
        var threshold = threshold(10)
        #expect(reached(&threshold, 1...9, at: 0).isEmpty)
        #expect(reached(&threshold, 10...15, at: 15, .init(events: 4, since: .seconds(12))) == [15])
        #expect(reached(&threshold, 16...24, at: 16).isEmpty)
    }

    @Test("A number of events or a time that no uploader says trips nobody", arguments: [Int64.min, -1, 0, 1, .max])
    func hostile(_ number: Int64) {
        var rule = UploaderMark.Threshold(events: number, interval: .zero, leavesCriticalOut: false)
        rule.intervalMs = number
        var threshold = SendThreshold(rule, .init(events: .max, since: .zero))
        _ = threshold.stored(at: .seconds(1)) { .init() }
        #expect(rule.interval >= .zero)
    }
}
