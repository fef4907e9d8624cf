import FerrySpool

extension DestinationURL {
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
            case .machine: HostName.current
            }
        }
    }

    /// Returns what stands for a key that may be long, and have any characters.
    static func shortened(_ key: String) -> String { String(ContentHash.of(key.utf8).hexadecimal.prefix(32)) }
}
