public import FoundationEssentials

/// A value that an event's property can have: what JSON has, and moments.
///
/// What lies in more than ``deepest`` lists and objects is written as `null`: programs that read events could not follow it.
public enum PropertyValue: Equatable, Sendable {
    case string(String)
    case bool(Bool)
    case int(Int)
    /// A whole number beyond `Int`, as hashes and snowflake IDs are.
    case unsigned(UInt64)
    /// Infinities and NaN have no form in JSON (RFC 8259, section 6): see ``EventLimitError/notFinite(key:)``.
    case double(Double)
    /// Written as text, RFC 3339 in UTC with milliseconds.
    case date(Date)
    case array([PropertyValue])
    case object(EventProperties)

    /// How many lists and objects a value may lie in, that of all properties included.
    public static let deepest = EventLimits.deepest
}

extension PropertyValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(arrayLiteral elements: PropertyValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, PropertyValue)...) { self = .object(EventProperties(elements)) }
}
