import Synchronization

/// What keeps one spool of several from putting its segments into lanes: told once, and again where it is something else.
final class LaneTrouble: Sendable {
    private let told = Mutex<String?>(nil)

    /// Returns what came of putting segments into lanes as a verdict on them alone: the other spools have lanes of their own.
    func ownVerdict(_ verdict: Verdict, warn: (String) -> Void) -> Verdict {
        switch verdict {
        case .unavailable(let reason, _), .misconfigured(let reason):
            let isKnown = told.withLock { told in
                defer { told = reason.message }
                return told == reason.message
            }
            if !isKnown { warn("its segments wait, those of other spools do not: \(reason.message)") }
            return .circling(reason)
        case .delivered:
            told.withLock { $0 = nil }
            return verdict
        default: return verdict
        }
    }
}
