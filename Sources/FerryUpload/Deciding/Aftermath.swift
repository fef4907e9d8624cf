import FerrySpool

/// What is left of a segment after its request.
enum Aftermath: Equatable, Sendable {
    /// Its ending is on its way into the ledger.
    case ended
    /// Its sidecar says until when it waits.
    case waits(until: Timestamp)
    /// It is as it was before.
    case asBefore(hasSidecar: Bool)
    /// It was written into while its request was under way: the answer is about neither its old content nor the new.
    case changed(hasSidecar: Bool)
    /// It could not be written down.
    case failed(FileError)
}
