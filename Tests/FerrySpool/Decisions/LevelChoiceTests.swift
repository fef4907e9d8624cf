import Testing

@testable import FerrySpool

@Suite("How hard a writer compresses")
struct LevelChoiceTests {
    private func pace(waited: Int, worked: Int) -> SourcePace {
        var pace = SourcePace()
        pace.add(waited: .milliseconds(waited), worked: .milliseconds(worked))
        return pace
    }

    @Test("A source that is waited for is compressed well, and one that waits fast")
    func auto() {
        let size = ByteCount.mebibytes(16)
        #expect(LevelChoice.auto.level(pace(waited: 900, worked: 100), bytes: size) == .standard)
        #expect(LevelChoice.auto.level(pace(waited: 100, worked: 900), bytes: size) == .fastest)
        #expect(LevelChoice.auto.level(pace(waited: 0, worked: 1), bytes: size) == .fastest)
        #expect(LevelChoice.auto.level(pace(waited: 500, worked: 500), bytes: size) == .standard)
        #expect(LevelChoice.auto.level(SourcePace(), bytes: size) == .standard)
    }

    @Test("Reads add up to a pace")
    func sums() {
        var pace = SourcePace()
        for _ in 0..<10 { pace.add(waited: .milliseconds(1), worked: .milliseconds(3)) }
        #expect(pace.isSourceWaiting)
        pace.add(waited: .milliseconds(20), worked: .zero)
        #expect(!pace.isSourceWaiting)
    }

    @Test("What is compressed in no time is compressed well")
    func small() {
        #expect(LevelChoice.auto.level(pace(waited: 0, worked: 900), bytes: .kibibytes(1023)) == .standard)
        #expect(LevelChoice.auto.level(pace(waited: 0, worked: 900), bytes: .mebibytes(1)) == .fastest)
    }

    @Test("A level that is asked for is kept", arguments: 1...9)
    func fixed(level: Int) {
        let level = CompressionLevel(level)!
        for pace in [pace(waited: 900, worked: 0), pace(waited: 0, worked: 900)] {
            #expect(LevelChoice.always(level).level(pace, bytes: .mebibytes(16)) == level)
        }
    }
}
