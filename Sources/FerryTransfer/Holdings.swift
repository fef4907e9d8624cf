import FerryIntake
import FerrySpool

/// Which keys a hub has the bytes of.
///
/// The log says which keys came; a key counts only if what came with it is here, or has ended as the ledger tells. A line in the log
/// alone vouches for nothing.
struct Holdings {
    private let hub: Spool
    private let keys: Set<String>
    private var entries: [String: ReceivedEntry] = [:]
    private var place = ReceivedLogPlace()
    /// Read when they are first asked for.
    private var days: [Directory]?
    private var ended: Set<String>?

    /// - Parameter keys: The keys that will be asked for.
    init(of hub: Spool, keys: Set<String>) throws(FileError) {
        self.hub = hub
        self.keys = keys
        try readLog()
    }

    private mutating func readLog() throws(FileError) {
        guard !keys.isEmpty else { return }
        var new: [ReceivedEntry] = []
        try hub.forEachReceived(after: &place) { [keys] entry in if keys.contains(entry.key) { new.append(entry) } }
        for entry in new { entries[entry.key] = entry }
    }

    /// Reads what was logged, and sent on, since the last look.
    mutating func lookAgain() throws(FileError) {
        try readLog()
        days = nil
        ended = nil
    }

    /// The digest of what came with a key; `nil` when the hub does not have it.
    mutating func digest(of key: String) throws(FileError) -> BodyDigest? {
        guard let entry = entries[key], try isHere(entry) else { return nil }
        return BodyDigest(hexadecimal: entry.sha256)
    }

    mutating func add(_ entry: ReceivedEntry) { entries[entry.key] = entry }

    private mutating func isHere(_ entry: ReceivedEntry) throws(FileError) -> Bool {
        // Logged, and about to get its name; looked for first, since it moves from here to there.
        if let file = entry.file, holds(file, entry, in: hub.directory) { return true }
        if holds(entry.segment, entry, in: hub.directory) { return true }
        // What cannot be looked into holds nothing that could be vouched for.
        if days == nil { days = hub.sentDays { _ in } }
        if let days, days.contains(where: { (try? $0.contains(entry.segment)) == true }) { return true }
        if let rejected = try hub.rejectedFolder(), try rejected.contains(entry.segment) { return true }
        if ended == nil { ended = try hub.endedSegments() }
        return ended?.contains(entry.segment) ?? false
    }

    private func holds(_ name: String, _ entry: ReceivedEntry, in folder: Directory) -> Bool {
        guard let status = (try? folder.status(name)) ?? nil else { return false }
        return status.isRegular && status.size == ByteCount(entry.bytes)
    }
}
