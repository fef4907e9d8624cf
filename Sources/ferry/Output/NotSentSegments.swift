import FerrySpool
import FerryUpload

/// Segments that a pass would not send, by reason: each with how many there are, and the first of them.
struct NotSentSegments {
    private struct Group {
        let why: String
        var count = 0
        var first: [String] = []
        /// The earliest end of their waits.
        var until: Timestamp?
    }

    /// In the order in which the reasons came.
    private var groups: [Group] = []

    private static let mostNames = 20

    mutating func add(_ name: String, _ reason: NotSentReason) {
        let (why, until) = reason.forPeople
        let known = groups.firstIndex { $0.why == why }
        let index = known ?? groups.count
        if known == nil { groups.append(Group(why: why)) }
        groups[index].count += 1
        if groups[index].first.count < Self.mostNames { groups[index].first.append(name) }
        if let until { groups[index].until = min(groups[index].until ?? until, until) }
    }

    /// A line for each reason.
    var lines: [String] {
        groups.map { group in
            let more = group.count - group.first.count
            let names = group.first.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
            let end = group.until.map { ", the first until \($0.rfc3339)" } ?? ""
            return "\(counted(group.count, "segment")) not sent, \(group.why)\(end): \(names)"
        }
    }
}

extension NotSentReason {
    /// The reason in words, the same for all segments of it, and when it ends by itself, where that is known.
    fileprivate var forPeople: (why: String, until: Timestamp?) {
        switch self {
        case .standstill(let standstill): (standstill.text, nil)
        case .dropped(let why): ("but deleted first: \(why)", nil)
        case .travels(let bundle): ("travelling in the bundle \(bundle) until its receipt comes", nil)
        case .late: ("held back: past the deadline", nil)
        case .behind(let head): ("behind \(head) in strict order", nil)
        case .overLimit: ("over --limit", nil)
        case .unusable(let error): ("cannot \(error.operation) it: \(error.reason)", nil)
        case .waits(let until): ("backing off after a failure", until)
        case .beingWritten(let until): ("perhaps still being written (a pass waits a few seconds for it)", until)
        case .unfinished(let until): ("no whole gzip file, and perhaps still being written", until)
        }
    }
}
