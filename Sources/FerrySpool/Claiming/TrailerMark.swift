/// Tells checksums and lengths of gzip members from others, within this process alone: its hash has a random seed.
struct TrailerMark: Equatable, Sendable {
    private let hash: Int

    private init(_ hash: Int) { self.hash = hash }

    /// Takes them one after the other. A small segment has one member: SHA-256 of its eight bytes costs as much as the rest of the look at it.
    struct Builder {
        private var hasher = Hasher()

        mutating func add(_ trailer: ArraySlice<UInt8>) { trailer.withUnsafeBytes { hasher.combine(bytes: $0) } }

        func finish() -> TrailerMark { TrailerMark(hasher.finalize()) }
    }
}
