import FerrySpool

/// A line of the file of machines, as JSON.
struct MachineLine: Codable {
    struct Token: Codable {
        var sha256: String
        var until: Timestamp?
    }

    var name: String
    var since: Timestamp
    var tokens: [Token]?
    var certificates: [String]?
    var maxBytes: Int64?
    var bytesPerSecond: Int64?
    var priority: Int?

    private enum CodingKeys: String, CodingKey {
        case name, since, tokens, certificates, priority
        case maxBytes = "max-bytes"
        case bytesPerSecond = "bytes-per-second"
    }

    init(_ machine: Machine) {
        name = machine.name.text
        since = machine.since
        tokens = machine.tokens.map { Token(sha256: $0.digest.hexadecimal, until: $0.until) }
        certificates = machine.certificates.isEmpty ? nil : machine.certificates.map(\.hexadecimal)
        maxBytes = machine.limits.bytes?.bytes
        bytesPerSecond = machine.limits.rate?.bytes
        priority = machine.limits.priority.map { Int($0.level) }
    }

    /// Returns the machine that the line describes.
    ///
    /// - Throws: What is wrong with it, with the key.
    func machine() throws(MachineLineError) -> Machine {
        guard let name = MachineName(name) else {
            throw MachineLineError("'name' must be 1 to 64 letters, digits, dots, hyphens and underscores")
        }
        var machine = Machine(name, since: since)
        for token in tokens ?? [] {
            machine.tokens.append(.init(digest: try Self.digest(token.sha256, "tokens"), until: token.until))
        }
        for text in certificates ?? [] { machine.certificates.append(try Self.digest(text, "certificates")) }
        machine.limits.bytes = try Self.count(maxBytes, "max-bytes")
        machine.limits.rate = try Self.count(bytesPerSecond, "bytes-per-second")
        if let priority {
            guard let level = Priority(priority) else { throw MachineLineError("'priority' must be 0 to 9") }
            machine.limits.priority = level
        }
        return machine
    }

    private static func digest(_ text: String, _ key: String) throws(MachineLineError) -> BodyDigest {
        guard let digest = BodyDigest(hexadecimal: text) else {
            throw MachineLineError("'\(key)' must hold SHA-256 in 64 hexadecimal digits")
        }
        return digest
    }

    private static func count(_ number: Int64?, _ key: String) throws(MachineLineError) -> ByteCount? {
        guard let number else { return nil }
        guard number > 0 else { throw MachineLineError("'\(key)' must be at least 1") }
        return ByteCount(number)
    }
}
