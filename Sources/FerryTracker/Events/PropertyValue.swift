public import FoundationEssentials

/// A value that an event's property can have: what JSON has, and moments.
///
/// What lies in more than ``deepest`` lists and objects is written as `null`: programs that read events could not follow it.
public enum PropertyValue: Equatable, Sendable {
    /// Text.
    case string(String)
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case int(Int)
    /// A whole number beyond `Int`, as hashes and snowflake IDs are.
    case unsigned(UInt64)
    /// Infinities and NaN have no form in JSON (RFC 8259, section 6): see ``EventLimitError/notFinite(key:)``.
    case double(Double)
    /// Written as text, RFC 3339 in UTC with milliseconds.
    case date(Date)
    /// A list.
    case array([PropertyValue])
    /// An object, whose members keep their order.
    case object(EventProperties)

    /// How many lists and objects a value may lie in, that of all properties included.
    package static let deepest = EventLimits.deepest
}

extension PropertyValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// Creates a number with a fraction.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a list.
    public init(arrayLiteral elements: PropertyValue...) { self = .array(elements) }
    /// Creates an object.
    public init(dictionaryLiteral elements: (String, PropertyValue)...) { self = .object(EventProperties(elements)) }
}
