/// Whom failures are blamed on.
public enum FailureBlame: Equatable, Sendable {
    /// On the segment or the destination, as the next segment shows.
    case judged
    /// On each request alone, as in App Center's SDK: it is retried this many times, then the destination is off.
    case eachRequest(retries: Int)
}
