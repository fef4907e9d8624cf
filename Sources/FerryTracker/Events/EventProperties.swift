/// What an event says, in the order in which it was said. Keys are unique.
public struct EventProperties: Sendable {
    /// As a literal hands them over, so that it costs no second array.
    private(set) var members: [(String, PropertyValue)] = []

    /// Creates properties without a member.
    public init() {}

    private init(adopting elements: [(String, PropertyValue)]) {
        self.init()
        members = elements
        if hasDuplicates { self = Self(lastOf: elements) }
    }

    /// Creates properties from keys and values. Of a key that stands twice the last value counts, in the first one's place.
    public init(_ elements: some Sequence<(String, PropertyValue)>) { self.init(lastOf: Array(elements)) }

    /// - Parameter elements: Of a key that stands twice the last value counts, in the first one's place.
    init(lastOf elements: [(String, PropertyValue)]) {
        self.init()
        guard elements.count > Self.mostWalked else {
            for (key, value) in elements { self[key] = value }
            return
        }
        var places: [[UInt8]: Int] = [:]
        for (key, value) in elements {
            let place = places[Array(key.utf8), default: members.count]
            if place < members.count {
                members[place].1 = value
            } else {
                places[Array(key.utf8)] = place
                members.append((key, value))
            }
        }
    }

    /// Of more keys each is looked up in a table: a walk would take time with the square of their number.
    private static let mostWalked = 64

    /// Whether there is no property.
    public var isEmpty: Bool { members.isEmpty }
    /// The number of properties, those within objects left out.
    public var count: Int { members.count }
    /// The keys, in the order in which they were set.
    public var keys: [String] { members.map(\.0) }

    /// Accesses a property's value. Setting one that is there keeps its place; setting `nil` removes it.
    public subscript(key: String) -> PropertyValue? {
        get { index(of: key).map { members[$0].1 } }
        set {
            let index = index(of: key)
            switch (index, newValue) {
            case (let index?, let value?): members[index].1 = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }

    /// Returns the place of a key. Events have few keys, so that a walk is faster than hashing; most differ in their lengths already.
    private func index(of key: String) -> Int? {
        let length = key.utf8.count
        for index in members.indices where members[index].0.utf8.count == length && members[index].0.isSame(key) { return index }
        return nil
    }

    private var hasDuplicates: Bool {
        if members.count > Self.mostWalked { return Set(members.map { Array($0.0.utf8) }).count < members.count }
        // Keys of different marks differ. Where two have the same, their bytes tell.
        var marks: UInt64 = 0
        for index in members.indices {
            let mark = members[index].0.mark
            if marks & mark != 0, members[..<index].contains(where: { $0.0.isSame(members[index].0) }) { return true }
            marks |= mark
        }
        return false
    }

    /// Returns these properties with those of another; where both have one, the other's counts.
    public func merging(_ other: EventProperties) -> EventProperties {
        Self(lastOf: members + other.members)
    }
}

extension String {
    /// Returns whether it has the same bytes. Text that only Unicode calls the same is another key in JSON.
    fileprivate func isSame(_ other: String) -> Bool { self == other && utf8.elementsEqual(other.utf8) }

    /// One bit of 64, by the length, the first and the last byte.
    fileprivate var mark: UInt64 {
        let mark = utf8.withContiguousStorageIfAvailable { bytes in
            guard let first = bytes.first, let last = bytes.last else { return 1 as UInt64 }
            return 1 << ((UInt64(first) &* 7 &+ UInt64(last) &* 13 &+ UInt64(bytes.count)) & 63)
        }
        // A string of another platform may lie in pieces.
        return mark ?? String(decoding: Array(utf8), as: UTF8.self).mark
    }
}

extension EventProperties: Equatable {
    /// Returns whether both have the same keys and values in the same order.
    public static func == (left: EventProperties, right: EventProperties) -> Bool {
        left.members.elementsEqual(right.members, by: ==)
    }
}

extension EventProperties: ExpressibleByDictionaryLiteral {
    /// Creates properties from a literal. Of a key that stands twice the last value counts, in the first one's place.
    public init(dictionaryLiteral elements: (String, PropertyValue)...) {
        self.init(adopting: elements)
    }
}
