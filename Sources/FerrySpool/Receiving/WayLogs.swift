/// The names of the logs that tell ways, listed again when their folder has changed.
struct WayLogs: Sendable {
    /// Of the last look; `nil` where what it did not see may have the same time.
    private var changed: FolderTime?
    private var stateChanges: Int?
    private(set) var received: [String] = []
    private(set) var ways: [String] = []

    /// Whether nothing has come.
    var isEmpty: Bool { received.isEmpty && ways.isEmpty }

    /// - Returns: Whether the folder could be listed.
    mutating func look(into spool: Spool, _ folder: Directory, stateChanges: Int?) -> Bool {
        if let stateChanges, stateChanges == self.stateChanges { return true }
        do throws(FileError) {
            let changed = try spool.directory.status(Spool.stateFolderName).map { FolderTime($0) }
            if let changed, changed == self.changed {
                self.stateChanges = stateChanges
                return true
            }
            // Looked at first: what is made meanwhile has a later time.
            let settled = changed?.settled(at: .now())
            let names = try folder.names().filter { $0.hasSuffix(".jsonl") }
            received = names.filter { $0.hasPrefix(ReceivedLog.prefix) }
            ways = names.filter { $0.hasPrefix(WayNotes.prefix) }
            (self.changed, self.stateChanges) = (settled, stateChanges)
            return true
        } catch {
            return false
        }
    }
}
