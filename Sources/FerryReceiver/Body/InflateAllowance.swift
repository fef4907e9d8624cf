import FerrySpool

/// How far the body of one request may inflate, for any number of segments that it carries.
struct InflateAllowance: Sendable {
    private let limit: ByteCount
    private var compressed: Int64 = 0
    private var inflated: Int64 = 0

    init(limit: ByteCount) { self.limit = limit }

    /// Deflate makes 1,032 bytes of one at most: beyond this ratio it is a bomb, or as well as empty. A sender of such events may send them in
    /// halves, which a 413 asks for.
    private static let highestRatio: Int64 = 1000
    /// The size in bytes that any body may inflate to.
    private static let free: Int64 = 1 << 20

    /// Counts a piece of the body before it is inflated.
    mutating func begin(_ bytes: Int) { compressed = compressed.adding(Int64(bytes)) }

    /// Counts what comes out.
    ///
    /// - Throws: ``IntakeError`` when it is too much.
    mutating func take(_ bytes: Int) throws(IntakeError) {
        inflated = inflated.adding(Int64(bytes))
        if inflated > limit.bytes { throw .damaged(GzipError(kind: .tooLarge, offset: compressed)) }
        if inflated > Self.free && inflated / Self.highestRatio > compressed { throw .tooDense(ratio: Self.highestRatio) }
    }
}
