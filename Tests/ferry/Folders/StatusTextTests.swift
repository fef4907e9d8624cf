import FerrySpool
import FerryUpload
import Testing

@testable import ferry

@Suite("How a table of spools looks")
struct StatusTextTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    private func status(_ name: String, _ change: (inout SpoolFacts) -> Void = { _ in }) -> FleetStatus {
        var facts = SpoolFacts(name)
        change(&facts)
        return FleetStatus([facts], at: now)
    }

    @Test("The most troubling come first, and equal ones by name")
    func order() {
        let fleet = [
            status("b"), status("a"), status("c") { $0.control.isPaused = true }, status("d") { $0.rejected = 1 },
        ]
        #expect(fleet.sorted(by: FleetStatus.isBefore).map(\.spool) == ["d", "c", "a", "b"])
    }

    @Test("The totals stand at the end, after an empty line")
    func totals() {
        let lines = FleetStatus.table([status("d") { $0.rejected = 1 }, status("a")], now: now, colors: .none)
        #expect(lines.count == 5)
        #expect(lines[1].hasPrefix("d      rejected 1"))
        #expect(lines.suffix(2) == ["", "2 spools: 1 ok, 1 rejected"])
    }

    @Test("Names and reasons are escaped and cut, and only the colours are obeyed by a terminal")
    func hostile() {
        let evil = "a\u{1b}[2J\u{202e}\n\u{9b}"
        let fleet = [status(evil) { $0.problem = evil + String(repeating: "x", count: 1 << 20) }]
        let lines = FleetStatus.table(fleet, now: now, colors: Colors(isOn: true))
        #expect(lines[1].hasPrefix("a\\u001b[2J\\u202e\\n\\u009b  \u{1b}[31mcannot be read\u{1b}[0m"))
        #expect(lines[1].count < 500)
        #expect(lines[1].unicodeScalars.count { $0 == "\u{1b}" } == 2)
    }

    @Test("Colours change no width")
    func widths() {
        let fleet = [status("a") { $0.pending = 5 }, status("b") { $0.rejected = 1 }]
        let plain = FleetStatus.table(fleet, now: now, colors: .none)
        let painted = FleetStatus.table(fleet, now: now, colors: Colors(isOn: true))
        #expect(painted.map { $0.withoutColors } == plain)
        #expect(painted != plain)
    }

    @Test("Colours are for terminals that show them, unless they are not wanted")
    func colors() {
        func isOn(_ isTerminal: Bool, _ variables: [String: String]) -> Bool {
            Colors(isTerminal: isTerminal) { variables[$0] }.isOn
        }
        #expect(isOn(true, ["TERM": "xterm"]))
        #expect(isOn(true, ["TERM": "xterm", "NO_COLOR": ""]))
        #expect(!isOn(true, ["TERM": "xterm", "NO_COLOR": "1"]))
        #expect(!isOn(true, ["TERM": "dumb"]))
        #expect(!isOn(true, [:]))
        #expect(!isOn(false, ["TERM": "xterm"]))
    }

    @Test("A page in place of the last one has no more lines than the terminal, and says how many are left out")
    func screens() {
        #expect(Watch.screen(["a", "b"], rows: 24) == "\u{1b}[?7l\u{1b}[Ha\u{1b}[K\nb\u{1b}[K\n\u{1b}[J\u{1b}[?7h")
        #expect(
            Watch.screen(["a", "b", "c", "d"], rows: 4)
                == "\u{1b}[?7l\u{1b}[Ha\u{1b}[K\nb\u{1b}[K\n… 2 more lines\u{1b}[K\n\u{1b}[J\u{1b}[?7h")
        #expect(Watch.screen(["a", "b"], rows: nil).contains("b"))
        #expect(!Watch.screen(["a", "b"], rows: 2).contains("b\u{1b}"))
    }
}

extension String {
    fileprivate var withoutColors: String {
        ["31", "32", "33", "0"].reduce(self) { text, code in
            text.split(separator: "\u{1b}[\(code)m", omittingEmptySubsequences: false).joined()
        }
    }
}
