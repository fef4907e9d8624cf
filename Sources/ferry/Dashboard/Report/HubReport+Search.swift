import FerrySpool

extension HubReport {
    /// What a person looks for: all words of it, in any order, upper or lower case.
    struct Search: Sendable, Equatable {
        /// As it was typed, cut.
        let text: String
        private let words: [String]

        static let longest = 200

        init(_ text: String) {
            self.text = String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.longest)))
            words = self.text.lowercased().split(whereSeparator: \.isWhitespace).prefix(10).map(String.init)
        }

        var isEmpty: Bool { words.isEmpty }

        /// Returns whether each word is in one of the texts.
        func finds(_ texts: [String?]) -> Bool {
            if words.isEmpty { return true }
            // What is longer is not shown either.
            let texts = texts.compactMap { $0.map { $0.prefix(2000).lowercased() } }
            return words.allSatisfy { word in texts.contains { $0.contains(word) } }
        }
    }

    /// Returns the report with what a search finds: machines, rejected segments, destinations and endings. Totals and plots are of what is found.
    func matching(_ search: Search) -> HubReport {
        guard !search.isEmpty else { return self }
        var found = self
        found.machines = machines.filter { machine in
            search.finds([machine.name, machine.path] + machine.conditions.flatMap { [$0.title, $0.why] })
        }
        found.rejected = rejected.filter { search.finds([$0.machine, $0.segment, $0.reason?.message, $0.firstLine]) }
        found.rejectedCount = Int64(found.rejected.count)
        found.senders = senders.filter { search.finds([$0.id]) }
        found.destinations = destinations.filter { search.finds([$0.url, $0.lastAnswer]) }
        found.endings = endings.filter {
            search.finds([$0.machine, $0.entry.segment, $0.entry.outcome.rawValue, $0.entry.destination, $0.entry.detail])
        }
        found.day = found.machines.reduce(into: DayHistory(nil, until: HistoryMinute(at))) { $0.add($1.day) }
        return found
    }
}
