/// What is wrong with a gzip file, and where.
public struct GzipError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of damage, as a word for programs.
    public enum Kind: String, Sendable {
        case empty, truncated, corrupt
        case notGzip = "not-gzip"
        case trailingGarbage = "trailing-garbage"
        /// It inflates to more than the limit.
        case tooLarge = "inflates-too-far"
    }

    /// The kind of damage.
    public let kind: Kind
    /// Bytes of the compressed file before the damage.
    public let offset: Int64

    /// Creates an error.
    package init(kind: Kind, offset: Int64) {
        self.kind = kind
        self.offset = offset
    }

    /// What is wrong and where, for people.
    public var description: String {
        switch kind {
        case .empty: "the file is empty"
        case .notGzip: "not gzip at byte \(offset)"
        case .truncated: "the gzip data ends early, at byte \(offset)"
        case .corrupt: "the gzip data is corrupt at byte \(offset)"
        case .trailingGarbage: "there is something else than gzip after byte \(offset)"
        case .tooLarge: "inflates to more than the limit, reached at byte \(offset)"
        }
    }
}
