import ArgumentParser
import FerryReceiver
import FerrySpool

/// How much a machine may.
struct LimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How much may be pending in its spool, or off.", valueName: "size"))
    var maxBytes: String?

    @Option(help: ArgumentHelp("How much it may send a second on average, or off.", valueName: "size"))
    var rate: String?

    @Option(help: ArgumentHelp("Its most urgent priority, which more urgent segments get as well; or off.", valueName: "0-9"))
    var priority: String?

    var isEmpty: Bool { maxBytes == nil && rate == nil && priority == nil }

    func validate() throws {
        try require(maxBytes, "--max-bytes", "a size like 2GiB, or off") { Self.size($0) }
        try require(rate, "--rate", "a size a second like 500KB/s, or off") { Self.rate($0) }
        try require(priority, "--priority", "0 to 9, or off") { Priority(parsing: $0) }
    }

    /// Sets what is given, and leaves the rest as it is.
    func apply(to limits: inout Machine.Limits) {
        if let maxBytes { limits.bytes = Self.size(maxBytes) }
        if let rate { limits.rate = Self.rate(rate) }
        if let priority { limits.priority = Priority(parsing: priority) }
    }

    private func require<Value>(_ text: String?, _ option: String, _ form: String, _ read: (String) -> Value?) throws {
        guard let text, text != "off", read(text) == nil else { return }
        throw ValidationError("\(option) '\(text.printable(limit: 100))' must be \(form)")
    }

    private static func size(_ text: String) -> ByteCount? { ByteCount(parsing: text).flatMap { $0 > .zero ? $0 : nil } }

    private static func rate(_ text: String) -> ByteCount? { size(text.hasSuffix("/s") ? String(text.dropLast(2)) : text) }
}
