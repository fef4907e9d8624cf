/// What `sent/` holds.
package struct KeptSegments: Equatable, Sendable {
    /// How many segments there are.
    package private(set) var segments: Int64 = 0
    /// How many bytes they have together.
    package private(set) var bytes = ByteCount.zero
    /// The first day, as in `2026-11-21`; `nil`: there is none.
    package fileprivate(set) var firstDay: String?
    /// Whether there are more than were looked at.
    package fileprivate(set) var isMore = false
}

extension SentFolder {
    /// Counts the delivered segments that are kept.
    ///
    /// - Parameters:
    ///   - most: How many files are looked at: a folder of millions would take longer than all else.
    ///   - note: Called with each folder that cannot be read.
    package func kept(most: Int = 200_000, note: (FileError) -> Void) -> KeptSegments {
        var kept = KeptSegments()
        for folder in spool.sentDays(note: note) {
            guard let day = DeliveryDay(folder) else { continue }
            if day.name < kept.firstDay ?? "~" { kept.firstDay = day.name }
            if kept.segments >= most {
                kept.isMore = true
                continue
            }
            var pruning = SentPruning()
            for file in day.files(&pruning) { kept.add(file.size) }
            pruning.problems.forEach(note)
        }
        return kept
    }
}

extension KeptSegments {
    fileprivate mutating func add(_ size: ByteCount) {
        segments += 1
        bytes += size
    }
}
