/// State files in `.ferry/` of a program that keeps a spool for its own purpose.
package struct OwnStateFiles: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Reads a state file of a program that keeps a spool for its own purpose; `nil` when there is none that can be read.
    package func read<State: Decodable>(_ type: State.Type, named name: String) throws(FileError) -> State? {
        try spool.stateDirectory?.readState(type, from: name, warn: { _ in })
    }

    /// Writes such a file; where the disk is full, with a part of the reserve: what is noted may be what frees it.
    package func write(_ state: some Encodable, named name: String, isDurable: Bool) throws(FileError) {
        try spool.room.lendingReserve { () throws(FileError) in
            try spool.stateDirectory?.writeState(state, to: name, durable: isDurable)
        }
    }

    /// Returns the whole content of such a file, of any form and length.
    package func bytes(named name: String) throws(FileError) -> [UInt8]? {
        try spool.stateDirectory?.contents(of: name, limit: .mebibytes(4096))
    }

    /// Replaces it in one step, durably.
    package func writeBytes(_ bytes: [UInt8], named name: String) throws(FileError) {
        try spool.stateDirectory?.replace(name, with: bytes, durable: true)
    }
}

extension Spool {
    /// State files of a program that keeps the spool for its own purpose.
    package var ownState: OwnStateFiles { OwnStateFiles(spool: self) }
}
