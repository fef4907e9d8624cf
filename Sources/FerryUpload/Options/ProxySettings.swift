import FoundationEssentials

/// Which proxy to use for what, as the customary environment variables say.
public struct ProxySettings: Equatable, Sendable {
    /// A proxy and, when its URL had them, the credentials for it.
    public struct Proxy: Hashable, Sendable {
        var host: String
        var port: Int
        /// The value of `Proxy-Authorization`.
        var authorization: String?
    }

    var http: Proxy?
    var https: Proxy?
    var exceptions: [String] = []

    /// No proxy at all.
    public init() {}

    /// Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`; the lower-case names come first, as with curl.
    ///
    /// - Throws: ``DestinationURLError`` for a proxy that cannot be used.
    public init(environment: [String: String]) throws(DestinationURLError) {
        func value(_ name: String) -> String? {
            (environment[name.lowercased()] ?? environment[name]).flatMap { $0.isEmpty ? nil : $0 }
        }
        func proxy(_ name: String) throws(DestinationURLError) -> Proxy? {
            guard let text = value(name) ?? value("ALL_PROXY") else { return nil }
            let withScheme = text.contains("://") ? text : "http://" + text
            guard let components = URLComponents(string: withScheme), components.scheme == "http",
                let host = components.percentEncodedHost, !host.isEmpty, host != "[]",
                (1...65_535).contains(components.port ?? 3128)
            else {
                throw DestinationURLError(
                    description: "\(name) must be like http://proxy.example:3128; Ferry speaks to HTTP proxies only")
            }
            let credentials = components.user.map { Data("\($0):\(components.password ?? "")".utf8).base64EncodedString() }
            return Proxy(
                host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host, port: components.port ?? 3128,
                authorization: credentials.map { "Basic \($0)" })
        }
        http = try proxy("HTTP_PROXY")
        https = try proxy("HTTPS_PROXY")
        exceptions = (value("NO_PROXY") ?? "").split(separator: ",").map { entry in
            entry.trimmingPrefix { $0 == " " || $0 == "*" }.trimmingPrefix(".").lowercased()
                .split(separator: " ").first.map(String.init) ?? (entry.contains("*") ? "*" : "")
        }
    }

    /// Returns the proxy for an origin; `nil` for a direct connection.
    func proxy(for origin: Origin) -> Proxy? {
        guard case .host(let host, _) = origin.address else { return nil }
        let name = host.lowercased()
        let isExcepted = exceptions.contains { $0 == "*" || name == $0 || (!$0.isEmpty && name.hasSuffix(".\($0)")) }
        return isExcepted ? nil : origin.isSecure ? https : http
    }
}
