public import FerrySpool

/// Why nothing is sent from a spool now.
public enum SendBlocker: Equatable, Sendable, CustomStringConvertible {
    /// A person or a program paused the spool.
    case paused
    /// A person or a program disabled the spool.
    case disabled
    /// The folder is gone, or cannot be used.
    case unavailable(String)
    /// There is no way to the destination.
    case noRoute
    /// The way to the destination leads over an interface that may not be used.
    case interfaceDenied(String)
    /// Outside the allowed times.
    case windowClosed(until: Timestamp?)
    /// The destination failed.
    case destinationWaits(until: Timestamp, String)
    /// Something must be mended at the destination, or in what it is asked with; until then it is looked at again now and then.
    case misconfigured(until: Timestamp, String)
    /// Strict order: the head of the line failed, and the others wait behind it.
    case headWaits(until: Timestamp)
    /// All retries of a request failed: this process sends nothing more.
    case off(String)

    /// The reason in words, as `ferry status` shows it.
    public var description: String {
        switch self {
        case .paused: "paused"
        case .disabled: "disabled"
        case .unavailable(let why): why
        case .noRoute: "no route to the destination"
        case .interfaceDenied(let name): "interface \(name) is not allowed"
        case .windowClosed(let until): "outside the upload window" + (until.map { " until \($0.rfc3339)" } ?? "")
        case .destinationWaits(let until, let why): "waiting until \(until.rfc3339): \(why)"
        case .misconfigured(let until, let why): "to be mended, tried again at \(until.rfc3339): \(why)"
        case .headWaits(let until):
            "waiting until \(until.rfc3339): the first segment in line failed, and in strict order all others wait behind it"
        case .off(let why): "off until the next start: \(why)"
        }
    }

    /// For those who look at the spool from outside: what its folder does not tell already.
    var mark: UploaderMark.Blocked? {
        switch self {
        case .paused, .disabled, .unavailable, .destinationWaits: nil
        case .noRoute, .interfaceDenied, .off: UploaderMark.Blocked(reason: kind, text: description, until: nil)
        case .misconfigured(let until, _), .headWaits(let until):
            UploaderMark.Blocked(reason: kind, text: description, until: until)
        case .windowClosed(let until): UploaderMark.Blocked(reason: kind, text: description, until: until)
        }
    }

    /// A word for programs.
    public var kind: String {
        switch self {
        case .paused: "paused"
        case .disabled: "disabled"
        case .unavailable: "unavailable"
        case .noRoute: "no-route"
        case .interfaceDenied: "interface-denied"
        case .windowClosed: "window-closed"
        case .destinationWaits: "destination-waits"
        case .misconfigured: "misconfigured"
        case .headWaits: "head-waits"
        case .off: "off"
        }
    }
}

/// The circuit breaker's state, as its field names it.
public enum BreakerState: String, CaseIterable, Sendable {
    /// All is well.
    case closed
    /// The destination failed, and is not tried.
    case open
    /// It is being tried, with few requests at once.
    case halfOpen = "half-open"
}
