/// An export that runs: `.ferry/exports/BUNDLE.making` names its segments, and is locked for as long as the process lives. So no
/// uploader sends them meanwhile, and a process that dies leaves nothing that counts.
package final class ExportUnderWay: Sendable {
    /// The bundle's random ID.
    package let bundle: String
    private let at: Timestamp
    /// As they were marked.
    private let segments: [ExportMark.Segment]
    /// The names of the segments that were marked.
    package var names: [String] { segments.map(\.name) }
    private let spool: Spool
    /// Holds the lock.
    private let file: OpenFile

    /// As long as a checksum is.
    static let noSum = String(repeating: "0", count: 64)

    fileprivate init(bundle: String, at: Timestamp, segments: [ExportMark.Segment], spool: Spool, file: OpenFile) {
        self.bundle = bundle
        self.at = at
        self.segments = segments
        self.spool = spool
        self.file = file
    }

    /// Ends the export with a whole bundle: from now on its receipt is waited for. The checksums get the places that were kept for them, and the mark
    /// its last name: on a full disk too.
    ///
    /// - Parameter segments: Those that are in the bundle.
    package func finish(_ segments: [ExportMark.Segment]) throws(FileError) {
        guard let bytes = bytes(with: segments) else {
            try spool.exports.mark(ExportMark(bundle: bundle, at: at, segments: segments))
            try? spool.exports.makeFolder().remove("\(bundle)\(ExportsFolder.underWaySuffix)")
            return
        }
        try file.write(bytes, at: 0)
        try file.sync()
        let folder = try spool.exports.makeFolder()
        try folder.rename("\(bundle)\(ExportsFolder.underWaySuffix)", to: "\(bundle)\(ExportsFolder.markSuffix)")
        try folder.sync()
    }

    /// Returns the mark with every line at its place, blank where a segment was left out; `nil` when one has become longer.
    private func bytes(with segments: [ExportMark.Segment]) -> [UInt8]? {
        let whole = Dictionary(segments.map { (FileName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
        var bytes = ExportsFolder.lines(of: ExportMark(bundle: bundle, at: at, segments: []))
        for marked in self.segments {
            let length = JSONLine.encode(marked).count
            let line = whole[marked.name].map { JSONLine.encode($0) } ?? [0x0a]
            guard line.count <= length else { return nil }
            bytes += line.dropLast() + [UInt8](repeating: 0x20, count: length - line.count) + [0x0a]
        }
        return bytes
    }

    /// Takes the mark back: there will be no bundle, and the segments are due.
    package func cancel() { try? spool.exports.unmark(bundle) }
}

extension ExportsFolder {
    /// Marks segments, durably, before their copies leave. On a full disk the mark gets a part of the reserve, which is lent for it.
    ///
    /// Exports at the same time follow one another here: what another one has marked since the segments were chosen is left out.
    ///
    /// - Parameter includesTravelling: Also segments that travel in another bundle.
    package func begin(
        of names: [String], at now: Timestamp, includesTravelling: Bool = false
    ) throws(FileError) -> ExportUnderWay {
        try spool.room.lendingMostOfReserve { () throws(FileError) in
            try spool.whileLocked { _ throws(FileError) in
                try markUnderWay(includesTravelling ? names : staying(names), at: now)
            }
        }
    }

    /// Returns those of some segments that travel in no bundle.
    private func staying(_ names: [String]) throws(FileError) -> [String] {
        guard try !marks().isEmpty else { return names }
        let travelling = try travelling(in: spool.scan())
        return names.filter { entry(of: $0, in: travelling) == nil }
    }

    private func markUnderWay(_ names: [String], at now: Timestamp) throws(FileError) -> ExportUnderWay {
        let folder = try makeFolder()
        while true {
            let bundle = SegmentID.random().text + SegmentID.random().text
            let name = "\(bundle)\(Self.underWaySuffix)"
            guard let file = try folder.createLocked(name) else {
                try folder.remove(name)
                continue
            }
            let segments: [ExportMark.Segment]
            do throws(FileError) {
                segments = try names.map(marked)
                try file.write(Self.lines(of: ExportMark(bundle: bundle, at: now, segments: segments)))
                try file.sync()
                // The file had its name before it had its lines.
                folder.touch()
                try folder.sync()
            } catch {
                try? folder.remove(name)
                throw error
            }
            return ExportUnderWay(bundle: bundle, at: now, segments: segments, spool: spool, file: file)
        }
    }
}

extension ExportsFolder {
    /// Returns what is noted of a segment before its checksum is known.
    private func marked(_ name: String) throws(FileError) -> ExportMark.Segment {
        ExportMark.Segment(
            name: name, sha256: ExportUnderWay.noSum, file: try spool.directory.status(name).map { ExportedFile($0) })
    }
}
