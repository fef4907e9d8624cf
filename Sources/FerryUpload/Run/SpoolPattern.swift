package import FerrySpool

/// Where spools are: a folder, or those folders in one whose names match (`hub/*`, `hub/web4*`).
public struct SpoolPattern: Hashable, Sendable, CustomStringConvertible {
    private let path: String
    /// What the folders' names in ``path`` match; `nil`: it is one spool.
    private let names: String?
    /// The pattern's text.
    private let text: String

    /// Whether it stands for all spools of a folder that match.
    package var isCollection: Bool { names != nil }

    /// The lane that is meant of each spool; `nil`: the spool itself.
    private var lane: LaneName?

    /// Reads `dir`, `dir/*` or `dir/web*`. In a name with a star, stars stand for any characters and question marks
    /// for one.
    public init(_ text: String) {
        self.text = text
        let slash = text.lastIndex(of: "/")
        let name = slash.map { text[text.index(after: $0)...] } ?? text[...]
        names = name.contains("*") ? String(name) : nil
        let folder = slash.map { text[..<$0] } ?? "."
        path = names == nil ? text : folder.isEmpty ? "/" : String(folder)
    }

    /// Returns the lanes of a name that its spools have, or will have.
    package func lane(_ name: LaneName) -> SpoolPattern {
        var pattern = self
        pattern.lane = name
        return pattern
    }

    /// The pattern as it was given: `dir` or `dir/*`, with the lane, as in `dir/to/hub`.
    public var description: String { place(text) }

    private func place(_ spool: String) -> String { lane.map { Lanes.path(of: $0, in: spool) } ?? spool }

    /// Returns the folders that are there now.
    package func folders() throws(FileError) -> [String] { try listing().folders }

    struct Listing: Sendable {
        var folders: [String]
        /// The folder that they are in; `nil` when the place is one spool.
        var collection: FileStatus.Identity?
    }

    func listing() throws(FileError) -> Listing {
        guard let names else { return Listing(folders: [place(path)]) }
        let parent = try Directory.open(path)
        let prefix = text.hasPrefix("/") && path == "/" ? "/" : text.contains("/") ? path + "/" : ""
        // One that cannot be examined now counts as a spool: opening it tells what is wrong with it, and stops no other.
        let folders = try parent.names()
            .filter { !$0.hasPrefix(".") && NamePattern.matches($0, names) && (try? parent.isDirectory($0)) != false }
            .map { place(prefix + $0) }.filter { lane == nil || (try? Spool.exists(at: $0)) == true }
        return Listing(folders: folders, collection: try parent.identity())
    }
}
