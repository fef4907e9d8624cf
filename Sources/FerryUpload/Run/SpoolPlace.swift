public import FerrySpool

/// Where spools are: a folder, or all folders in one (`hub/*`).
public struct SpoolPlace: Hashable, Sendable, CustomStringConvertible {
    private let path: String
    /// Every folder in it is a spool.
    public let isCollection: Bool

    /// Reads `dir` or `dir/*`.
    public init(_ text: String) {
        isCollection = text.hasSuffix("/*")
        path = isCollection ? String(text.dropLast(2)) : text
    }

    public var description: String { isCollection ? path + "/*" : path }

    /// The folders that are there now.
    public func folders() throws(FileError) -> [String] {
        guard isCollection else { return [path] }
        let parent = try Directory.open(path)
        return try parent.names().filter { !$0.hasPrefix(".") && parent.isDirectory($0) }.map { "\(path)/\($0)" }
    }
}
