/// The names of a spool's folders, and of the files beside a segment.
extension Spool {
    /// The folder in a spool for what is no segment.
    package static let stateFolderName = ".ferry"

    /// The folder in a spool for delivered segments.
    package static let sentName = "sent"

    /// The folder in a spool for rejected segments.
    package static let rejectedName = "rejected"

    /// The folder in a spool for the lanes of its destinations, where it has several.
    package static let lanesName = "to"

    /// The file in ``stateFolderName`` that makes a spool a lane. Its bytes are locked for the lane's claims.
    package static let laneMarkName = "lane"

    static func sidecarName(of segment: String) -> String { "\(ForeignName.stem(of: segment))\(EntryKind.sidecarSuffix)" }

    static func reasonName(of segment: String) -> String { "\(ForeignName.stem(of: segment)).reason.json" }
}
