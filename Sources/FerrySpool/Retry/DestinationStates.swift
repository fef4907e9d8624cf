/// The retry states of destinations: the files `.ferry/destination-ID.json`.
package struct DestinationStates: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Returns what is known of a destination's health, `nil` when it is well or was never tried.
    ///
    /// - Parameter id: A name for the destination that is the same in every process, of characters that file names may have.
    package func state(
        _ id: String, warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> RetryState? {
        try spool.stateDirectory?.readStateOfAnyKind(RetryState.self, from: "destination-\(id).json", warn: warn)
    }

    /// Writes what is known of a destination's health. `nil` forgets it: the destination is well.
    package func setState(_ state: RetryState?, _ id: String) throws(FileError) {
        guard let stateDirectory = spool.stateDirectory else { return }
        let name = "destination-\(id).json"
        guard let state else { return try stateDirectory.remove(name) }
        // On a full disk the next process has to know which destination it may have to spare: what is sent makes room.
        do throws(FileError) {
            try spool.room.lendingReserve { () throws(FileError) in try stateDirectory.writeState(state, to: name) }
        } catch {
            guard error.isDiskFull, (try? stateDirectory.overwriteState(state, in: name)) == true else { throw error }
        }
    }

    /// Returns every destination that is not well, by the ID in its file's name.
    ///
    /// - Parameter note: Called with what cannot be read; it counts as well.
    package func states(note: (FileError) -> Void) -> [(id: String, state: RetryState)] {
        guard let stateDirectory = spool.stateDirectory else { return [] }
        var states: [(id: String, state: RetryState)] = []
        do throws(FileError) {
            for name in try stateDirectory.names() where name.hasPrefix("destination-") && name.hasSuffix(".json") {
                let id = String(name.dropFirst("destination-".count).dropLast(".json".count))
                do throws(FileError) {
                    if let state = try state(id) { states.append((id, state)) }
                } catch {
                    note(error)
                }
            }
        } catch {
            note(error)
        }
        return states
    }

    /// Returns every destination that is not well, by the ID in its file's name.
    package func states() throws(FileError) -> [(id: String, state: RetryState)] {
        var failure: FileError?
        let states = states { failure = failure ?? $0 }
        if let failure { throw failure }
        return states
    }
}

extension Spool {
    /// The retry states of destinations.
    package var destinations: DestinationStates { DestinationStates(spool: self) }
}
