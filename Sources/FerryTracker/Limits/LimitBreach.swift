/// How an event was beyond a limit.
public enum LimitBreach: Error, Equatable, Sendable, CustomStringConvertible {
    case name(length: Int, maximum: Int)
    case names(maximum: Int)
    case properties(count: Int, maximum: Int)
    case key(String, length: Int, maximum: Int)
    case value(key: String, length: Int, maximum: Int)
    case notFinite(key: String)
    case depth(key: String)
    /// Of the event as it is stored, in bytes. It is never stored, whatever the policies: receivers refuse a longer line, and with it the segment.
    case size(bytes: Int, maximum: Int)

    /// What it is about: a warning is given once for each.
    enum Kind: Hashable { case name, names, properties, key, value, notFinite, depth, size }

    var kind: Kind {
        switch self {
        case .name: .name
        case .names: .names
        case .properties: .properties
        case .key: .key
        case .value: .value
        case .notFinite: .notFinite
        case .depth: .depth
        case .size: .size
        }
    }

    public var description: String {
        switch self {
        case .name(let length, let maximum): "the event's name has \(length) characters, and may have \(maximum)"
        case .names(let maximum): "there are more than \(maximum) different event names"
        case .properties(let count, let maximum): "the event has \(count) properties, and may have \(maximum)"
        case .key(let key, let length, let maximum): "the key '\(key)' has \(length) characters, and may have \(maximum)"
        case .value(let key, let length, let maximum): "the text of '\(key)' has \(length) characters, and may have \(maximum)"
        case .notFinite(let key): "'\(key)' is a number that JSON has no form for"
        case .depth(let key): "'\(key)' is in more than \(PropertyValue.deepest) lists and objects"
        case .size(let bytes, let maximum):
            "the event has \(bytes) bytes, and may have \(maximum): receivers refuse a longer one, and with it all others of its segment"
        }
    }
}

/// The names that events had so far.
struct NameRegister {
    private var names: Set<String>

    init(_ names: [String] = []) { self.names = Set(names) }

    enum Answer {
        case known
        case new
        case refused
    }

    /// Whether an event of this name may be stored.
    mutating func admit(_ name: String, _ limit: EventLimits.Limit) -> Answer {
        if limit.policy == .off || names.contains(name) { return .known }
        guard names.count < limit.maximum else { return .refused }
        names.insert(name)
        return .new
    }

    mutating func forget(_ name: String) { names.remove(name) }
}

extension String {
    /// The longest part at the start with at most so many UTF-16 code units that ends between two characters; `nil` when all of it fits.
    func cut(to maximum: Int) -> Substring? {
        guard utf8.count > maximum, utf16.count > maximum else { return nil }
        var length = 0
        var end = startIndex
        while end < endIndex {
            let next = index(after: end)
            length += self[end..<next].utf16.count
            if length > maximum { break }
            end = next
        }
        return end > startIndex ? self[..<end] : firstScalars(of: maximum)
    }

    /// For a text whose first character alone is too long, by the marks that it combines.
    private func firstScalars(of maximum: Int) -> Substring {
        var length = 0
        let end = unicodeScalars.indices.first { index in
            length += unicodeScalars[index].utf16.count
            return length > maximum
        }
        return self[..<(end ?? endIndex)]
    }
}
