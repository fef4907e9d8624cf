import FerrySpool

/// One thing to know of a spool: what is wrong, since when, why, and what to do.
///
/// Texts of other machines are in it: they are cut, and what shows them escapes them for its own place.
struct SpoolCondition: Equatable, Sendable {
    /// What it is. The most troubling comes first; the raw values are for programs.
    enum Kind: String, CaseIterable, Encodable, Sendable {
        case unreadable, rejected, late, silent, waits, travels, ignored, disabled, paused, ok
    }

    let kind: Kind
    /// How many segments or files it is about; `nil`: about all of them, or none.
    var count: Int64?
    /// The destination among several that it is about; `nil`: the spool itself.
    var place: LaneName?
    /// The reason in words.
    var why: String?
    /// Since when it has been so, where that is known.
    var since: Timestamp?
    /// When it ends by itself, where that is known.
    var until: Timestamp?
    /// What to do: a command, or a sentence.
    var remedy: String?
    /// Whether it stays so until a person does something.
    var needsPerson = false

    /// The condition in one or two words, as in `rejected 3`.
    var title: String {
        switch kind {
        case .unreadable: "cannot be read"
        case .rejected, .late: count.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue
        case .travels: count.map { "travels \($0)" } ?? kind.rawValue
        case .ignored: count.map { "ignores \($0)" } ?? "ignores files"
        case .silent, .waits, .disabled, .paused, .ok: kind.rawValue
        }
    }
}

extension SpoolCondition: Comparable {
    /// Returns whether the left one is more troubling. Of one kind, what has lasted longer is.
    static func < (left: SpoolCondition, right: SpoolCondition) -> Bool {
        if left.needsPerson != right.needsPerson { return left.needsPerson }
        if left.kind != right.kind { return left.kind.rank < right.kind.rank }
        return left.since ?? .distantFuture < right.since ?? .distantFuture
    }
}

extension SpoolCondition.Kind {
    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension SpoolCondition: Encodable {
    private enum CodingKeys: String, CodingKey {
        case kind = "state"
        case count, why, since, until, remedy, needsPerson
        case place = "destination"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(count, forKey: .count)
        try container.encodeIfPresent(place?.text, forKey: .place)
        try container.encodeIfPresent(why, forKey: .why)
        try container.encodeIfPresent(since, forKey: .since)
        try container.encodeIfPresent(until, forKey: .until)
        try container.encodeIfPresent(remedy, forKey: .remedy)
        try container.encode(needsPerson, forKey: .needsPerson)
    }
}
