/// The names that a spool's events had so far: the content of `.ferry/names.json`, where trackers count them over starts.
struct EventNames: Codable, Equatable {
    /// The format's version.
    var version = 1
    var names: [String] = []

    /// Adds a name, unless there are as many as there may be.
    ///
    /// - Returns: Whether it is one of them.
    mutating func admit(_ name: String, limit: Int) -> Bool {
        if names.contains(name) { return true }
        guard names.count < limit else { return false }
        names.append(name)
        return true
    }
}

extension Spool {
    private static let namesName = "names.json"

    /// Returns the names that events had, in the order in which they came; none where that cannot be read.
    public func eventNames() -> [String] { knownNames().names }

    private func knownNames() -> EventNames {
        ((try? stateDirectory?.readStateOfAnyKind(EventNames.self, from: Self.namesName) { _ in }) ?? nil) ?? EventNames()
    }

    /// Notes a name. Several processes may do that at once.
    ///
    /// - Parameter limit: The most names that there may be.
    /// - Returns: Whether it is one of them now.
    public func noteEventName(_ name: String, limit: Int) throws(FileError) -> Bool {
        try whileLocked { state throws(FileError) in
            var known = knownNames()
            let before = known
            let isAdmitted = known.admit(name, limit: limit)
            if known != before { try state.writeState(known, to: Self.namesName) }
            return isAdmitted
        }
    }
}
