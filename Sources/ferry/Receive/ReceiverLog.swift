import FerryReceiver
import FerrySpool

/// A line of a receiver's log.
struct ReceiverLine: Equatable, Sendable {
    let text: String
    /// For programs that read the log as JSON.
    let about: [String: String]
    let isWarning: Bool
}

/// Decides which lines about requests a receiver's log has: however much comes, a line a minute of each sender at most, and of what goes on failing
/// ever fewer, one an hour in the end.
struct ReceiverLog: Sendable {
    /// A sender as the log tells it: of one that has no name its address.
    private struct Origin: Hashable {
        let name: String
        let address: String?

        init(_ sender: Sender) {
            name = sender.name ?? "-"
            address = sender.name == nil ? sender.address : nil
        }
    }

    private struct Refused: Hashable {
        /// `nil`: the receiver itself is the cause, for all senders.
        let origin: Origin?
        let status: Int
        /// Why the receiver, or its store, takes nothing are a few reasons, each of which is told. A sender may cause any number.
        let reason: String?

        init(_ refusal: Refusal) {
            let isOfReceiver = refusal.status == 503
            origin = isOfReceiver ? nil : Origin(refusal.sender)
            status = refusal.status
            reason = isOfReceiver ? refusal.shownReason : nil
        }
    }

    private var received = HeldLines<Origin, ReceivedAmount>(.seconds(60))
    /// Of machines that are known, and of the receiver itself: strangers, of whom there may be any number, hide none of these.
    private var refused = HeldLines<Refused, RefusedAmount>(.seconds(60), upTo: .seconds(3600), mostKinds: 10_000)
    private var strangers = HeldLines<Refused, RefusedAmount>(.seconds(60), upTo: .seconds(3600))
    private var failures = HeldLines<String, RefusedAmount>(.seconds(60), upTo: .seconds(3600))
    /// Whose segments cannot be stored, and since when: of the failures that were told.
    private var failing: [String: ContinuousClock.Instant] = [:]

    /// Returns the lines about something that happened.
    mutating func add(_ event: ReceiverEvent, at now: ContinuousClock.Instant) -> [ReceiverLine] {
        switch event {
        case .received(let segment, let sender):
            let amount = received.next(Origin(sender), ReceivedAmount(segment, from: sender.address), at: now)
            let end = segment.isDuplicate ? nil : failing.removeValue(forKey: sender.place)
            return [end.map { Self.storesAgain(sender, after: now - $0) }, amount?.line(of: sender.name ?? "-")]
                .compactMap(\.self)
        case .refused(let refusal):
            if refusal.isToldAsFailure { return [] }
            let (kind, one) = (Refused(refusal), RefusedAmount(refusal.sender))
            let isKnown = refusal.sender.machine != nil || kind.origin == nil
            guard let amount = isKnown ? refused.next(kind, one, at: now) : strangers.next(kind, one, at: now) else { return [] }
            let text =
                "refused a request of \(refusal.sender.shown) with \(refusal.status): \(refusal.shownReason)\(amount.before)"
            return [ReceiverLine(text: text, about: amount.about(status: refusal.status), isWarning: true)]
        case .failed(let error, let sender):
            // Every sender tries again.
            guard let amount = failures.next("\(error.operation) \(error.code)", RefusedAmount(sender), at: now) else {
                return []
            }
            if failing[sender.place] == nil { failing[sender.place] = now }
            let text = "cannot store what is received from \(sender.shown): \(error)\(amount.before)"
            return [ReceiverLine(text: text, about: amount.about(status: nil), isWarning: true)]
        case .sentDeleted, .keysForgotten, .warning: return []
        }
    }

    /// Returns the lines about what was held back for long enough.
    ///
    /// - Parameter all: Also about the rest.
    mutating func over(all: Bool, at now: ContinuousClock.Instant) -> [ReceiverLine] {
        received.over(all: all, at: now).map { $0.amount.line(of: $0.kind?.name) }
            + (refused.over(all: all, at: now) + strangers.over(all: all, at: now)).map { held in
                let status = held.kind.map { " with \($0.status)" } ?? ""
                let what = "refused \(counted(held.amount.requests, "more request"))"
                let text =
                    if let reason = held.kind?.reason {
                        "\(what)\(status), the last of \(held.amount.sender): \(reason)"
                    } else {
                        "\(what) of \(held.kind == nil ? "other senders, the last of \(held.amount.sender)" : held.amount.sender)\(status)"
                    }
                return ReceiverLine(text: text, about: held.amount.about(status: held.kind?.status), isWarning: true)
            }
            + failures.over(all: all, at: now).map { held in
                let text = "could not store \(counted(held.amount.requests, "more request")), the last of \(held.amount.sender)"
                return ReceiverLine(text: text, about: held.amount.about(status: nil), isWarning: true)
            }
    }

    private static func storesAgain(_ sender: Sender, after time: Duration) -> ReceiverLine {
        ReceiverLine(
            text: "stores again what is received from \(sender.shown), after \(time.forPeople)",
            about: ["machine": sender.name ?? "-", "address": sender.address], isWarning: false)
    }
}

/// How many requests a line is about that were not taken, and where the last of them came from.
struct RefusedAmount: HeldAmount {
    private(set) var requests: Int64 = 0
    private var last: Sender?

    init() {}

    init(_ sender: Sender) { (requests, last) = (1, sender) }

    mutating func add(_ other: RefusedAmount) {
        requests = requests.adding(other.requests)
        last = other.last ?? last
    }

    var sender: String { last?.shown ?? "-" }

    /// How many were held back before, in the words of a line.
    var before: String { requests > 1 ? " (and \(requests - 1) more before)" : "" }

    func about(status: Int?) -> [String: String] {
        var about = ["machine": last?.name ?? "-", "address": last?.address ?? "-", "requests": "\(requests)"]
        about["status"] = status.map { "\($0)" }
        return about
    }
}

extension Sender {
    /// As it stands in a line of the log: `press-7 at 10.0.0.7`.
    var shown: String { "\(name ?? "-") at \(address)" }

    /// The spool that its segments go into, among those of a receiver.
    fileprivate var place: String { machine?.text ?? "" }
}

extension Refusal {
    /// The reason as a line of the log has it.
    fileprivate var shownReason: String { reason.printable(limit: 500) }
}
