import FerrySpool
import NIOCore

/// A service on this machine or beside it that gives keys which end: EC2's instance metadata, or what a container's environment names.
enum KeyService: Equatable, Sendable {
    /// What a container shows to be given keys.
    enum Authorization: Equatable, Sendable {
        case text(String)
        /// Read again for every question: EKS replaces it.
        case file(String)
    }

    case instance(DestinationURL)
    case container(DestinationURL, Authorization?)

    /// Reads the variables that AWS's own tools read; `nil` where `AWS_EC2_METADATA_DISABLED` leaves none.
    ///
    /// - Throws: ``DestinationURLError`` naming the variable that cannot be used.
    init?(environment: [String: String]) throws(DestinationURLError) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let container = try Self.container(variable) {
            self = .container(container, try Self.authorization(variable))
            return
        }
        if variable("AWS_EC2_METADATA_DISABLED")?.lowercased() == "true" { return nil }
        let usual = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE")?.lowercased() == "ipv6" ? Self.usualIPv6 : Self.usual
        let endpoint = try Self.url(variable(Self.endpointName) ?? usual, of: Self.endpointName)
        guard !endpoint.target.contains("?") else {
            throw DestinationURLError(description: "\(Self.endpointName) must be like \(Self.usual), without a query")
        }
        self = .instance(endpoint)
    }

    private static let endpointName = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
    private static let usual = "http://169.254.169.254"
    private static let usualIPv6 = "http://[fd00:ec2::254]"
    private static let relativeName = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
    private static let fullName = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
    private static let tokenName = "AWS_CONTAINER_AUTHORIZATION_TOKEN"

    private static func container(_ variable: (String) -> String?) throws(DestinationURLError) -> DestinationURL? {
        if let path = variable(relativeName) {
            guard path.hasPrefix("/") else { throw DestinationURLError(description: "\(relativeName) must begin with a slash") }
            return try url("http://169.254.170.2" + path, of: relativeName)
        }
        guard let text = variable(fullName) else { return nil }
        let url = try url(text, of: fullName)
        guard url.origin.isSecure || isNear(url.origin) else {
            throw DestinationURLError(
                description:
                    "\(fullName): keys come from \(url.origin) unprotected; it must begin with https://, or lead to this machine, to 169.254.170.2, 169.254.170.23 or [fd00:ec2::23]"
            )
        }
        return url
    }

    private static func url(_ text: String, of name: String) throws(DestinationURLError) -> DestinationURL {
        guard !text.contains("{"), let url = try? DestinationURL(text), case .host = url.origin.address else {
            throw DestinationURLError(description: "\(name) must be a URL of http or https, without credentials")
        }
        return url
    }

    /// Returns whether what is sent there, unprotected, leaves this machine for no network (AWS SDKs reference, "Container credential provider").
    private static func isNear(_ origin: Origin) -> Bool {
        guard case .host(let host, _) = origin.address else { return false }
        if host.lowercased() == "localhost" { return true }
        guard let address = try? SocketAddress(ipAddress: host, port: 0), let text = address.ipAddress else { return false }
        return text == "::1" || address.protocol == .inet && text.hasPrefix("127.")
            || ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"].contains(text)
    }

    private static func authorization(_ variable: (String) -> String?) throws(DestinationURLError) -> Authorization? {
        if let path = variable(tokenName + "_FILE") { return .file(path) }
        guard let token = variable(tokenName) else { return nil }
        guard isField(token) else {
            throw DestinationURLError(description: "\(tokenName) has other than printable ASCII characters")
        }
        return .text(token)
    }

    var url: DestinationURL {
        switch self {
        case .instance(let url), .container(let url, _): url
        }
    }

    /// For messages, without secrets.
    var description: String {
        switch self {
        case .instance(let url): "EC2's instance metadata (\(url.origin))"
        case .container(let url, _): "the container's credentials service (\(url.origin))"
        }
    }

    /// Returns whether a text can be a header field's value.
    static func isField(_ text: String) -> Bool {
        (1...longestToken).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
            && text.first != " " && text.last != " "
    }

    /// EKS's tokens, which are signed documents, have some hundred to some thousand bytes.
    private static let longestToken = 16_384
}
