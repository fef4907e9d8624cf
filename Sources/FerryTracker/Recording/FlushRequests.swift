import FerrySpool

/// Notices requests to send everything in a spool.
struct FlushRequests: Sendable {
    /// When the spool's control file was last written, as far as is known.
    private var controlChanged: Timestamp?
    private var lastRequest: Timestamp?

    /// Returns whether a request has come since the last look. A control file that cannot be read says nothing.
    mutating func haveCome(to spool: Spool) -> Bool {
        guard let changed = (try? spool.control.changed()) ?? nil, changed != controlChanged else { return false }
        controlChanged = changed
        guard let request = (try? spool.control.read())?.flushRequestedAt, request != lastRequest else { return false }
        lastRequest = request
        return true
    }
}
