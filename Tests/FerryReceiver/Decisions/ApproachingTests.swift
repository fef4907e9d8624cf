import Testing

@testable import FerryReceiver

@Suite("Who a round of the committer waits for")
struct ApproachingTests {
    @Test("A round waits for those that approached before it, in whatever order they come")
    func earlier() {
        var approaching = Approaching()
        let (first, second) = (approaching.begin(), approaching.begin())
        approaching.beginRound()
        #expect(!approaching.isComplete)
        approaching.end(second)
        #expect(!approaching.isComplete)
        approaching.end(first)
        #expect(approaching.isComplete)
    }

    @Test("A round does not wait for those that approach later: the next one does")
    func later() {
        var approaching = Approaching()
        approaching.beginRound()
        let late = approaching.begin()
        #expect(approaching.isComplete)
        approaching.beginRound()
        #expect(!approaching.isComplete)
        approaching.end(late)
        #expect(approaching.isComplete)
    }

    @Test("One that has come before the round does not keep it waiting")
    func come() {
        var approaching = Approaching()
        approaching.end(approaching.begin())
        approaching.beginRound()
        #expect(approaching.isComplete)
    }
}
