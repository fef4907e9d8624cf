/// When sessions begin and end.
public struct SessionRules: Equatable, Sendable {
    /// What begins sessions.
    public enum Mode: Equatable, Sendable {
        /// A session begins with the tracker, and anew when the program comes back after ``SessionRules/timeout`` in the background.
        case automatic
        /// There is none until the program starts one.
        case manual
    }

    /// What begins sessions; by default the tracker does.
    public var mode = Mode.automatic
    /// 20 s, as in App Center's SDK.
    public var timeout = Duration.seconds(20)
    /// In automatic mode: track `$AppStart`, `$AppStartPassively` and `$AppEnd`.
    public var tracksLifecycle = true
    /// Which sessions are reported by `$SessionStart`, where no `$AppStart` or `$AppStartPassively` does.
    public var tellsStart = StartTelling.none

    /// The sessions that `$SessionStart` reports.
    public enum StartTelling: Equatable, Sendable {
        /// No session.
        case none
        /// Those that the program starts itself, as Google Analytics' session control.
        case startedByProgram
        /// Each: App Center's server counts sessions so.
        case all
    }
    /// The program starts in the background, without a person before it (Sensors Analytics calls this a passive start).
    public var startsInBackground = false

    /// Creates App Center's rules: automatic sessions, which end after 20 s in the background.
    public init() {}
}
