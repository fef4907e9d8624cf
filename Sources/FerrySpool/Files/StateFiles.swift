import FoundationEssentials
import Glibc

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

    /// Does the same, where also a folder, a link or a pipe of that name counts as absent.
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
        try replace(name, with: JSONLine.encode(state), durable: durable)
    }

    /// Writes a state file, durably, where the one that is there lies: it needs no room for that. A crash in the middle may leave it unreadable.
    ///
    /// - Returns: `false` where it is longer than what the disk has of it for sure, a block.
    func overwriteState(_ state: some Encodable, in name: String) throws(FileError) -> Bool {
        let file = try open(name, flags: O_RDWR | O_NONBLOCK)
        let status = try file.status()
        var bytes = JSONLine.encode(state)
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
