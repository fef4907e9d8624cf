/// When sessions begin and end.
public struct SessionRules: Equatable, Sendable {
    public enum Mode: Equatable, Sendable {
        /// A session begins with the tracker, and anew when the program comes back after ``SessionRules/timeout`` in the background.
        case automatic
        /// There is none until the program starts one.
        case manual
    }

    public var mode = Mode.automatic
    /// 20 s, as in App Center's SDK.
    public var timeout = Duration.seconds(20)
    /// In automatic mode: track `$AppStart`, `$AppStartPassively` and `$AppEnd`.
    public var tracksLifecycle = true
    /// Which sessions are reported by `$SessionStart`, where no `$AppStart` or `$AppStartPassively` does.
    public var tellsStart = StartTelling.none

    public enum StartTelling: Equatable, Sendable {
        case none
        /// Those that the program starts itself, as Google Analytics' session control.
        case startedByProgram
        /// Each: App Center's server counts sessions so.
        case all
    }
    /// The program starts in the background, without a person before it (Sensors Analytics calls this a passive start).
    public var startsInBackground = false

    public init() {}
}
