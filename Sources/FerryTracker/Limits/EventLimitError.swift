/// How an event was beyond a limit.
public enum EventLimitError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The event's name is too long, in UTF-16 code units.
    case name(length: Int, maximum: Int)
    /// There are too many different event names.
    case names(maximum: Int)
    /// The event has too many properties.
    case properties(count: Int, maximum: Int)
    /// A property's key is too long, in UTF-16 code units.
    case key(String, length: Int, maximum: Int)
    /// A property's text is too long, in UTF-16 code units.
    case value(key: String, length: Int, maximum: Int)
    /// A property is infinite or not a number.
    case notFinite(key: String)
    /// A property lies in more than 100 lists and objects.
    case depth(key: String)
    /// Of the event as it is stored, in bytes. It is never stored, under any policy: receivers refuse a longer line, and with it the segment.
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

    /// The limit and what the event has, in words.
    public var description: String {
        switch self {
        case .name(let length, let maximum): "the event's name has \(length) characters, and may have \(maximum)"
        case .names(let maximum): "there are more than \(maximum) different event names"
        case .properties(let count, let maximum): "the event has \(count) properties, and may have \(maximum)"
        case .key(let key, let length, let maximum): "the key '\(key)' has \(length) characters, and may have \(maximum)"
        case .value(let key, let length, let maximum): "the text of '\(key)' has \(length) characters, and may have \(maximum)"
        case .notFinite(let key): "'\(key)' is a number that JSON has no form for"
        case .depth(let key): "'\(key)' is in more than \(EventLimits.deepest) lists and objects"
        case .size(let bytes, let maximum):
            "the event has \(bytes) bytes, and may have \(maximum): receivers refuse a longer one, and with it all others of its segment"
        }
    }
}
