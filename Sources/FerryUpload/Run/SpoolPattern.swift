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

    /// The folder that the spools are in; `nil`: it is one spool.
    package var collection: String? { names == nil ? nil : path }

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

    /// Returns the path that a spool of this name has, or would have; `nil` when the pattern does not mean it.
    package func path(of name: String) -> String? {
        guard let names, !name.hasPrefix("."), NamePattern.matches(name, names) else { return nil }
        return place((text.hasPrefix("/") && path == "/" ? "/" : text.contains("/") ? path + "/" : "") + name)
    }

    struct Listing: Sendable {
        var folders: [String]
        /// The folder that they are in; `nil` when the place is one spool.
        var collection: FileStatus.Identity?
    }

    func listing() throws(FileError) -> Listing {
        guard names != nil else { return Listing(folders: [place(path)]) }
        let parent = try Directory.open(path)
        // One that cannot be examined now counts as a spool: opening it tells what is wrong with it, and stops no other.
        let folders = try parent.names()
            .compactMap { name in path(of: name).flatMap { (try? parent.isDirectory(name)) != false ? $0 : nil } }
            .filter { lane == nil || (try? Spool.exists(at: $0)) == true }
        return Listing(folders: folders, collection: try parent.identity())
    }
}
