import FerrySpool
import Glibc

extension DestinationURL {
    /// What `{machine}` stands for.
    static let machine: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "machine" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.isEmpty ? "machine" : text
    }()

    /// Returns path and query of a request for a segment.
    func target(of facts: SegmentMetadata) -> String {
        target { placeholder in
            switch placeholder {
            case .segment: facts.name
            case .id: facts.id
            case .key: facts.isForeign ? Self.shortened(facts.idempotencyKey) : facts.id
            case .priority: "\(facts.priority.level)"
            case .stream: facts.stream ?? "default"
            case .day: facts.created.day
            case .hour: facts.created.hour
            case .machine: Self.machine
            }
        }
    }

    /// Returns what stands for a key that may be long, and have any characters.
    static func shortened(_ key: String) -> String { String(ContentHash.of(key.utf8).hexadecimal.prefix(32)) }
}
