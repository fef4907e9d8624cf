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
    /// Infinities and NaN have no form in JSON (RFC 8259, section 6): see ``LimitBreach/notFinite(key:)``.
    case double(Double)
    /// Written as text, RFC 3339 in UTC with milliseconds.
    case date(Date)
    case array([PropertyValue])
    case object(EventProperties)

    /// How many lists and objects a value may lie in, that of all properties included.
    public static let deepest = 100
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

extension PropertyValue: Decodable {
    /// Reads any JSON value but `null`, which no property has. Whole numbers of more than 64 bits become the nearest `Double`.
    public init(from decoder: any Decoder) throws {
        // Each failed guess at a value's kind costs as much as it is deep.
        guard decoder.codingPath.count <= Self.deepest else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "more than \(Self.deepest) lists and objects deep"))
        }
        if let keyed = try? decoder.container(keyedBy: PropertyKey.self) {
            self = .object(try EventProperties(keyed))
        } else if var list = try? decoder.unkeyedContainer() {
            var elements: [PropertyValue] = []
            while !list.isAtEnd { elements.append(try list.decode(PropertyValue.self)) }
            self = .array(elements)
        } else {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Int.self) {
                self = .int(value)
            } else if let value = try? container.decode(UInt64.self) {
                self = .unsigned(value)
            } else if let value = try? container.decode(Double.self) {
                self = .double(value)
            } else {
                self = .string(try container.decode(String.self))
            }
        }
    }
}

struct PropertyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
