import FerrySpool

/// What a process wrote down as it crashed.
struct CrashReport: Equatable {
    /// Written when the process began.
    struct Header: Codable, Equatable {
        var id: String
        var process: Int
        var startedAt: Timestamp
        var app: String
        var appVersion: String?
    }

    static let eventName = "$AppCrashed"

    let header: Header
    let signal: Int
    let code: Int
    /// Hexadecimal; 0 when the signal was not about one.
    let address: String
    let time: Timestamp
    let session: String?
    /// The user who was logged in.
    let user: String?
    /// The innermost first, as glibc's `backtrace_symbols_fd` writes them: `program(symbol+0x1f) [0x55…]`.
    let backtrace: [String]

    /// Reads a recording; `nil` when it tells of no crash: the process was killed, or lost its power.
    init?(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        guard lines.count >= 2,
            let header = lines[0].withUnsafeBufferPointer({ JSONLine.decode(Header.self, $0) })
        else { return nil }
        var fields: [Substring: Substring] = [:]
        let line = String(decoding: lines[1], as: UTF8.self)
        for field in line.split(separator: " ") {
            guard let equals = field.firstIndex(of: "=") else { return nil }
            fields[field[..<equals]] = field[field.index(after: equals)...]
        }
        guard let signal = fields["signal"].flatMap({ Int($0) }), let code = fields["code"].flatMap({ Int($0) }),
            let address = fields["address"], let time = fields["time"].flatMap({ Int64($0) })
        else { return nil }
        self.header = header
        self.signal = signal
        self.code = code
        self.address = String(address)
        self.time = Timestamp(milliseconds: min(max(0, time), Timestamp.distantFuture.milliseconds))
        session = fields["session"].flatMap { $0.isEmpty ? nil : String($0) }
        user = fields["user"].flatMap { $0.isEmpty ? nil : String(percentDecoding: String($0)) }
        backtrace = lines.dropFirst(2).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns what a crash's line says of its context. The fields have no spaces: the user is percent-encoded.
    static func context(session: String?, user: String?) -> String {
        "session=\(session ?? "")" + (user.map { " user=\($0.percentEncodedForURL)" } ?? "")
    }

    /// `SIGSEGV`, or the number where it has no name here.
    private var signalName: String {
        let names = [4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV", 31: "SIGSYS"]
        return names[signal] ?? "\(signal)"
    }

    var properties: EventProperties {
        [
            "$signal": .string(signalName), "$signal_code": .int(code), "$address": .string("0x\(address)"),
            "$process": .int(header.process), "$started_at": .string(header.startedAt.rfc3339),
            "$backtrace": .array(backtrace.map { .string($0) }),
        ]
    }
}

extension DeviceFacts {
    /// Returns the same machine with the program as it was then.
    func with(app: String, version: String?) -> DeviceFacts {
        var facts = self
        facts.app = app
        facts.appVersion = version
        return facts
    }
}
