import FerryReceiver
import FerrySpool
import HTTPTypes

/// Who may read the page: who shows the token, as a bearer or by the cookie that the login form brings.
struct DashboardAccess: Sendable {
    /// `nil`: any program that reaches the server.
    private let token: FollowedFiles<String>?
    private let log: Log
    /// Cookies of other ports of the host come along, too.
    private let cookieName: String
    /// Of this process: a cookie ends with it.
    private let key: [UInt8]

    init(token: FollowedFiles<String>?, port: Int, log: Log) {
        self.token = token
        self.log = log
        cookieName = "ferry-page-\(port)"
        var generator = SystemRandomNumberGenerator()
        key = (0..<4).flatMap { _ in withUnsafeBytes(of: generator.next() as UInt64) { Array($0) } }
    }

    var isNeeded: Bool { token != nil }

    /// Returns whether a request may read.
    func allows(_ headers: HTTPFields) -> Bool {
        guard let token = current else { return true }
        if BearerToken.matches(headers[.authorization], token) { return true }
        let expected = session(token)
        // Each is compared: a browser sends those of the same name for other paths as well.
        return headers[values: .cookie].flatMap { $0.split(separator: ";") }.reduce(false) { isKnown, pair in
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0] == cookieName else { return isKnown }
            return BearerToken.isSame(String(parts[1]), expected) || isKnown
        }
    }

    /// Returns the cookie for one who gave the token; `nil` where it is another one.
    func cookie(for given: String) -> String? {
        guard let token = current, BearerToken.isSame(given, token) else { return nil }
        return "\(cookieName)=\(session(token)); Path=/; HttpOnly; SameSite=Strict"
    }

    /// The cookie that ends a login.
    var noCookie: String { "\(cookieName)=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict" }

    private var current: String? {
        guard let token else { return nil }
        if case .unusable(let problem) = token.look(at: .now) { log.warn(problem) }
        return token.value
    }

    /// What a cookie holds: not the token, and nothing that another process would take.
    private func session(_ token: String) -> String { ContentHash.of(key + Array(token.utf8)).hexadecimal }
}
