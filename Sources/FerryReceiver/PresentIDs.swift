import FerrySpool

/// The IDs in the names of a folder: what a receiver has not named itself may have come another way, by rsync say. Without it, each request looks
/// for some ninety names that may not be there.
final class PresentIDs: Sendable {
    private let news: FolderNews
    private let watch: FolderNews.Watch

    /// - Returns: `nil` where the kernel does not tell of everything.
    init?(_ directory: Directory, _ news: FolderNews?) {
        guard let news, let watch = news.watch(directory) else { return nil }
        self.news = news
        self.watch = watch
    }

    deinit { news.stop(watch) }

    /// Whether the folder may have names with one of some IDs now.
    func mayHold(_ ids: [SegmentID]) -> Bool { news.mayHold(ids, watch) }
}
