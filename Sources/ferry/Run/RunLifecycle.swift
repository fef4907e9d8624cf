import Glibc

/// What signals make of a run: a decision, without clocks and files.
struct RunLifecycle {
    enum Action: Equatable {
        case nothing
        /// Send everything now.
        case flush
        case readConfiguration
        /// Start nothing more, and let what is under way finish.
        case stop
        /// Cut off what is under way.
        case cutOff
    }

    /// The signal that ends the process. It outweighs a new configuration, however late it comes.
    private(set) var end: Int32?
    private(set) var isReading = false
    /// The configuration may have changed since it was read last.
    private(set) var readsAgain = false
    private var isStopping = false

    mutating func received(_ signal: Int32) -> Action {
        switch signal {
        case SIGUSR1: return isStopping ? .nothing : .flush
        case SIGHUP:
            guard !isReading, !isStopping else {
                readsAgain = true
                return .nothing
            }
            isReading = true
            return .readConfiguration
        default:
            guard end == nil else { return .cutOff }
            end = signal
            defer { isStopping = true }
            return isStopping ? .nothing : .stop
        }
    }

    /// Notes that the configuration was read.
    ///
    /// - Parameter isGood: Otherwise the old one stays.
    mutating func read(isGood: Bool) -> Action {
        isReading = false
        if isGood, !isStopping {
            isStopping = true
            return .stop
        }
        guard readsAgain, !isStopping else { return .nothing }
        readsAgain = false
        isReading = true
        return .readConfiguration
    }
}
