/// When a folder was last changed. Two equal times mean that nothing has changed in between, once they are old enough.
package struct FolderTime: Equatable, Sendable {
    private let time: FileStatus.ExactTime
    private let folder: FileStatus.Identity
    private let wall: Timestamp

    init(_ status: FileStatus) {
        time = status.inodeTime
        folder = status.identity
        wall = status.changed
    }

    /// File systems count time in steps of some milliseconds: what happens within one step leaves the same time twice.
    private static let step = Duration.milliseconds(100)

    /// Whether the folder may change once more without another time.
    package func isFresh(at now: Timestamp) -> Bool { (.zero..<Self.step).contains(now - wall) }
}
