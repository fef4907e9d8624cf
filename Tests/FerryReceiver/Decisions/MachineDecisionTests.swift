import FerrySpool
import TestSupport
import Testing

@testable import FerryReceiver

@Suite("Machines: who is one, and how much it may")
struct MachineDecisionTests {
    private let now = Timestamp(milliseconds: 1_793_000_000_000)

    @Test(
        "A machine's name is a folder's, and leads nowhere else",
        arguments: [
            ("press-7", true), ("A", true), ("7.b_c-d", true), (String(repeating: "a", count: 64), true),
            (String(repeating: "a", count: 65), false), ("", false), (".", false), ("..", false), (".machines", false),
            ("-x", false),
            ("a/b", false), ("a b", false), ("a\0b", false), ("ä", false), ("a\n", false),
        ])
    func names(text: String, isName: Bool) {
        #expect((MachineName(text) != nil) == isName)
    }

    @Test("A token has 256 random bits and Ferry's prefix, and is found by its digest alone")
    func tokens() {
        var generator = Seeded(seed: 7)
        let tokens = (0..<100).map { _ in MachineToken(using: &generator) }
        #expect(tokens.allSatisfy { $0.text.hasPrefix("ferry_") && $0.text.utf8.count == 49 })
        #expect(Set(tokens.map(\.text)).count == 100)
        #expect(MachineToken.digest(ofHeader: "Bearer \(tokens[0].text)") == tokens[0].digest)
        #expect(MachineToken.digest(ofHeader: "bearer \(tokens[0].text)") == tokens[0].digest)
        #expect(MachineToken.digest(ofHeader: "Basic \(tokens[0].text)") == nil)
        #expect(MachineToken.digest(ofHeader: nil) == nil)
    }

    @Test("A new token ends those before it, at once or when it is said to")
    func rotates() throws {
        var generator = Seeded(seed: 7)
        var machine = Machine(try #require(MachineName("m")), since: now)
        #expect(machine.isRevoked)
        let tokens = (0..<3).map { _ in MachineToken(using: &generator) }
        machine.rotate(to: tokens[0], oldEndAt: nil, now: now)
        machine.rotate(to: tokens[1], oldEndAt: now + .seconds(60), now: now)
        #expect(machine.tokens == [.init(digest: tokens[0].digest, until: now + .seconds(60)), .init(digest: tokens[1].digest)])
        machine.rotate(to: tokens[2], oldEndAt: now + .seconds(600), now: now)
        #expect(machine.tokens[0].until == now + .seconds(60))
        machine.rotate(to: tokens[0], oldEndAt: nil, now: now)
        #expect(machine.tokens == [.init(digest: tokens[0].digest)])
        machine.revoke()
        #expect(machine.isRevoked)
    }

    @Test("Tokens that have ended are forgotten with the next one")
    func forgets() throws {
        var generator = Seeded(seed: 8)
        var machine = Machine(try #require(MachineName("m")), since: now)
        for minute in 0..<30 {
            let time = now + .seconds(60 * minute)
            machine.rotate(to: MachineToken(using: &generator), oldEndAt: time + .seconds(60), now: time)
            #expect(machine.tokens.count <= 2)
        }
    }

    @Test("A machine that is at its limit repeats two segments at once without room for them, and no more")
    func repeated() throws {
        var machine = Machine(try #require(MachineName("m")), since: now)
        machine.limits.bytes = .kibibytes(1)
        let guest = Guest(machine: machine, usage: SpoolUsage(), meter: RateMeter())
        var rooms = (0..<3).map { _ in RequestRoom(of: guest, isKnown: true) }
        #expect(rooms.map(\.isLimited) == [false, false, true])
        try rooms[0].take(.mebibytes(64))
        #expect(throws: IntakeError.overQuota(.kibibytes(1))) { try rooms[2].take(.kibibytes(2)) }
        rooms[0].end(stored: .zero)
        #expect(!RequestRoom(of: guest, isKnown: true).isLimited)
        #expect(RequestRoom(of: guest, isKnown: false).isLimited)
    }

    @Test("A list is read as it was written")
    func list() throws {
        var generator = Seeded(seed: 7)
        var list = MachineList()
        for text in ["a", "b", "c"] {
            let name = try #require(MachineName(text))
            var machine = Machine(name, since: now)
            machine.rotate(to: MachineToken(using: &generator), oldEndAt: nil, now: now)
            list[name] = machine
        }
        let name = try #require(MachineName("b"))
        list[name]?.limits.bytes = ByteCount(5)
        list[name]?.limits.rate = ByteCount(6)
        list[name]?.limits.priority = .normal
        list[name]?.certificates = [MachineToken(using: &generator).digest]
        list[name]?.tokens[0].until = now
        let read = MachineList(list.bytes, path: "hub")
        #expect(read.machines == list.machines)
        #expect(read.machines.map(\.name.text) == ["a", "b", "c"])
        #expect(read.problems.isEmpty)
    }

    @Test("A line that is no machine is told with its place, and the others count")
    func problems() {
        let digest = String(repeating: "a", count: 64)
        let text = """
            {"name":"a","since":"2026-11-21T03:00:00Z","tokens":[{"sha256":"\(digest)"}]}

            {"name":"../b","since":"2026-11-21T03:00:00Z"}
            nonsense
            {"name":"a","since":"2026-11-21T03:00:00Z"}
            {"name":"c","since":"2026-11-21T03:00:00Z","tokens":[{"sha256":"short"}]}
            {"name":"d","since":"2026-11-21T03:00:00Z","max-bytes":0}
            {"name":"e","since":"2026-11-21T03:00:00Z","priority":10}
            {"name":"g","since":"2026-11-21T03:00:00Z","certificates":["\(digest)"]}
            {"name":"f","since":"2026-11-21T03:00:00Z"}
            """
        let list = MachineList(Array(text.utf8), path: "hub/list")
        #expect(list.machines.map(\.name.text) == ["a", "f"])
        #expect(list.problems.map { $0.prefix(12) } == (3...9).map { "hub/list:\($0): " })
        for (problem, key) in zip(list.problems, ["name", "JSON", "name", "tokens", "max-bytes", "priority", "shares"]) {
            #expect(problem.contains(key))
        }
    }

    @Test("What a machine sends beyond its rate it owes, and waits for")
    func rate() {
        let start = ContinuousClock.now
        let rate = ByteCount(1000)
        var allowance = RateAllowance(rate, at: start)
        #expect(allowance.wait(rate, at: start) == nil)
        allowance.charge(10_000)
        #expect(allowance.wait(rate, at: start) == nil)
        allowance.charge(3000)
        #expect(allowance.wait(rate, at: start) == .seconds(3))
        #expect(allowance.wait(rate, at: start + .seconds(2)) == .seconds(1))
        #expect(allowance.wait(rate, at: start + .seconds(3)) == nil)
        // Silence is worth ten seconds, no more.
        #expect(allowance.wait(rate, at: start + .seconds(1000)) == nil)
        allowance.charge(10_001)
        #expect(allowance.wait(rate, at: start + .seconds(1000)) != nil)
        allowance.charge(.max / 2)
        #expect(allowance.wait(rate, at: start + .seconds(1000)) == .seconds(86_400))
    }

    @Test("A segment gets no more urgent priority than its machine may use, and keeps all else")
    func ceiling() throws {
        let urgent = SegmentIdentity(Segments.name(0))
        let limited = urgent.limited(to: .normal)
        #expect(limited.name.priority == .normal)
        #expect(limited.key == urgent.key)
        #expect(limited.name.id == urgent.name.id)
        #expect(limited.name.created == urgent.name.created)
        let bulk = SegmentIdentity(Segments.name(9))
        #expect(bulk.limited(to: .normal) == bulk)
    }
}
