import FerrySpool

/// What decisions may ask about the files of a spool. Asking changes nothing.
protocol SpoolView: Sendable {
    /// Returns what a segment's sidecar says; `nil` where there is none, or none that can be read.
    func sidecar(of name: String) -> RetryState?
    /// Returns a segment's size; `nil` where its file cannot be examined.
    func size(of name: String) -> ByteCount?
    /// Returns whether a file is in the spool's folder. One that cannot be examined is.
    func contains(_ name: String) -> Bool
}
