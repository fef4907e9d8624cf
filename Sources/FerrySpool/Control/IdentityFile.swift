/// Who the events of a spool's trackers come from: the file `.ferry/identity.json`.
package struct IdentityFile: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    private static let fileName = "identity.json"

    /// Returns the spool's identity, made when it has none that can be read. A file that cannot be understood is kept under another name
    /// (`identity.json~1`).
    ///
    /// - Returns: Also whether it was made just now: the first start.
    package func read(
        orNew fresh: SpoolIdentity, warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> (identity: SpoolIdentity, isNew: Bool) {
        guard let stateDirectory = spool.stateDirectory else { return (fresh, true) }
        if let known = try stateDirectory.readStateOfAnyKind(SpoolIdentity.self, from: Self.fileName, warn: warn) {
            return (known, false)
        }
        if try stateDirectory.contains(Self.fileName) { try setDamagedAside() }
        // Several processes may open a new spool at once: the first one decides.
        var isFirst = false
        try spool.room.lendingReserve { () throws(FileError) in
            isFirst = try stateDirectory.createOnce(Self.fileName, with: JSONLine.encode(fresh))
        }
        return (try stateDirectory.readState(SpoolIdentity.self, from: Self.fileName, warn: warn) ?? fresh, isFirst)
    }

    private func setDamagedAside() throws(FileError) {
        try spool.whileLocked { state throws(FileError) in
            // Another process may have made a new one meanwhile.
            let known = try state.readStateOfAnyKind(SpoolIdentity.self, from: Self.fileName, warn: { _ in })
            guard known == nil, try state.contains(Self.fileName) else { return }
            try state.moveAside(Self.fileName, into: state)
        }
    }

    /// Writes the spool's identity, durably.
    package func write(_ identity: SpoolIdentity) throws(FileError) {
        try spool.stateDirectory?.writeState(identity, to: Self.fileName, durable: true)
    }
}

extension Spool {
    /// Who the events of the spool's trackers come from.
    package var identity: IdentityFile { IdentityFile(spool: self) }
}
