import FoundationEssentials
import Glibc

/// A state file that could not be read, and what it counts as.
public struct UnreadableState: Equatable, Sendable, CustomStringConvertible {
    public let path: String
    public let reason: String
    public internal(set) var countsAs = Meaning.absent

    /// What stands for the file's content.
    public enum Meaning: String, Sendable {
        case absent
        /// A control file may have been to pause.
        case paused
    }

    public var description: String { "\(path) is unreadable and counts as \(countsAs): \(reason)" }
}

extension Directory {
    /// Reads a JSON state file. A file that is not there, not JSON or not of this form counts as absent, the latter two with a warning.
    func readState<State: Decodable>(
        _ type: State.Type, from name: String, warn: (UnreadableState) -> Void
    ) throws(FileError) -> State? {
        guard let bytes = try contents(of: name) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            warn(UnreadableState(path: pathOf(name), reason: Self.describe(error)))
            return nil
        }
    }

    /// The same, where also a folder, a link or a pipe of that name counts as absent.
    func readStateOfAnyKind<State: Decodable>(
        _ type: State.Type, from name: String, warn: (UnreadableState) -> Void
    ) throws(FileError) -> State? {
        do throws(FileError) {
            return try readState(type, from: name, warn: warn)
        } catch {
            guard error.isAboutKind else { throw error }
            warn(UnreadableState(path: pathOf(name), reason: "it is no regular file"))
            return nil
        }
    }

    /// Replaces a JSON state file in one step.
    func writeState(_ state: some Encodable, to name: String, durable: Bool = false) throws(FileError) {
        try replace(name, with: Self.encode(state), durable: durable)
    }

    /// Writes a state file, durably, where the one that is there lies: it needs no room for that. A crash in the middle may leave it unreadable.
    ///
    /// - Returns: `false` where it is longer than what the disk has of it for sure, a block.
    func overwriteState(_ state: some Encodable, in name: String) throws(FileError) -> Bool {
        let file = try open(name, flags: O_RDWR | O_NONBLOCK)
        let status = try file.status()
        var bytes = Self.encode(state)
        guard status.isRegular, status.allocated > .zero, bytes.count <= Self.block, status.size.bytes <= Int64(Self.block) else {
            return false
        }
        // What is left of a longer one is space, which JSON may end with.
        bytes.insert(
            contentsOf: repeatElement(UInt8(ascii: " "), count: max(0, Int(status.size.bytes) - bytes.count)), at: bytes.count - 1
        )
        try file.write(bytes, at: 0)
        try file.sync()
        return true
    }

    /// The smallest that file systems give to a file, but for what they keep beside its name.
    private static let block = 512

    static func encode(_ state: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(state) else { preconditionFailure("state files hold nothing but text and numbers") }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    private static func describe(_ error: any Error) -> String {
        switch error {
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context):
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
        case DecodingError.keyNotFound(let key, _): return "key '\(key.stringValue)' is missing"
        default: return "\(error)"
        }
    }
}

extension Claim {
    /// Whether it is what a sidecar is about. The whole file is read only where its time says that it may be another.
    fileprivate func has(_ content: RetryState.Content?) throws(FileError) -> Bool {
        guard let content, segmentName == nil else { return true }
        guard content.bytes == status.size.bytes else { return false }
        if content.modified == status.modified { return true }
        return try digest().hexadecimal == content.sha256
    }
}

extension Spool {
    static func sidecarName(of segment: String) -> String { "\(ForeignName.stem(of: segment))\(EntryKind.sidecarSuffix)" }

    /// The retry state of a segment, `nil` when it has none that can be read.
    public func sidecar(
        of segment: String, warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> RetryState? {
        let state = try directory.readStateOfAnyKind(RetryState.self, from: Self.sidecarName(of: segment), warn: warn)
        guard let content = state?.content, let size = try directory.status(segment)?.size.bytes else { return state }
        return size == content.bytes ? state : nil
    }

    /// The retry state of a claimed segment. That of another content, which a file from another tool had under its name, is removed.
    public func sidecar(of claim: Claim, warn: (UnreadableState) -> Void = { _ in }) throws(FileError) -> RetryState? {
        let name = Self.sidecarName(of: claim.name)
        guard let state = try directory.readStateOfAnyKind(RetryState.self, from: name, warn: warn) else { return nil }
        if try claim.has(state.content) { return state }
        try removeSidecar(of: claim.name)
        return nil
    }

    /// Where a sidecar's block comes from on a full disk.
    public enum SidecarRoom: Sendable {
        /// A part of the reserve.
        case reserve
        /// A part of the reserve that splits can do without: for a sidecar that can be done without. Where all segments are too large for the
        /// destination, nothing but splits makes room.
        case reserveButForSplits
        /// One block of the reserve after the other, where the ledger has its share: for one of many.
        case blocks
    }

    /// Only the holder of the segment's claim may write it. On a full disk it takes a part of the reserve, or is written where it lies.
    public func writeSidecar(
        _ state: RetryState, of claim: Claim, with room: SidecarRoom = .reserve
    ) throws(FileError) {
        var state = state
        if claim.segmentName == nil {
            state.content = RetryState.Content(
                bytes: claim.status.size.bytes, modified: claim.status.modified,
                sha256: (try? claim.digest().hexadecimal) ?? "")
        }
        let name = Self.sidecarName(of: claim.name)
        do throws(FileError) {
            func write() throws(FileError) { try directory.writeState(state, to: name) }
            switch room {
            case .reserve: try lendingReserve(write)
            case .reserveButForSplits: try lendingReserve(leavesSplitItsShare: true, write)
            case .blocks: try lendingBlocksOfReserve(write)
            }
        } catch {
            // One that is there needs no room.
            guard error.isDiskFull else { throw error }
            if (try? directory.overwriteState(state, in: name)) == true { return }
            guard room == .blocks, turnReserveIntoSidecar(name, Directory.encode(state)) else { throw error }
        }
    }

    /// A folder of its name counts as absent, and stays.
    package func removeSidecar(of segment: String) throws(FileError) {
        do throws(FileError) {
            try directory.remove(Self.sidecarName(of: segment))
        } catch {
            guard error.isAboutKind else { throw error }
        }
    }

    /// What is known of a destination's health, `nil` when it is well or was never tried.
    ///
    /// - Parameter id: A name for the destination that is the same in every process, of characters that file names may have.
    public func destinationState(
        _ id: String, warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> RetryState? {
        try stateDirectory?.readStateOfAnyKind(RetryState.self, from: "destination-\(id).json", warn: warn)
    }

    /// `nil` forgets it: the destination is well.
    public func setDestinationState(_ state: RetryState?, _ id: String) throws(FileError) {
        guard let stateDirectory else { return }
        let name = "destination-\(id).json"
        guard let state else { return try stateDirectory.remove(name) }
        // On a full disk the next process has to know whom it may have to spare: what is sent makes room.
        do throws(FileError) {
            try lendingReserve { () throws(FileError) in try stateDirectory.writeState(state, to: name) }
        } catch {
            guard error.isDiskFull, (try? stateDirectory.overwriteState(state, in: name)) == true else { throw error }
        }
    }

    /// Every destination that is not well, by the ID in its file's name.
    ///
    /// - Parameter note: Called with what cannot be read; it counts as well.
    public func destinationStates(note: (FileError) -> Void) -> [(id: String, state: RetryState)] {
        guard let stateDirectory else { return [] }
        var states: [(id: String, state: RetryState)] = []
        do throws(FileError) {
            for name in try stateDirectory.names() where name.hasPrefix("destination-") && name.hasSuffix(".json") {
                let id = String(name.dropFirst("destination-".count).dropLast(".json".count))
                do throws(FileError) {
                    if let state = try destinationState(id) { states.append((id, state)) }
                } catch {
                    note(error)
                }
            }
        } catch {
            note(error)
        }
        return states
    }

    /// Every destination that is not well, by the ID in its file's name.
    public func destinationStates() throws(FileError) -> [(id: String, state: RetryState)] {
        var failure: FileError?
        let states = destinationStates { failure = failure ?? $0 }
        if let failure { throw failure }
        return states
    }
}

extension Spool {
    /// A state file of somebody who keeps a spool for a purpose of their own; `nil` when there is none that can be read.
    public func state<State: Decodable>(_ type: State.Type, named name: String) throws(FileError) -> State? {
        try stateDirectory?.readState(type, from: name, warn: { _ in })
    }

    /// Where the disk is full, with a part of the reserve: what is noted may be what frees it.
    public func setState(_ state: some Encodable, named name: String, isDurable: Bool) throws(FileError) {
        try lendingReserve { () throws(FileError) in try stateDirectory?.writeState(state, to: name, durable: isDurable) }
    }

    /// The whole content of such a file, whatever its form and length.
    package func stateBytes(named name: String) throws(FileError) -> [UInt8]? {
        try stateDirectory?.contents(of: name, limit: .mebibytes(4096))
    }

    /// Replaces it in one step, durably.
    package func setStateBytes(_ bytes: [UInt8], named name: String) throws(FileError) {
        try stateDirectory?.replace(name, with: bytes, durable: true)
    }

    /// Deletes a spool of no further use, unless it still holds segments, rejected ones included.
    public func removeIfEmpty() throws(FileError) {
        guard try scan().entries.isEmpty, try rejected().isEmpty else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw FileError("remove", path)
        }
    }
}
