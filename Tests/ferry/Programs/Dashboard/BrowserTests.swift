import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import ferry

@Suite("The page in a browser", .serialized, .needs("chromium", "python3"))
struct BrowserTests {
    private let folder = TemporaryFolder()

    private static let fits = "document.scrollingElement.scrollWidth <= innerWidth"
    /// Whether no text lies outside of the window, or is hidden behind another one's box.
    private static let isInside = """
        [...document.querySelectorAll('main *')].every(e => { const r = e.getBoundingClientRect(); \
        return r.width === 0 || getComputedStyle(e).position === 'absolute' || e.closest('thead') || r.right <= innerWidth + 1 })
        """
    /// The least contrast of a text with its background, as WCAG 2 counts it.
    private static let contrast = """
        (() => { const rgb = c => c.match(/[\\d.]+/g).map(Number); \
        const light = c => { const [r, g, b] = rgb(c).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 }); \
        return .2126 * r + .7152 * g + .0722 * b }; \
        const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; \
        if (rgb(c)[3] !== 0) return c } return 'rgb(255,255,255)' }; let least = 21; \
        for (const e of document.querySelectorAll('body *')) { \
        if (e.closest('svg,script,style') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue; \
        const [a, b] = [light(getComputedStyle(e).color), light(back(e))].sort((x, y) => y - x); \
        least = Math.min(least, (a + .05) / (b + .05)) } return least })()
        """

    @Test(
        "Empty, healthy and troubled, narrow and wide, dark and light: it fits, can be read, and nothing of it is forbidden",
        arguments: ["empty", "healthy", "troubled"])
    func looks(kind: String) async throws {
        let hub = try HubFixture(folder)
        if kind != "empty" { for number in 0..<6 { try hub.addHealthy("press-\(number)") } }
        if kind == "troubled" {
            try hub.addHostile("a-machine-with-a-name-that-is-as-long-as-a-name-may-be-0123456789")
            try FileManager.default.createDirectory(atPath: "\(hub.path)/empty", withIntermediateDirectories: true)
        }
        let server = try await PageServer(hub: hub.path)
        let browser = try Browser()
        for width in [360, 1440] {
            for dark in [false, true] {
                try browser.open(server.url, width: width, dark: dark)
                #expect(try browser.ask(Self.fits) == .yes, "\(width)")
                #expect(try browser.ask(Self.isInside) == .yes, "\(width)")
                guard case .number(let contrast) = try browser.ask(Self.contrast) else {
                    throw Browser.FailedError(text: "no contrast")
                }
                #expect(contrast >= 4.5, "\(width) \(dark)")
                #expect(try browser.problems == [])
            }
        }
        let rows = ["empty": 0, "healthy": 6, "troubled": 8][kind] ?? 0
        #expect(try browser.ask("document.querySelectorAll('#machines tbody tr').length") == .number(Double(rows)))
        #expect(try browser.requests.allSatisfy { $0.hasPrefix(server.url) || $0.hasPrefix("data:") })
        await server.stop()
    }

    @Test("No script of a hostile text runs, in the page, in a search, and in a report that was carried away")
    func hostile() async throws {
        let hub = try HubFixture(folder)
        try hub.addHostile("press")
        let server = try await PageServer(hub: hub.path)
        let browser = try Browser()
        let query = HubFixture.hostile.percentEncodedForURL
        let file = folder("hub.html")
        _ = try await Program().run("report", "\(hub.path)/*", "--html", file)
        for url in [server.url, "\(server.url)?q=\(query)", "file://\(file)"] {
            try browser.open(url)
            guard case .text(let title) = try browser.ask("document.title") else { throw Browser.FailedError(text: "no title") }
            #expect(title.hasPrefix("Ferry on "), "\(title)")
            #expect(try browser.ask("document.querySelectorAll('img').length") == .number(0))
            #expect(try browser.problems == [])
        }
        try browser.open("file://\(file)")
        #expect(try browser.ask("document.querySelector('#rejected pre').textContent.includes('<script>')") == .yes)
        #expect(try browser.ask("document.querySelectorAll('script').length") == .number(0))
        await server.stop()
    }

    @Test("A machine that comes is shown without a reload, and the focus and what is opened stay")
    func live() async throws {
        let hub = try HubFixture(folder)
        try hub.addHealthy("press")
        let server = try await PageServer(hub: hub.path)
        let browser = try Browser()
        try browser.open(server.url)
        _ = try browser.ask("window.mine = 1; document.getElementById('hours').open = true; document.getElementById('q').focus()")
        try hub.addHealthy("oven")
        try browser.wait("document.querySelectorAll('#machines tbody tr').length === 2")
        #expect(try browser.ask("window.mine") == .number(1))
        #expect(try browser.ask("document.getElementById('hours').open") == .yes)
        #expect(try browser.ask("document.activeElement.id") == .text("q"))
        #expect(try browser.problems == [])
        await server.stop()
    }

    @Test("By keyboard: the first key leads over the links, the search answers while it is typed, the focus is seen")
    func keyboard() async throws {
        let hub = try HubFixture(folder)
        for name in ["press-1", "press-2", "oven-1"] { try hub.addHealthy(name) }
        let server = try await PageServer(hub: hub.path)
        let browser = try Browser()
        try browser.open(server.url)
        try browser.press("Tab")
        #expect(try browser.ask("document.activeElement.className") == .text("skip"))
        #expect(try browser.ask("document.activeElement.getBoundingClientRect().left >= 0") == .yes)
        // The five links of the sections, then the field.
        try browser.press("Tab", times: 6)
        #expect(try browser.ask("document.activeElement.id") == .text("q"))
        #expect(try browser.ask("getComputedStyle(document.activeElement).outlineStyle") == .text("solid"))
        try browser.type("oven")
        try browser.wait("document.querySelectorAll('#machines tbody tr').length === 1")
        #expect(try browser.ask("location.search") == .text("?q=oven"))
        #expect(try browser.ask("document.activeElement.id") == .text("q"))
        #expect(try browser.ask("document.querySelector('[role=status]').textContent.includes('1 spool')") == .yes)
        await server.stop()
    }

    @Test("The login form lets in who knows the token, and its cookie is none for scripts")
    func login() async throws {
        let hub = try HubFixture(folder)
        try hub.addHealthy("press")
        try "page-secret\n".write(toFile: folder("token"), atomically: true, encoding: .utf8)
        let server = try await PageServer(hub: hub.path, ["--dashboard-token-file", folder("token")])
        let browser = try Browser()
        try browser.open(server.url, width: 360)
        #expect(try browser.ask(Self.fits) == .yes)
        #expect(try browser.ask("document.activeElement.id") == .text("token"))
        try browser.type("page-secret")
        try browser.press("Enter")
        try browser.wait("document.querySelectorAll('#machines tbody tr').length === 1")
        #expect(try browser.ask("document.cookie") == .text(""))
        await server.stop()
    }
}
