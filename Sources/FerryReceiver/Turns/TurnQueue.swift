/// Items of several owners, who take turns: one that has many waits no longer for its next than one that has few.
struct TurnQueue<Item> {
    private var items: [String: [Item].SubSequence] = [:]
    /// Those that have items, in the order of their turns.
    private var owners: ArraySlice<String> = []

    mutating func append(_ item: Item, for owner: String) {
        if items[owner, default: []].isEmpty { owners.append(owner) }
        items[owner, default: []].append(item)
    }

    var isEmpty: Bool { owners.isEmpty }

    /// Returns how many owners have items, but for some.
    func owners(besides passed: Set<String>) -> Int { owners.count { !passed.contains($0) } }

    /// Takes out the next item of the owner that has waited longest, but for some.
    mutating func next(besides passed: Set<String> = []) -> (owner: String, item: Item)? {
        guard let place = owners.firstIndex(where: { !passed.contains($0) }) else { return nil }
        let owner = owners.remove(at: place)
        guard let item = items[owner]?.popFirst() else { return nil }
        if items[owner]?.isEmpty ?? true { items[owner] = nil } else { owners.append(owner) }
        return (owner, item)
    }
}
