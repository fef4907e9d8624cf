/// Tells objects that a store does not give from a store that gives none.
struct WithheldObjects {
    private var hasGiven = false
    private var refused = 0
    private var failed = 0

    /// Where none was given before, so many are refused at once that the reader may do nothing at all.
    private static let mostRefused = 100
    /// Each was tried several times, which takes seconds.
    private static let mostFailed = 5

    /// Notes that an object came.
    mutating func gave() {
        hasGiven = true
        (refused, failed) = (0, 0)
    }

    /// Returns an error as one of its object alone, unless many in a row show that it is the store's.
    mutating func judge(_ error: ObjectStoreError) -> ObjectStoreError {
        guard error.mayBeOfObject else { return error }
        if error.kind == .unavailable { failed += 1 } else { refused += 1 }
        let isOfStore = failed > Self.mostFailed || refused > Self.mostRefused && !hasGiven
        return isOfStore ? error : error.ofObject()
    }
}
