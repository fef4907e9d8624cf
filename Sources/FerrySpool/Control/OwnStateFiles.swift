extension Spool {
    /// Reads a state file of a program that keeps a spool for its own purpose; `nil` when there is none that can be read.
    public func state<State: Decodable>(_ type: State.Type, named name: String) throws(FileError) -> State? {
        try stateDirectory?.readState(type, from: name, warn: { _ in })
    }

    /// Writes such a file; where the disk is full, with a part of the reserve: what is noted may be what frees it.
    public func setState(_ state: some Encodable, named name: String, isDurable: Bool) throws(FileError) {
        try lendingReserve { () throws(FileError) in try stateDirectory?.writeState(state, to: name, durable: isDurable) }
    }

    /// Returns the whole content of such a file, of any form and length.
    package func stateBytes(named name: String) throws(FileError) -> [UInt8]? {
        try stateDirectory?.contents(of: name, limit: .mebibytes(4096))
    }

    /// Replaces it in one step, durably.
    package func setStateBytes(_ bytes: [UInt8], named name: String) throws(FileError) {
        try stateDirectory?.replace(name, with: bytes, durable: true)
    }
}
