import Testing

@testable import ferry

@Suite("For whom and under which name the page is served")
struct HostCheckTests {
    @Test(
        "A server of this machine answers to its own names",
        arguments: [
            ("127.0.0.1:8788", true), ("localhost:8788", true), ("LOCALHOST", true), ("[::1]:8788", true), ("127.8.9.1", true),
            ("evil.example:8788", false), ("127.0.0.1.evil.example", false), ("localhost.evil.example", false), ("", false),
            ("10.0.0.1:8788", false), ("[::1", false), ("127.0.0.1:x", false), ("127.0.0.1:80@evil.example", false),
            ("::1", false),
        ])
    func loopback(host: String, isAllowed: Bool) {
        #expect(HostCheck(ListenAddress(parsing: "127.0.0.1:8788")!).allows(host) == isAllowed)
    }

    @Test("A request without a name is refused there, and beyond this machine any name is taken")
    func others() {
        #expect(!HostCheck(ListenAddress(parsing: "[::1]:8788")!).allows(nil))
        #expect(HostCheck(ListenAddress(parsing: "0.0.0.0:8788")!).allows("hub.example"))
    }

    @Test("Beyond this machine a token is needed", arguments: ["0.0.0.0:1", "10.0.0.1:1", "[::]:1", "hub.example:1"])
    func token(address: String) {
        let address = ListenAddress(parsing: address)!
        #expect(address.pageProblem(hasToken: false, option: "a", tokenOption: "b") != nil)
        #expect(address.pageProblem(hasToken: true, option: "a", tokenOption: "b") == nil)
        #expect(ListenAddress(parsing: "127.0.0.1:1")!.pageProblem(hasToken: false, option: "a", tokenOption: "b") == nil)
    }

    @Test(
        "A form's fields are read, and what is none is passed over",
        arguments: [
            ("token=a%2Bb+c", "a+b c"), ("x=1&token=t", "t"), ("token=", ""), ("token", ""), ("token=1&token=2", "1"),
            ("token=%ff", nil), ("token=%2", nil), ("", nil), ("&&=&", nil),
        ] as [(String, String?)])
    func form(text: String, token: String?) { #expect(FormBody(text)["token"] == token) }
}
