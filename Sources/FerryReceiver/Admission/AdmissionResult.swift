import FerrySpool

/// What became of a body that is complete and sound.
enum AdmissionResult: Equatable, Sendable {
    case stored
    /// The key is known, with the same bytes.
    case duplicate
    /// The key is known, with other bytes.
    case conflict
    /// A half of it came, and is known.
    case inPart
    /// It is here, and about to leave: perhaps to its sender.
    case leaving
    /// The bytes are here under its name, but never came over this receiver.
    case notReceived
    /// Another file has its name that is damaged, or is just being copied in.
    case unsoundThere
    /// It is logged and kept, and could not get its name yet.
    case left(FileError)
}
