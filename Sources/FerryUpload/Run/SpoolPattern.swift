package import FerrySpool

/// Where spools are: a folder, or all folders in one (`hub/*`).
public struct SpoolPattern: Hashable, Sendable, CustomStringConvertible {
    private let path: String
    /// Every folder in it is a spool.
    package let isCollection: Bool

    /// Reads `dir` or `dir/*`.
    public init(_ text: String) {
        isCollection = text.hasSuffix("/*")
        path = isCollection ? String(text.dropLast(2)) : text
    }

    /// The pattern as it was given: `dir` or `dir/*`.
    public var description: String { isCollection ? path + "/*" : path }

    /// Returns the folders that are there now.
    package func folders() throws(FileError) -> [String] { try listing().folders }

    struct Listing: Sendable {
        var folders: [String]
        /// The folder that they are in; `nil` when the place is one spool.
        var collection: FileStatus.Identity?
    }

    func listing() throws(FileError) -> Listing {
        guard isCollection else { return Listing(folders: [path]) }
        let parent = try Directory.open(path)
        // One that cannot be examined now counts as a spool: opening it tells what is wrong with it, and stops no other.
        let folders = try parent.names().filter { !$0.hasPrefix(".") && (try? parent.isDirectory($0)) != false }
            .map { "\(path)/\($0)" }
        return Listing(folders: folders, collection: try parent.identity())
    }
}
