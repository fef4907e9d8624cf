import Testing

@testable import FerryReplay
@testable import FerrySpool

@Suite("What events and a replay's position say")
struct ReplayDoorTests {
    @Test("An event's time that no segment can have is unreadable", arguments: ["3e14", "-6.3e13", "9e999", "1e15"])
    func eventTimes(number: String) {
        let line = Array(number.utf8)
        line.withUnsafeBufferPointer { line in
            let field = JSONField(kind: .number, range: 0..<line.count)
            #expect(EventTime.read(field, line) == nil)
        }
    }

    @Test("How far a replay was gone through is a place in a file", arguments: [-1, Int64.min, Int64.max])
    func replayPositions(number: Int64) {
        var position = ReplayRun.Position(arguments: [], startedAt: .distantPast)
        position.shift = -3
        #expect(position.isCredible)
        func changed(_ change: (inout ReplayRun.Position) -> Void) -> ReplayRun.Position {
            var copy = position
            change(&copy)
            return copy
        }
        #expect(!changed { $0.sources = Int(number) }.isCredible)
        #expect(!changed { $0.lines = number }.isCredible)
        #expect(!changed { $0.part = .init(events: number, created: .distantPast) }.isCredible)
        for count in [\ReplayFindings.leftOut, \.unreadable, \.damaged] {
            var findings = ReplayFindings()
            findings[keyPath: count] = number
            #expect(!changed { $0.findings = findings }.isCredible)
        }
        #expect(!changed { $0.shift = number == -1 ? Int64.min : number }.isCredible)
    }
}
