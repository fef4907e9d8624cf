/// What a person set for a spool: the file `.ferry/control.json`.
public struct ControlFile: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// The file's name in ``Spool/stateFolderName``.
    package static let fileName = "control.json"

    /// For messages.
    package var path: String { "\(spool.path)/\(Spool.stateFolderName)/\(Self.fileName)" }

    /// Returns when the file was last changed; `nil` when there is none.
    package func changed() throws(FileError) -> Timestamp? { try spool.stateDirectory?.status(Self.fileName)?.changed }

    /// Returns the content of the control file; everything is allowed when there is no file. One that is there and says nothing that can be
    /// understood counts as a pause, with a warning: nothing is sent that was to wait, and producers still store.
    public func read(warn: (UnreadableState) -> Void = { _ in }) throws(FileError) -> SpoolControl {
        guard let stateDirectory = spool.stateDirectory else { return SpoolControl() }
        var isUnreadable = false
        let control = try stateDirectory.readStateOfAnyKind(SpoolControl.self, from: Self.fileName) {
            isUnreadable = true
            var state = $0
            state.countsAs = .paused
            warn(state)
        }
        return control ?? (isUnreadable ? .unreadable : SpoolControl())
    }

    /// Changes the spool's control file, durably. Changes by several processes at once follow one another, and none is lost.
    public func change(at now: Timestamp, _ change: (inout SpoolControl) -> Void) throws(FileError) -> SpoolControl {
        try spool.whileLocked { state throws(FileError) in
            let before = try read()
            var control = before
            change(&control)
            // It must not come to life again when the clock has come near.
            control.deletesBefore = control.deletes(at: now)
            control.changedAt = now
            control.isUnreadable = false
            // What waits on a full disk must be let go.
            do throws(FileError) {
                try spool.room.lendingReserve { () throws(FileError) in
                    try state.writeState(control, to: Self.fileName, durable: true)
                }
            } catch {
                // What is paused on a full disk would stay so for ever. No file means that everything is allowed, and needs no room.
                guard error.isDiskFull else { throw error }
                if (try? state.overwriteState(control, in: Self.fileName)) == true { return control }
                guard !control.stopsSending, control.flushRequestedAt == before.flushRequestedAt, control.deletesBefore == nil
                else { throw error }
                try state.remove(Self.fileName)
                try state.sync()
            }
            return control
        }
    }
}

extension Spool {
    /// What a person set for the spool.
    public var control: ControlFile { ControlFile(spool: self) }
}
