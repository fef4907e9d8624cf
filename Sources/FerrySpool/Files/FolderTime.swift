/// When a folder was last changed. Two equal times mean that nothing has changed in between, once they are old enough.
package struct FolderTime: Equatable, Sendable {
    private let time: FileStatus.ExactTime
    private let folder: FileStatus.Identity
    private let wall: Timestamp

    /// Takes the time of the last change from a folder's status.
    package init(_ status: FileStatus) {
        time = status.inodeTime
        folder = status.identity
        wall = status.changed
    }

    /// File systems count time in steps: what happens within one step leaves the same time twice. Most take some milliseconds; ext3, and ext4 with
    /// small inodes, whole seconds, FAT two.
    private var step: Duration { time.nanoseconds == 0 ? .seconds(2) : .milliseconds(100) }

    /// Returns the time if a later change of the folder has another one, and `nil` while it may have the same.
    ///
    /// - Parameter now: When what was found in the folder was looked at, or before.
    package func settled(at now: Timestamp) -> FolderTime? { abs(now - wall) < step ? nil : self }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}
