import Glibc

extension ExportsFolder {
    /// The folder in ``Spool/stateFolderName`` that the marks lie in.
    package static let folderName = "exports"

    static let markSuffix = ".jsonl"
    static let underWaySuffix = ".making"

    private struct Head: Codable {
        var version = 1
        var bundle: String
        var at: Timestamp
    }

    /// Returns the lines of a mark.
    static func lines(of mark: ExportMark) -> [UInt8] {
        JSONLine.encode(Head(bundle: mark.bundle, at: mark.at)) + mark.segments.flatMap { JSONLine.encode($0) }
    }

    /// Marks the segments of a bundle that is whole, durably.
    package func mark(_ mark: ExportMark) throws(FileError) {
        try makeFolder().replace("\(mark.bundle)\(Self.markSuffix)", with: Self.lines(of: mark), durable: true)
    }

    /// Forgets a mark: what of its segments is still pending is sent and exported again.
    package func unmark(_ bundle: String) throws(FileError) {
        guard let folder = try folder() else { return }
        try folder.remove("\(bundle)\(Self.markSuffix)")
        try folder.remove("\(bundle)\(Self.underWaySuffix)")
        try folder.sync()
    }

    /// Returns the marks that count, oldest first.
    package func marks(warn: (UnreadableState) -> Void = { _ in }) throws(FileError) -> [ExportMark] {
        try allMarks(warn: warn).filter { $0.state != .void }
    }

    /// Returns all marks, those of dead exports included, oldest first. A file or line that cannot be read counts as absent, the file with a
    /// warning.
    package func allMarks(warn: (UnreadableState) -> Void = { _ in }) throws(FileError) -> [ExportMark] {
        guard let folder = try folder() else { return [] }
        var marks: [ExportMark] = []
        for name in try folder.names() where !name.hasPrefix(".") {
            var (name, isUnderWay) = (name, name.hasSuffix(Self.underWaySuffix))
            guard isUnderWay || name.hasSuffix(Self.markSuffix) else { continue }
            do throws(FileError) {
                var found = try folder.open(name)
                if found == nil, isUnderWay {
                    // The export has ended since the folder was listed.
                    (name, isUnderWay) = (name.dropLast(Self.underWaySuffix.count) + Self.markSuffix, false)
                    found = try folder.open(name)
                }
                guard let file = found, var mark = try Self.readMark(file) else { continue }
                // A bundle's ID is the name of its mark: nothing in the file leads elsewhere.
                guard name == mark.bundle + (isUnderWay ? Self.underWaySuffix : Self.markSuffix) else { continue }
                if isUnderWay {
                    mark.state = file.isHeld ? .underWay : .void
                } else if mark.segments.contains(where: \.sha256.isEmpty) {
                    // Earlier versions marked first and added the checksums when they were known.
                    mark.state = .void
                }
                marks.append(mark)
            } catch {
                warn(UnreadableState(path: folder.pathOf(name), reason: error.description))
            }
        }
        // The whole one counts where a crash left both.
        let complete = Set(marks.filter { $0.state == .complete }.map(\.bundle))
        return marks.filter { $0.state == .complete || !complete.contains($0.bundle) }.sorted { $0.at < $1.at }
    }

    static func readMark(_ file: OpenFile) throws(FileError) -> ExportMark? {
        var mark: ExportMark?
        try file.forEachLine { line in
            if mark == nil {
                mark = JSONLine.decode(Head.self, line).map { ExportMark(bundle: $0.bundle, at: $0.at, segments: []) }
            } else if let segment = JSONLine.decode(ExportMark.Segment.self, line) {
                mark?.segments.append(segment)
            }
        }
        return mark
    }

    /// Returns the bundles that pending segments travel in, oldest first.
    package func travellingBundles(warn: (UnreadableState) -> Void = { _ in }) throws(FileError) -> [TravellingBundle] {
        let marks = try marks(warn: warn)
        return zip(marks, try newNames(of: marks)).map { mark, newNames in
            TravellingBundle(
                bundle: mark.bundle, since: mark.at,
                segments: mark.segments.count { newNames[$0.name] != nil || isPending($0, of: mark) },
                isUnderWay: mark.state == .underWay)
        }.filter { $0.segments > 0 }
    }

    /// Changes when marks do, and when an export dies; `nil` when there never were any.
    package func stamp() throws(FileError) -> ExportsStamp? {
        guard let folder = try folder() else { return nil }
        let names = try folder.names()
        let underWay = names.count { name in
            name.hasSuffix(Self.underWaySuffix) && (try? folder.open(name))??.isHeld == true
        }
        return ExportsStamp(changed: try folder.changed(), marks: names, underWay: underWay)
    }

    /// Returns when a mark was last made, filled in or removed; `nil` when there never were any. Unlike ``stamp()`` it takes one look, and
    /// does not see that an export died.
    package func changed() throws(FileError) -> FolderTime? {
        try spool.stateDirectory?.status(Self.folderName).map { FolderTime($0) }
    }

    /// Opens the folder of marks.
    ///
    /// - Returns: `nil` when there never were marks: what is no folder holds none.
    private func folder() throws(FileError) -> Directory? {
        guard let stateDirectory = spool.stateDirectory, try stateDirectory.contains(Self.folderName) else { return nil }
        do throws(FileError) {
            return try stateDirectory.directory(Self.folderName)
        } catch {
            guard error.code == ENOTDIR || error.code == ELOOP else { throw error }
            return nil
        }
    }

    func makeFolder() throws(FileError) -> Directory {
        guard let stateDirectory = spool.stateDirectory else { throw FileError("mark segments of", spool.path, code: EROFS) }
        return try stateDirectory.makeDirectory(Self.folderName)
    }
}
