import FerrySpool
import Testing

@testable import ferry

@Suite("How lines of the log begin")
struct LogLineStyleTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    @Test("A service's lines have time and level unless journald reads them; on a terminal they are as a command's")
    func choice() {
        func style(_ journal: String?, isTerminal: Bool = false) -> LogLineStyle {
            .ofService(journal: journal, output: (device: 8, inode: 4711), isTerminal: isTerminal)
        }
        #expect(style(nil) == .dated)
        #expect(style("8:4711") == .journal)
        // A service's child whose output goes into a file.
        #expect(style("8:4712") == .dated)
        #expect(style("") == .dated)
        #expect(style(nil, isTerminal: true) == .command)
        #expect(LogLineStyle.ofService(journal: "0:0", output: nil, isTerminal: false) == .dated)
    }

    @Test("Each style says how bad it is")
    func levels() {
        #expect(LogLineStyle.command.line(.notice, "a", at: now) == "ferry: a")
        #expect(LogLineStyle.command.line(.warning, "a", at: now) == "ferry: warning: a")
        #expect(LogLineStyle.dated.line(.notice, "a", at: now) == "2026-11-21T12:00:00.000Z ferry: notice: a")
        #expect(LogLineStyle.dated.line(.error, "a", at: now) == "2026-11-21T12:00:00.000Z ferry: error: a")
        #expect(LogLineStyle.journal.line(.notice, "a", at: now) == "<5>a")
        #expect(LogLineStyle.journal.line(.warning, "a", at: now) == "<4>a")
        #expect(LogLineStyle.journal.line(.error, "a", at: now) == "<3>a")
    }
}
