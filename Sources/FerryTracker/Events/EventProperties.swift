/// What an event says, in the order in which it was said. Keys are unique.
public struct EventProperties: Equatable, Sendable {
    struct Member: Equatable, Sendable {
        let key: String
        var value: PropertyValue
    }

    private(set) var members: [Member] = []

    public init() {}

    public init(_ elements: some Sequence<(String, PropertyValue)>) {
        for (key, value) in elements { self[key] = value }
    }

    public var isEmpty: Bool { members.isEmpty }
    public var count: Int { members.count }
    public var keys: [String] { members.map(\.key) }

    /// A property's value. Setting one that is there keeps its place; setting `nil` removes it.
    public subscript(key: String) -> PropertyValue? {
        get { index(of: key).map { members[$0].value } }
        set {
            let index = index(of: key)
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Keys are their bytes, as in JSON; events have few, so that a walk is faster than hashing.
    private func index(of key: String) -> Int? {
        let length = key.utf8.count
        for index in members.indices where members[index].key.utf8.count == length && members[index].key == key { return index }
        return nil
    }

    /// With the properties of another; where both have one, the other's counts.
    public func merging(_ other: EventProperties) -> EventProperties {
        var merged = self
        for member in other.members { merged[member.key] = member.value }
        return merged
    }
}

extension EventProperties: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, PropertyValue)...) {
        members.reserveCapacity(elements.count)
        for (key, value) in elements { self[key] = value }
    }
}

extension EventProperties: Decodable {
    /// Reads a JSON object. Decoders keep no order, so its members are sorted by their keys.
    public init(from decoder: any Decoder) throws { try self.init(decoder.container(keyedBy: PropertyKey.self)) }

    init(_ container: KeyedDecodingContainer<PropertyKey>) throws {
        for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) where try !container.decodeNil(forKey: key) {
            self[key.stringValue] = try container.decode(PropertyValue.self, forKey: key)
        }
    }
}
