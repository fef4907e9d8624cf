/// A segment on its way in: a hidden file under a lock, whose name a killed receiver leaves behind.
public struct Arrival: Sendable {
    /// The open file, which holds the lock.
    public let file: OpenFile
    /// The hidden file's name in the spool's folder.
    public let fileName: String
}
