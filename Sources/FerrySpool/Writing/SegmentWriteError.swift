/// Why a writer could not go on.
public enum SegmentWriteError: Error, Equatable, CustomStringConvertible {
    /// The size limit is reached, and what is stored is more urgent than what is to be written, or may not be dropped now.
    case spoolFull(limit: ByteCount)
    /// The spool is disabled: it stores nothing new.
    case disabled
    case file(FileError)

    /// The reason, for people.
    public var description: String {
        switch self {
        case .spoolFull(let limit):
            "spool full: its limit is \(limit), and what it holds is at least as urgent, or just being written or sent; upload it, raise the limit, or write with a more urgent priority"
        case .disabled: "the spool is disabled: nothing new is stored; ferry enable changes that"
        case .file(let error): error.description
        }
    }
}
