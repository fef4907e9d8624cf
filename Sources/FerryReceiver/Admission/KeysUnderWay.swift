/// The keys of what is being admitted, and those of the segments that it may be halves of: neither a key nor its kin is admitted twice at once.
struct KeysUnderWay {
    private var keys: Set<String> = []
    /// How many of the keys may be halves of each.
    private var wholes: [String: Int] = [:]

    /// Returns whether one of some keys is under way, a half of it, or what it is a half of.
    ///
    /// - Parameter wholes: What the keys may be halves of.
    func hasKin(of keys: Set<String>, _ wholes: Set<String>) -> Bool {
        !self.keys.isDisjoint(with: keys) || !self.keys.isDisjoint(with: wholes) || keys.contains { self.wholes[$0] != nil }
    }

    mutating func begin(_ keys: Set<String>, _ wholes: Set<String>) {
        self.keys.formUnion(keys)
        for whole in wholes { self.wholes[whole, default: 0] += 1 }
    }

    mutating func end(_ keys: Set<String>, _ wholes: Set<String>) {
        self.keys.subtract(keys)
        for whole in wholes {
            guard let count = self.wholes[whole] else { continue }
            self.wholes[whole] = count > 1 ? count - 1 : nil
        }
    }
}
