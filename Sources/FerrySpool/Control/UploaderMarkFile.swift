/// Which uploader runs over a spool: the file `.ferry/uploader.json`.
package struct UploaderMarkFile: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    static let fileName = "uploader.json"

    /// Leaves a mark for as long as the returned holder lives. Of several uploaders the last one's counts.
    ///
    /// - Returns: Also the mark of another uploader that uses the spool.
    package func leave(_ mark: UploaderMark) throws(FileError) -> (holder: UploaderMarkHolder, other: UploaderMark?)? {
        guard let stateDirectory = spool.stateDirectory else { return nil }
        var other: UploaderMark?
        if let known = try read(), known.isRunning, known.mark.process != mark.process { other = known.mark }
        // A file of its own, locked before another process can see it: so there is nothing to wait for.
        let temporary = ".\(Self.fileName).\(SegmentID.random())\(EntryKind.temporarySuffix)"
        do throws(FileError) {
            let file = try stateDirectory.create(temporary)
            _ = file.tryLock()
            try file.write(JSONLine.encode(mark))
            try stateDirectory.renameOverAnything(temporary, to: Self.fileName)
            return (UploaderMarkHolder(mark, file), other)
        } catch {
            try? stateDirectory.remove(temporary)
            throw error
        }
    }

    /// Returns when the mark was last left; `nil` when none ever was.
    package func changed() throws(FileError) -> Timestamp? { try spool.stateDirectory?.status(Self.fileName)?.changed }

    /// Returns the mark of the uploader that runs, or ran last; whether it runs is known for this machine alone. `nil` when none ever did.
    package func read(_ locks: @autoclosure () -> HeldLocks = HeldLocks()) throws(FileError) -> (
        mark: UploaderMark, isRunning: Bool
    )? {
        guard let stateDirectory = spool.stateDirectory,
            let mark = try stateDirectory.readStateOfAnyKind(UploaderMark.self, from: Self.fileName, warn: { _ in }),
            let status = try stateDirectory.status(Self.fileName)
        else { return nil }
        return (mark, mark.isAlive || locks().contains(status.identity, in: stateDirectory))
    }
}

extension Spool {
    /// Which uploader runs over the spool.
    package var uploaderMark: UploaderMarkFile { UploaderMarkFile(spool: self) }
}
