import Glibc
import NIOCore

/// Where a server listens: `127.0.0.1:8787` or `[::1]:8787`.
struct ListenAddress: Equatable {
    let host: String
    let port: Int

    init?(parsing text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port),
            colon > text.startIndex
        else { return nil }
        let host = text[..<colon]
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host)
        self.port = port
    }

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// As it is written: `127.0.0.1:8787` or `[::1]:8787`.
    var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Only programs on this machine reach it: 127.0.0.0/8 and ::1 (RFC 5735, RFC 4291), and the name that stands for them.
    var isOfThisMachine: Bool {
        if host == "localhost" { return true }
        guard let text = (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress else { return false }
        return text.hasPrefix("127.") || text == "::1"
    }

    /// Returns why the page cannot be served there, in words; `nil` when it can.
    ///
    /// - Parameters:
    ///   - option: What the address is called where it was set.
    ///   - tokenOption: The same of the file with the token.
    func pageProblem(hasToken: Bool, option: String, tokenOption: String) -> String? {
        guard !hasToken, !isOfThisMachine else { return nil }
        return
            "\(option) \(text) is beyond this machine, where anybody could read the page: give a file with a token, \(tokenOption)"
    }

    /// Returns why a server cannot listen, in the machine's words.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case is SocketAddressError.UnknownHost, SocketAddressError.unknown: "the name is not found"
        default: "\(error)"
        }
    }
}
