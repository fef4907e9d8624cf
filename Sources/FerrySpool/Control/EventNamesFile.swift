/// The names that a spool's events had so far: the file `.ferry/names.json`.
package struct EventNamesFile: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    private static let fileName = "names.json"

    /// Returns the names that events had, in the order in which they came; none where that cannot be read.
    package func all() -> [String] { content().names }

    private func content() -> EventNames {
        ((try? spool.stateDirectory?.readStateOfAnyKind(EventNames.self, from: Self.fileName) { _ in }) ?? nil) ?? EventNames()
    }

    /// Notes a name. Several processes may do that at once.
    ///
    /// - Parameter limit: The most names that there may be.
    /// - Returns: Whether it is one of them now.
    package func note(_ name: String, limit: Int) throws(FileError) -> Bool {
        try spool.whileLocked { state throws(FileError) in
            var known = content()
            let before = known
            let isAdmitted = known.admit(name, limit: limit)
            if known != before { try state.writeState(known, to: Self.fileName) }
            return isAdmitted
        }
    }
}

extension Spool {
    /// The names that events had so far.
    package var eventNames: EventNamesFile { EventNamesFile(spool: self) }
}
