/// What a stored event survives.
public enum Durability: Sendable {
    /// The death of the process, by any signal: it is in the kernel's hands.
    case process
    /// A power cut as well: it is on the disk (fdatasync), at the disk's speed.
    case disk
}
