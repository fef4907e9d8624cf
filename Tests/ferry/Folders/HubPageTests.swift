import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import ferry

@Suite("The page of a hub, rendered")
struct HubPageTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:07:00Z")!

    /// What other machines may send: markup, control characters, what a terminal obeys, what turns the direction of writing.
    static let hostile =
        "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>\u{1b}[31mred\u{1b}]0;title\u{7}\u{0}\u{8}\r\n\u{202e}gnp\u{2066}\u{200f}\u{9b}2J\u{2028}"

    private func report(_ text: String, machines: Int = 1) -> HubReport {
        var report = HubReport(at: now, host: text)
        var history = SpoolHistory(at: HistoryMinute(now))
        for minute in -1440..<0 where minute % 3 != 0 {
            history.note(
                HistoryStep(oldest: minute % 7 == 0 ? nil : .seconds(60 - minute * 5), bytes: ByteCount(Int64(2000 - minute))),
                at: HistoryMinute(now) + minute)
        }
        let day = DayHistory(history, until: HistoryMinute(now))
        for number in 0..<machines {
            report.machines.append(
                .init(
                    name: "\(text) \(number)", path: "/hub/\(text)/\(number)",
                    conditions: [
                        SpoolCondition(
                            kind: .rejected, count: 3, why: text, since: now - .seconds(4000), until: now + .seconds(60),
                            remedy: text,
                            needsPerson: true)
                    ], pending: 5, bytes: ByteCount(4000), oldest: now - .seconds(90), last: now + .seconds(30), day: day))
            report.day.add(day)
        }
        var reason = RejectionReason(at: now - .seconds(5), kind: text, status: 422, message: text, attempts: 2, body: text)
        reason.offset = 7
        report.rejected = [
            .init(machine: text, segment: text, bytes: ByteCount(7), reason: reason, firstLine: text),
            .init(machine: text, segment: text + "2", bytes: ByteCount(7), reason: nil, firstLine: nil),
        ]
        report.rejectedCount = 900
        report.destinations = [
            .init(url: text, spools: 1, breaker: .open(until: now), failingSince: now, lastAnswer: text, lastAnswerAt: now),
            .init(url: text + "2", spools: 1, breaker: .halfOpen), .init(url: text + "3", spools: 1, breaker: .closed),
        ]
        report.endings = [
            .init(
                machine: text,
                entry: LedgerEntry(
                    at: now, segment: text, outcome: .sent, bytes: ByteCount(5), status: 200, destination: text, detail: text))
        ]
        report.problems = [text]
        return report
    }

    private func pages(_ report: HubReport, search: String = "") -> [String] {
        [
            HubPage(report, search: .init(search), hasLogin: true).html.markup,
            HubPage(report, search: .init(search), showsAll: true, isFile: true).html.markup,
            LoginPage.html(host: report.host, isRefused: true).markup,
        ]
    }

    /// The elements of a page, without what is Ferry's own style and script.
    private func tags(_ page: String) -> [String] {
        let own = page.replacing(PageStyle.text, with: "").replacing(PageScript.text, with: "")
        return own.matches(of: /<[^>]*>/).map { String($0.output) }
    }

    @Test("Totals are of what a search finds")
    func searchedTotals() {
        let report = report("press")
        #expect(report.matching(.init("nowhere")).rejectedCount == 0)
        #expect(report.matching(.init("press2")).rejectedCount == 1)
        let empty = HubPage(report.matching(.init("nowhere")), search: .init("nowhere")).html.markup
        #expect(empty.contains("There is no machine to tell of."))
    }

    @Test("A hostile text is a text, wherever it stands")
    func escapes() {
        for page in pages(report(Self.hostile), search: Self.hostile) {
            for tag in tags(page) {
                #expect(!tag.hasPrefix("<img"))
                let outside = tag.replacing(/"[^"]*"/, with: "")
                #expect(!outside.contains("alert") && !outside.contains("onerror"))
            }
            #expect(!page.contains("alert(1)</script>"))
            #expect(page.contains("&lt;script&gt;"))
            #expect(page.matches(of: /<script>/).count <= 1)
            // Markup that was taken for a text.
            #expect(!page.contains("HTML(markup"))
        }
    }

    @Test("No character of a text commands a terminal, or turns the direction of writing")
    func controls() {
        for page in pages(report(Self.hostile), search: Self.hostile) {
            for scalar in page.unicodeScalars where scalar != "\n" {
                #expect(scalar.value >= 0x20 && !(0x7f...0x9f).contains(scalar.value))
                #expect(![0x202e, 0x2066, 0x200f, 0x2028].contains(scalar.value))
            }
            #expect(page.contains(#"\u001b[31mred"#))
        }
    }

    @Test("A text of a megabyte is cut, in each place")
    func cuts() {
        let long = String(repeating: "<&ü", count: 350_000)
        let start = pages(report("x")).map(\.utf8.count).max() ?? 0
        for page in pages(report(long), search: long) {
            #expect(page.utf8.count < start + 200_000)
            #expect(page.contains("…"))
        }
        for line in report(long).text { #expect(line.utf8.count < 10_000) }
    }

    @Test("Bytes that are not UTF-8 are shown as what cannot be read")
    func invalid() {
        let text = String(decoding: [0x61, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80] as [UInt8], as: UTF8.self)
        for page in pages(report(text)) { #expect(page.contains("a\u{fffd}")) }
    }

    @Test("Elements are closed in order, and attributes stand between quotes")
    func wellFormed() throws {
        let empty: Set = ["meta", "input", "br", "path", "line"]
        for page in pages(report(Self.hostile)) + pages(HubReport(at: now, host: "h")) {
            var open: [String] = []
            for tag in tags(page).dropFirst() {
                let name = String(tag.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "/" })
                if name.hasPrefix("/") {
                    #expect(open.popLast() == String(name.dropFirst()))
                } else if !empty.contains(name), !tag.hasSuffix("/>") {
                    open.append(name)
                }
                let attributes = tag.dropFirst(name.count + 1).dropLast(tag.hasSuffix("/>") ? 2 : 1)
                #expect(String(attributes).wholeMatch(of: /(\ [a-zA-Z0-9:-]+(="[^"<>]*")?)*/) != nil, "\(tag)")
                let outside = attributes.replacing(/"[^"]*"/, with: "")
                #expect(outside.matches(of: /\ (style|on[a-z]+)=/).isEmpty, "\(tag)")
            }
            #expect(open.isEmpty)
        }
    }

    @Test("Nothing comes from another host")
    func hosts() {
        for page in pages(report("x")) {
            #expect(!page.contains("http:") && !page.contains("https:"))
            #expect(
                page.matches(of: /(src|href)="([^"]*)"/).allSatisfy { $0.output.2.hasPrefix("#") || $0.output.2.hasPrefix("?") })
            #expect(!PageStyle.text.contains("url("))
            #expect(!PageStyle.text.contains("@import"))
        }
    }

    @Test("A file has no script and no form, and its policy allows none")
    func file() {
        let page = HubPage(report("x"), isFile: true).html.markup
        #expect(!page.contains("<script") && !page.contains("<form"))
        #expect(page.contains("Content-Security-Policy"))
        #expect(ContentPolicy.file.hasPrefix("default-src 'none'; style-src 'sha256-"))
        #expect(!ContentPolicy.file.contains("script-src"))
    }

    @Test("Own style and script close no element early, and hold no other's control characters")
    func own() {
        #expect(!PageStyle.text.contains("</"))
        #expect(!PageScript.text.contains("</"))
        #expect(!PageScript.text.contains("innerHTML") && !PageScript.text.contains("eval"))
    }

    @Test("A page is for screen readers, too: landmarks, headers, a polite region, texts for plots")
    func accessibility() {
        let page = HubPage(report("x")).html.markup
        for part in [
            "<html lang=\"en\">", "<main", "<header>", "<nav aria-label=", "role=\"search\"", "scope=\"col\"", "scope=\"row\"",
            "aria-live=\"polite\"", "class=\"skip\"", "role=\"img\" aria-label=", "<label for=\"q\">", "As a table",
        ] {
            #expect(page.contains(part), "\(part)")
        }
        #expect(page.matches(of: /<svg class="plot" role="img" aria-label="[^"]+">/).count == 2)
        let ids = page.matches(of: /\ id="([^"]*)"/).map(\.output.1)
        #expect(Set(ids).count == ids.count)
    }

    @Test("The most troubled machine comes first, and of equal ones the first name")
    func order() {
        var report = HubReport(at: now, host: "h")
        let day = DayHistory(nil, until: HistoryMinute(now))
        for (name, condition) in [
            ("c", SpoolCondition(kind: .ok)), ("a", SpoolCondition(kind: .ok)), ("b", SpoolCondition(kind: .paused)),
            ("z", SpoolCondition(kind: .rejected, needsPerson: true)),
        ] {
            report.machines.append(.init(name: name, path: name, conditions: [condition], day: day))
        }
        report.sort()
        #expect(report.machines.map(\.name) == ["z", "b", "a", "c"])
        #expect(report.text.contains { $0.hasPrefix("z  ") })
        #expect(!report.text.contains { $0.hasPrefix("a  ") })
    }

    @Test(
        "A search finds machines, reasons and segments by all of its words, in any case",
        arguments: [("MACHINE-7", 1), ("machine- 7", 20), ("refused", 100), ("refused machine-99", 1), ("", 100), ("nothing", 0)])
    func search(text: String, count: Int) {
        var report = HubReport(at: now, host: "h")
        for number in 0..<100 {
            report.machines.append(
                .init(
                    name: "machine-\(number)", path: "/hub",
                    conditions: [SpoolCondition(kind: .waits, why: "Connection refused")],
                    day: DayHistory(nil, until: HistoryMinute(now))))
        }
        // 7, 17, 27 to 97 and 70 to 79 have a 7; machine-7 itself is found as a part of 70 to 79 as well.
        let expected = text == "MACHINE-7" ? 11 : text == "machine- 7" ? 19 : count
        #expect(report.matching(.init(text)).machines.count == expected)
    }

    @Test("Of many machines the page has the most troubled, and says how to see the others")
    func many() {
        let report = report("m", machines: 1000)
        let some = HubPage(report).html.markup
        #expect(some.matches(of: /<tr role="row" data-k="\/hub/).count == HubPage.mostRows)
        #expect(some.contains("800 more"))
        #expect(HubPage(report, showsAll: true).html.markup.matches(of: /<tr role="row" data-k="\/hub/).count == 1000)
    }

    @Test("A day's plot begins and ends at quarters of an hour, and holds this minute")
    func day() {
        var history = SpoolHistory(at: HistoryMinute(now))
        history.note(HistoryStep(oldest: .seconds(60), bytes: ByteCount(1000)), at: HistoryMinute(now))
        for minutes in 0..<30 {
            let until = HistoryMinute(now) + minutes
            let day = DayHistory(history, until: until)
            #expect(day.begin.number % 15 == 0)
            let last = day.begin + (DayHistory.count * 15 - 1)
            #expect((0..<15).contains(last - until))
            #expect(day.bytes > .zero)
            #expect(day.hours.count == 24)
        }
        let tomorrow = DayHistory(history, until: HistoryMinute(now) + 1441 + 15)
        #expect(tomorrow.isUnknown)
    }

    @Test("A path has no more parts than the plot has steps")
    func paths() {
        #expect(DayPlot(DayHistory(nil, until: HistoryMinute(now)), height: 24).ages(top: .seconds(3600)).data.isEmpty)
        var history = SpoolHistory(at: HistoryMinute(now))
        for minute in -1500...0 { history.note(HistoryStep(oldest: nil, bytes: .zero), at: HistoryMinute(now) + minute) }
        let day = DayHistory(history, until: HistoryMinute(now))
        #expect(DayPlot(day, height: 24).ages(top: .seconds(3600)).data == "M0 24h96z")
        #expect(DayPlot(day, height: 24).bytes(top: ByteCount(1)).data == "M0 24h96z")
    }

    @Test("Text for a mail has no line that a terminal obeys once it is printed")
    func mail() {
        for line in report(Self.hostile).text.map({ $0.printable() }) {
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f && $0.value != 0x202e })
        }
    }
}
