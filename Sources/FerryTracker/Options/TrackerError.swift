public import FerrySpool

/// Why an event was not stored, or a tracker could not do something.
public enum TrackerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// An event needs a name.
    case noName
    /// It is beyond a limit whose policy is to drop.
    case limit(EventLimitError)
    /// The spool is disabled: it stores nothing new.
    case disabled
    /// The spool's size limit is reached, and everything stored is more urgent.
    case spoolFull(limit: ByteCount)
    /// The tracker was closed.
    case closed
    /// The process is a fork of the tracker's: it needs a tracker of its own.
    case forked
    /// The profile allows no change of the interval once the tracker has started.
    case intervalIsFixed
    /// The interval is not within the bounds of the configuration's rule.
    case interval(IntervalError)
    /// The user's ID is empty or too long, in characters.
    case userID(length: Int, maximum: Int)
    /// No country: two letters.
    case country(String)
    /// No label for segments.
    case stream(String)
    /// There is no running timer of that name.
    case noTimer(String)
    /// The disk or the folder failed.
    case file(FileError)

    /// What went wrong, in words.
    public var description: String {
        switch self {
        case .noName: "an event needs a name"
        case .limit(let breach): "\(breach); it was not stored"
        case .disabled: "the spool is disabled: nothing new is stored; ferry enable or setEnabled(true) changes that"
        case .spoolFull(let limit): SegmentWriteError.spoolFull(limit: limit).description
        case .closed: "the tracker was closed"
        case .forked: "the process was forked: open a tracker in the new one"
        case .intervalIsFixed: "the interval cannot be changed after the start with this profile; set it in the configuration"
        case .interval(let error): error.description
        case .userID(let length, let maximum): "the user id has \(length) characters, and may have 1 to \(maximum)"
        case .country(let text): "the country '\(text)' must be two letters of A-Z, such as DE"
        case .stream(let stream): "the stream '\(stream)' must be 1 to 64 characters of a-z, 0-9, _ and -"
        case .noTimer(let name): "there is no timer '\(name)'; start it first"
        case .file(let error): error.description
        }
    }
}
