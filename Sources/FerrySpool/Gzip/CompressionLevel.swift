/// How hard a compressor works: 1 (fast) to 9 (small).
public struct CompressionLevel: Hashable, Comparable, Sendable {
    let rawValue: Int32

    /// Returns whether the left level is lower: faster, with larger output.
    public static func < (left: CompressionLevel, right: CompressionLevel) -> Bool { left.rawValue < right.rawValue }

    private init(rawValue: Int32) { self.rawValue = rawValue }

    /// Creates a level; `nil` outside 1…9.
    public init?(_ level: Int) {
        guard (1...9).contains(level) else { return nil }
        rawValue = Int32(level)
    }

    /// Level 1.
    public static let fastest = CompressionLevel(rawValue: 1)
    /// zlib's own default, 6: on JSON lines 20 % smaller than 1 at a little over twice its time.
    public static let standard = CompressionLevel(rawValue: 6)
}
