import FerrySpool

/// What is staged keeps out of sight until its content is on the disk and the position tells of it. What a process leaves that dies before
/// is staged again, from the sources as they are by then; a power cut may have left anything in its place.
extension ReplayRun {
    private static let prefix = ".staged-"

    /// Returns the hidden name of what is staged next.
    func stagedName(of segment: SegmentName) -> String { "\(Self.prefix)\(position.chunks ?? 0)-\(segment.fileName)" }

    /// Notes how far the sources were gone through, and makes what was staged of them segments.
    mutating func commit(sources: Int, unread: [Int], findings: ReplayFindings) throws(FileError) {
        try spool.directory.syncFileSystem()
        try save {
            $0.sources = sources
            $0.unread = unread
            $0.findings = findings
            $0.chunks = ($0.chunks ?? 0) + 1
        }
        try nameStaged()
    }

    /// Makes what the position tells of segments, and removes the rest.
    func nameStaged() throws(FileError) {
        for name in try spool.directory.names() where name.hasPrefix(Self.prefix) {
            let fields = name.dropFirst(Self.prefix.count).split(separator: "-", maxSplits: 1)
            guard fields.count == 2, let chunk = Int(fields[0]) else { continue }
            let isNoted = chunk < position.chunks ?? 0
            if isNoted, try spool.directory.renameWithoutReplacing(name, to: String(fields[1])) { continue }
            try spool.directory.remove(name)
        }
    }
}
