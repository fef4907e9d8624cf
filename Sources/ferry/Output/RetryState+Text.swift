import FerrySpool

extension RetryState {
    /// Returns what a person reads of a segment that waits.
    ///
    /// - Parameter when: When it is tried again, as in `due again`.
    func text(when: String) -> String {
        guard isInParts, let lines = delivered?.lines else {
            return "\(when), tried \(counted(attempts, "time")): \(lastError.message)"
        }
        return lines > 0 ? "due, its first \(counted(Int(lines), "line")) \(lines == 1 ? "is" : "are") delivered" : "due"
    }
}
