/// The names that events had so far.
struct NameRegister {
    private var names: Set<String>

    init(_ names: [String] = []) { self.names = Set(names) }

    enum Answer {
        case known
        case new
        case refused
    }

    /// Returns whether an event of this name may be stored.
    mutating func admit(_ name: String, _ limit: EventLimits.Limit) -> Answer {
        if limit.policy == .off || names.contains(name) { return .known }
        guard names.count < limit.maximum else { return .refused }
        names.insert(name)
        return .new
    }

    mutating func forget(_ name: String) { names.remove(name) }
}
