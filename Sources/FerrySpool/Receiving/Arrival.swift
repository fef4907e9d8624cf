/// A segment on its way in: a hidden file under a lock, whose name a killed receiver leaves behind.
package struct Arrival: Sendable {
    /// The open file, which holds the lock.
    package let file: OpenFile
    /// The hidden file's name in the spool's folder.
    package let fileName: String
}
