import Glibc

/// An export that runs: `.ferry/exports/BUNDLE.making` names its segments, and is locked for as long as the process lives. So no
/// uploader sends them meanwhile, and a process that dies leaves nothing that counts.
public final class ExportUnderWay: Sendable {
    /// The bundle's random ID.
    public let bundle: String
    private let at: Timestamp
    private let spool: Spool
    /// Holds the lock.
    private let file: OpenFile

    fileprivate init(bundle: String, at: Timestamp, spool: Spool, file: OpenFile) {
        self.bundle = bundle
        self.at = at
        self.spool = spool
        self.file = file
    }

    /// The bundle is whole: from now on its receipt is waited for.
    public func finish(_ segments: [ExportMark.Segment]) throws(FileError) {
        try spool.mark(ExportMark(bundle: bundle, at: at, segments: segments))
        try? spool.makeExportsFolder().remove("\(bundle)\(Spool.underWaySuffix)")
    }

    /// There will be no bundle: the segments are due.
    public func cancel() { try? spool.unmark(bundle) }
}

extension Spool {
    /// Marks segments, durably, before their copies leave.
    public func beginExport(of names: [String], at now: Timestamp) throws(FileError) -> ExportUnderWay {
        let folder = try makeExportsFolder()
        while true {
            let bundle = SegmentID.random().text + SegmentID.random().text
            let name = "\(bundle)\(Self.underWaySuffix)"
            guard let file = try folder.createLocked(name) else {
                try folder.remove(name)
                continue
            }
            do throws(FileError) {
                let mark = ExportMark(bundle: bundle, at: now, segments: try names.map(marked))
                try file.write(Self.lines(of: mark))
                try file.sync()
                try folder.sync()
            } catch {
                try? folder.remove(name)
                throw error
            }
            return ExportUnderWay(bundle: bundle, at: now, spool: self, file: file)
        }
    }
}

extension Spool {
    /// What is noted of a segment before its checksum is known.
    private func marked(_ name: String) throws(FileError) -> ExportMark.Segment {
        ExportMark.Segment(name: name, sha256: "", file: try directory.status(name).map { ExportedFile($0) })
    }
}

extension OpenFile {
    /// Whether a process holds the exclusive lock. Asking keeps no other reader from asking. Where there are no locks, the answer is yes.
    var isHeld: Bool {
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return true }
        flock(descriptor, LOCK_UN)
        return false
    }
}
