import Glibc
import NIOSSL

/// The names that a certificate vouches for, compared with a destination's (RFC 9525).
///
/// NIOSSL takes a certificate for the address of the socket's other end, too: that of a proxy, or of where a forged answer of DNS leads to. And it takes
/// a common name for a host's, as that RFC does not.
struct ServerIdentity: Equatable, Sendable {
    private(set) var names: [String] = []
    private(set) var addresses: [[UInt8]] = []

    init(names: [String], addresses: [[UInt8]]) {
        self.names = names
        self.addresses = addresses
    }

    init(_ certificate: NIOSSLCertificate) {
        for name in certificate._subjectAlternativeNames() {
            switch name.nameType {
            case .dnsName: names.append(String(decoding: name.contents, as: UTF8.self))
            case .ipAddress: addresses.append(Array(name.contents))
            default: break
            }
        }
    }

    /// Returns whether it is the certificate of this host: an address by address, a name by name, with `*` for the first label alone.
    func covers(_ host: String) -> Bool {
        if let address = Self.address(host) { return addresses.contains(address) }
        let wanted = Self.labels(host)
        return names.contains { name in
            let labels = Self.labels(name)
            guard labels.count == wanted.count, let first = labels.first else { return false }
            if first == "*" { return labels.count > 2 && labels.dropFirst().elementsEqual(wanted.dropFirst()) }
            return labels == wanted
        }
    }

    /// Returns why it is not this host's, in words; `nil` where it is.
    func problem(for host: String) -> String? {
        if covers(host) { return nil }
        return names.isEmpty && addresses.isEmpty
            ? "the certificate names no host (subjectAltName), and is nowhere good"
            : "the certificate is for another host; check the URL"
    }

    private static func labels(_ name: String) -> [Substring] {
        let name = name.hasSuffix(".") ? String(name.dropLast()) : name
        return name.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    }

    /// Returns the bytes of an IP address in text; `nil` for a name.
    static func address(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes[..<4]) }
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }
}
