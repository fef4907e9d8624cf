import FerrySpool

/// Whether a request was meant for this server. A page of another site may have its own name lead to this machine (DNS rebinding), and read what a
/// server answers to that name.
struct HostCheck: Sendable {
    private let listens: ListenAddress

    init(_ listens: ListenAddress) { self.listens = listens }

    /// Returns whether a request's `Host` is one of this server's. Beyond this machine it may be any: there a token is needed.
    func allows(_ host: String?) -> Bool {
        guard listens.isOfThisMachine else { return true }
        guard let host, let name = Self.name(of: host) else { return false }
        if name == listens.host.lowercased() { return true }
        return ListenAddress(host: name, port: 0).isOfThisMachine
    }

    /// Returns the name or address without the port, in lower case; `nil` unless it is a host with one or none.
    private static func name(of host: String) -> String? {
        let text = host.lowercased()
        let name: Substring
        let port: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            (name, port) = (text[text.index(after: text.startIndex)..<end], text[text.index(after: end)...])
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            (name, port) = (text[..<end], text[end...])
        }
        guard port.isEmpty || port.first == ":" && port.dropFirst().utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        return name.isEmpty ? nil : String(name)
    }
}
