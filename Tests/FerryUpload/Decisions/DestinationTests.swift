import Testing

@testable import FerryUpload

@Suite("Destinations and proxies")
struct DestinationTests {
    @Test(
        "URLs are taken apart",
        arguments: [
            ("http://h/v1/segments", "http://h", "/v1/segments"), ("https://H.example:8443", "https://H.example:8443", "/"),
            ("http://[::1]:8787/x?a=b", "http://[::1]:8787", "/x?a=b"), ("https://h:443/a%20b", "https://h", "/a%20b"),
            ("http+unix://%2Frun%2Fhub.sock/v1", "http+unix:///run/hub.sock", "/v1"),
        ])
    func parses(text: String, origin: String, target: String) throws {
        let url = try DestinationURL(text)
        #expect("\(url.origin)" == origin)
        #expect(url.target == target)
    }

    @Test(
        "What cannot be a destination is refused with a reason",
        arguments: [
            ("hub.example/v1", "no URL"), ("ftp://h/", "no scheme"), ("http:///x", "no host"), ("http://[]/x", "no host"),
            ("http://u:secret@h/", "credentials"),
            ("http://h/{what}", "placeholder"), ("http://h:99999/", "port"), ("http+unix://run/x", "socket"),
            ("http+unix://%2Frun%00/x", "socket"),
        ])
    func refuses(text: String, why: String) {
        do throws(DestinationURLError) {
            _ = try DestinationURL(text)
            Issue.record("accepted")
        } catch {
            #expect(error.description.contains(why))
            #expect(!error.description.contains("secret"))
        }
    }

    @Test(
        "A relative redirect goes on from the request, whose placeholders are filled",
        arguments: [
            ("?moved=1", "/v1/7/a?moved=1"), ("b", "/v1/7/b"), ("", "/v1/7/a"), ("/x", "/x"), ("{day}/b", "/v1/7/%7Bday%7D/b"),
            ("/%7Bday%7D", "/%7Bday%7D"), ("/%7Bfoo%7D.gz", "/%7Bfoo%7D.gz"), ("http://h/{id}", "/%7Bid%7D"),
        ]) func relativeRedirect(location: String, target: String) throws
    {
        let url = try DestinationURL("http://h/v1/{day}/{segment}")
        let next = try #require(url.redirected(to: location, from: url.target { $0 == .day ? "7" : "a" }))
        #expect(next.target { _ in "filled in again" } == target)
    }

    @Test("A name that looks like a placeholder goes out as it is") func nameLikePlaceholder() throws {
        let url = try DestinationURL("http://h/{segment}/{id}?day={day}&x=y")
        let target = url.target { $0 == .segment ? "{id}{day}" : $0 == .id ? "{segment}" : "7" }
        #expect(target == "/%7Bid%7D%7Bday%7D/%7Bsegment%7D?day=7&x=y")
    }

    @Test("A query, which may hold a secret, is not shown")
    func hidesQuery() throws {
        #expect("\(try DestinationURL("https://h/v1?key=secret"))" == "https://h/v1")
    }

    @Test("Placeholders stand for the segment's, percent-encoded")
    func placeholders() throws {
        let url = try DestinationURL("http://h/in/{stream}/{segment}?p={priority}")
        let target = url.target { $0 == .segment ? "a b/ä.gz" : $0 == .stream ? "dns" : "5" }
        #expect(target == "/in/dns/a%20b%2F%C3%A4.gz?p=5")
        #expect("\(url)" == "http://h/in/{stream}/{segment}")
    }

    @Test(
        "Redirects are resolved, relative and absolute",
        arguments: [
            ("/new", "http://h:81/new"), ("other", "http://h:81/v1/other"), ("https://x/y", "https://x/y"),
            ("//x/y", "http://x/y"),
        ])
    func redirects(location: String, result: String) throws {
        let next = try #require(DestinationURL("http://h:81/v1/segments").redirected(to: location))
        #expect("\(next)" == result)
    }

    @Test("A redirect without a path keeps the path", arguments: [("?part=1", "/v1/segments?part=1"), ("", "/v1/segments")])
    func redirectsWithoutPath(location: String, target: String) throws {
        let next = try #require(DestinationURL("http://h:81/v1/segments").redirected(to: location))
        #expect(next.target == target)
    }

    @Test(
        "A redirect leads to no socket of this machine, to nothing less secure, and to no end of text",
        arguments: [
            ("http://h/", "http+unix://%2Frun%2Fdocker.sock/x"), ("https://h/", "http+unix://%2Frun%2Fdocker.sock/x"),
            ("http+unix://%2Fa.sock/x", "http+unix://%2Fb.sock/x"), ("https://h/", "http://h/"), ("http://h/", "ftp://h/"),
            ("http://h/", "file:///etc/passwd"), ("http://h/", "http://u:p@h/"), ("http://h/", "http://h:0/"),
            ("http://h/", "/" + String(repeating: "x", count: 9000)),
        ])
    func redirectsRefused(from: String, location: String) throws {
        #expect(try DestinationURL(from).redirected(to: location) == nil)
    }

    @Test("A redirect may stay on the socket that the user named, and may become secure")
    func redirectsAllowed() throws {
        #expect(try DestinationURL("http+unix://%2Fa.sock/x").redirected(to: "/y")?.target == "/y")
        #expect(try DestinationURL("http://h/").redirected(to: "https://h/")?.origin.isSecure == true)
        #expect(try DestinationURL("https://h/").redirected(to: "//other/x")?.origin.isSecure == true)
    }

    @Test("Different destinations have different names in files, equal ones equal names")
    func ids() {
        #expect(DestinationID.id(of: "http://h:1/a") != DestinationID.id(of: "http://h:1/b"))
        #expect(DestinationID.id(of: "http://h:1/a") == DestinationID.id(of: "http://h:1/a"))
        #expect(!DestinationID.id(of: "http+unix:///run/../../x").contains("/"))
    }

    @Test(
        "A destination's file has the name that every version gives it",
        arguments: [
            ("https://hub.example:8080/v1/segments", "hub.example-8080-2z6fdd9zkb6q2"),
            ("http://h\u{f6}st.example/a", "h-st.example-quigvnz0gpqn"),
            ("http+unix://%2Frun%2Fferry.sock/v1/segments", "-2Frun-2Fferry.sock-38mz3hzi4qxm2"),
            ("http+unix:///run/../../x", "run-2iu3uiscvgm33"), ("", "destination-33niihzj4ux45"),
        ])
    func knownIDs(description: String, id: String) {
        #expect(DestinationID.id(of: description) == id)
    }

    @Test("Proxies are chosen by scheme and NO_PROXY")
    func proxies() throws {
        let settings = try ProxySettings(environment: [
            "HTTP_PROXY": "http://user:p%40ss@proxy:3129", "https_proxy": "proxy2",
            "NO_PROXY": "localhost, .corp.example,10.0.0.1",
        ])
        func proxy(_ url: String) throws -> ProxySettings.Proxy? { settings.proxy(for: try DestinationURL(url).origin) }
        #expect(try proxy("http://x/")?.host == "proxy")
        #expect(try proxy("http://x/")?.port == 3129)
        #expect(try proxy("http://x/")?.authorization == "Basic dXNlcjpwQHNz")
        #expect(try proxy("https://x/") == .init(host: "proxy2", port: 3128, authorization: nil))
        #expect(try proxy("http://localhost/") == nil)
        #expect(try proxy("http://a.corp.example/") == nil)
        #expect(try proxy("http://notcorp.example/") != nil)
        #expect(try proxy("http://10.0.0.1/") == nil)
        #expect(try proxy("http+unix://%2Fs/") == nil)
        let none = try ProxySettings(environment: ["HTTP_PROXY": "p", "NO_PROXY": "*"])
        #expect(none.proxy(for: try DestinationURL("http://x/").origin) == nil)
        #expect(throws: DestinationURLError.self) { try ProxySettings(environment: ["HTTP_PROXY": "socks5://p"]) }
    }
}

@Suite("Request and answer on a connection")
struct ExchangeStateTests {
    @Test("The usual course keeps the connection open")
    func usual() {
        var state = ExchangeState()
        state.start()
        #expect(state.wrote(isLast: false) == .sendMore)
        #expect(state.wrote(isLast: true) == .none)
        state.receivedHead(keepsAlive: true)
        #expect(state.receivedBody(10) == .none)
        #expect(state.receivedEnd() == .complete(keepsOpen: true))
        #expect(!state.isActive)
        #expect(state.completed == 1)
    }

    @Test("An early answer stops the sending, is obeyed, and closes the connection")
    func early() {
        var state = ExchangeState()
        state.start()
        state.receivedHead(keepsAlive: true)
        #expect(state.wrote(isLast: false) == .none)
        #expect(state.receivedEnd() == .complete(keepsOpen: false))
    }

    @Test("Once the head of an answer is known, it counts even if the connection breaks")
    func brokenAnswer() {
        var state = ExchangeState()
        state.start()
        _ = state.wrote(isLast: true)
        state.receivedHead(keepsAlive: true)
        #expect(state.broke(.closed("", isStale: false)) == .complete(keepsOpen: false))
        #expect(state.broke(.closed("", isStale: false)) == .none)
    }

    @Test("Without a head a break fails the request")
    func broken() {
        var state = ExchangeState()
        state.start()
        #expect(state.broke(.timeout("x")) == .fail(.timeout("x")))
    }

    @Test("An endless answer is cut off")
    func endless() {
        var state = ExchangeState()
        state.start()
        _ = state.wrote(isLast: true)
        state.receivedHead(keepsAlive: true)
        #expect(state.receivedBody(1 << 17) == .complete(keepsOpen: false))
    }
}

extension DestinationURL {
    fileprivate func redirected(to location: String) -> DestinationURL? { redirected(to: location, from: target) }
}
