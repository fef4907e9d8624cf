/// Why a bundle's manifest cannot be used.
public struct BundleManifestError: Error, Equatable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// What is wrong with it, for people.
    public let reason: String
    /// The line and the reason, for people.
    public var description: String { "line \(line) of the manifest \(reason)" }
}
