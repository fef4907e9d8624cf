package import FerrySpool

/// The IDs in the names of a folder: what was not named by this process may have come another way, by rsync say. Without it, some ninety
/// names that may not be there are looked for beside each segment that comes.
package final class PresentIDs: Sendable {
    private let folders: FolderIDs
    private let watch: FolderIDs.Watch

    /// Begins to follow a folder.
    ///
    /// - Returns: `nil` where the kernel does not tell of everything.
    package init?(_ directory: Directory, _ folders: FolderIDs?) {
        guard let folders, let watch = folders.watch(directory) else { return nil }
        self.folders = folders
        self.watch = watch
    }

    deinit { folders.stop(watch) }

    /// Returns whether the folder may have names with one of some IDs now.
    package func mayHold(_ ids: [SegmentID]) -> Bool { folders.mayHold(ids, watch) }
}
