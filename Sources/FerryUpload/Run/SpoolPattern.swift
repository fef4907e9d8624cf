package import FerrySpool

/// Where spools are: a folder, or all folders in one (`hub/*`).
public struct SpoolPattern: Hashable, Sendable, CustomStringConvertible {
    private let path: String
    /// Every folder in it is a spool.
    package let isCollection: Bool

    /// The lane that is meant of each spool; `nil`: the spool itself.
    private var lane: LaneName?

    /// Reads `dir` or `dir/*`.
    public init(_ text: String) {
        isCollection = text.hasSuffix("/*")
        path = isCollection ? String(text.dropLast(2)) : text
    }

    /// Returns the lanes of a name that its spools have, or will have.
    package func lane(_ name: LaneName) -> SpoolPattern {
        var pattern = self
        pattern.lane = name
        return pattern
    }

    /// The pattern as it was given: `dir` or `dir/*`, with the lane, as in `dir/to/hub`.
    public var description: String { place(isCollection ? path + "/*" : path) }

    private func place(_ spool: String) -> String { lane.map { Lanes.path(of: $0, in: spool) } ?? spool }

    /// Returns the folders that are there now.
    package func folders() throws(FileError) -> [String] { try listing().folders }

    struct Listing: Sendable {
        var folders: [String]
        /// The folder that they are in; `nil` when the place is one spool.
        var collection: FileStatus.Identity?
    }

    func listing() throws(FileError) -> Listing {
        guard isCollection else { return Listing(folders: [place(path)]) }
        let parent = try Directory.open(path)
        // One that cannot be examined now counts as a spool: opening it tells what is wrong with it, and stops no other.
        let folders = try parent.names().filter { !$0.hasPrefix(".") && (try? parent.isDirectory($0)) != false }
            .map { place("\(path)/\($0)") }.filter { lane == nil || (try? Spool.exists(at: $0)) == true }
        return Listing(folders: folders, collection: try parent.identity())
    }
}
