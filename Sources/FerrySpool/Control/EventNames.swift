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
