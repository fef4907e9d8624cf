/// A number of bytes, so that no limit is a bare number whose unit must be guessed.
///
/// Sizes come from files that any program made, so sums and differences saturate.
public struct ByteCount: Hashable, Comparable, Sendable {
    /// The number of bytes.
    public var bytes: Int64

    /// Creates a number of bytes.
    public init(_ bytes: Int64) { self.bytes = bytes }

    /// Returns whether the left number is smaller.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
    /// Returns the sum, which saturates.
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.bytes.adding(right.bytes)) }
    /// Returns the difference, which saturates and may be negative.
    public static func - (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.bytes.subtracting(right.bytes)) }
    /// Adds a number, and saturates.
    public static func += (left: inout ByteCount, right: ByteCount) { left = left + right }

    /// No bytes.
    public static let zero = ByteCount(0)
    /// Returns a number of KiB: 1,024 bytes each.
    public static func kibibytes(_ count: Int64) -> ByteCount { ByteCount(count.multiplying(by: 1 << 10)) }
    /// Returns a number of MiB: 1,048,576 bytes each.
    public static func mebibytes(_ count: Int64) -> ByteCount { ByteCount(count.multiplying(by: 1 << 20)) }
}

extension ByteCount {
    private static let units: [(name: String, factor: Int64)] = [
        ("", 1), ("b", 1),
        ("k", 1000), ("kb", 1000), ("m", 1_000_000), ("mb", 1_000_000), ("g", 1_000_000_000), ("gb", 1_000_000_000),
        ("t", 1_000_000_000_000), ("tb", 1_000_000_000_000), ("pb", 1_000_000_000_000_000), ("eb", 1_000_000_000_000_000_000),
        ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30), ("tib", 1 << 40),
    ]

    /// Reads `500`, `10MB` (powers of 1,000), `1.5GiB` (powers of 1,024); case does not matter.
    /// `nil` for anything else, for a negative size and for one that does not fit; a fraction of a byte is no size: a person who says `1.5` has
    /// left out the unit.
    public init?(parsing text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(number.count).drop { $0 == " " }.lowercased()
        guard let factor = Self.units.first(where: { $0.name == unit })?.factor else { return nil }
        if let whole = Int64(number) {
            let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
            guard !overflow else { return nil }
            self.init(product)
        } else {
            guard factor > 1, let value = Double(number), value.isFinite, value * Double(factor) < 9e18 else { return nil }
            self.init(Int64(value * Double(factor)))
        }
    }
}

extension ByteCount: CustomStringConvertible {
    /// For people: `0 B`, `999 B`, `4.1 kB`, `174 MB`: powers of 1,000, three digits.
    public var description: String {
        if bytes < 0 { return "-\(ByteCount.zero - self)" }
        if bytes < 1000 { return "\(bytes) B" }
        var value = Double(bytes)
        for unit in ["kB", "MB", "GB", "TB", "PB", "EB"] {
            value /= 1000
            if value < 9.95 { return "\(Double((value * 10).rounded()) / 10) \(unit)" }
            if value < 999.5 || unit == "EB" { return "\(Int(value.rounded())) \(unit)" }
        }
        return "\(bytes) B"
    }
}
