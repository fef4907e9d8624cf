import Glibc

/// The file `.ferry/history` of a spool. It is no promise: it is not forced to the disk, and what cannot be read is begun anew.
package struct HistoryFile: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    private static let fileName = "history"

    /// Returns the history; `nil` where there is none that can be read.
    package func read() -> SpoolHistory? {
        guard let file = try? spool.stateDirectory?.open(Self.fileName), (try? file.status().isRegular) == true else {
            return nil
        }
        return try? Self.read(file)
    }

    private static func read(_ file: OpenFile) throws(FileError) -> SpoolHistory? {
        // A byte more shows that it is longer.
        SpoolHistory(try file.readBytes(SpoolHistory.size + 1, at: 0))
    }

    /// Notes a step. Several processes may; of one minute the larger numbers count.
    ///
    /// A file that is none is moved aside, to `history~1`, and one begun anew.
    package func note(_ step: HistoryStep, at minute: HistoryMinute) throws(FileError) {
        guard let state = spool.stateDirectory else {
            throw spool.stateFailure ?? FileError("write into", spool.path, code: EROFS)
        }
        let file: OpenFile
        do throws(FileError) { file = try state.open(Self.fileName, flags: O_RDWR | O_NONBLOCK) } catch {
            guard error.code == ENOENT || error.isAboutKind else { throw error }
            return try begin(step, minute, in: state, isThere: error.code != ENOENT)
        }
        guard try file.status().isRegular else { return try begin(step, minute, in: state, isThere: true) }
        try file.lock(within: Self.patience)
        guard let known = try Self.read(file) else { return try begin(step, minute, in: state, isThere: true) }
        var history = known
        history.note(step, at: minute)
        for change in history.changes(since: known) { try file.write(change.bytes, at: change.offset) }
    }

    /// Another process holds it for as long as a step takes.
    private static let patience = Duration.seconds(1)

    private func begin(
        _ step: HistoryStep, _ minute: HistoryMinute, in state: Directory, isThere: Bool
    ) throws(FileError) {
        if isThere { try state.renameOverAnything(Self.fileName, to: "\(Self.fileName)~1") }
        var history = SpoolHistory(at: minute)
        history.note(step, at: minute)
        try state.replace(Self.fileName, with: history.bytes, durable: false)
    }
}

extension Spool {
    /// How the spool stood in each minute of the last week.
    package var history: HistoryFile { HistoryFile(spool: self) }
}
