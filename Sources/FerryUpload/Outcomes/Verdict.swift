import FerrySpool

/// What a try to deliver a segment means, by any protocol.
public enum Verdict: Equatable, Sendable {
    /// The destination has it. The status is for the ledger; `nil` where there was no answer, as from a folder.
    case delivered(status: Int?)
    /// The destination cannot take anything now; it may have said for how long.
    case unavailable(Reason, retryAfter: Duration?)
    /// Either the destination is unavailable or this segment is poison to it: only another segment can tell.
    case doubtful(Reason)
    /// The destination answers well, and takes this segment only when it comes another way, or where it goes was mended: it goes in a circle, or into a
    /// folder that is closed.
    case circling(Reason)
    /// Nothing can be delivered until a person mends something.
    case misconfigured(Reason)
    /// The destination takes only smaller ones.
    case tooLarge(Reason)
    /// The link broke off before the body was whole, again: its halves may pass.
    case brokenOff(Reason)
    /// The destination does not want this segment, and answers well.
    case refused(Reason, body: String)
    /// The destination is elsewhere.
    case moved(to: String, Reason)
    /// Nothing happened that counts: the pass was stopped, or the file changed under way.
    case withdrawn(Reason)

    /// Why, as sidecars and the ledger hold it.
    public struct Reason: Equatable, Sendable {
        /// A word for programs.
        public var kind: String
        /// The HTTP status; `nil` without an answer.
        public var status: Int?
        /// For people: one line, which holds nothing that a terminal obeys.
        public private(set) var message: String

        /// The door by which the texts of answers, certificates and proxies come in.
        public init(kind: String, status: Int? = nil, message: String) {
            self.kind = kind
            self.status = status
            self.message = message.printable(limit: Self.longest)
        }

        private static let longest = 1000

        /// Returns whether a kind says that there was no connection: no segment was tried.
        static func isOfNoConnection(_ kind: String) -> Bool { ["connect", "proxy", noRoute, noKeys].contains(kind) }

        /// The kind of an answer that lets nothing in, whatever its status.
        static let access = "access"

        /// Whether other credentials may help.
        var isAboutAccess: Bool { kind == Self.access || status == 401 || status == 403 }

        /// The kind of what this machine lacks, not the destination.
        static let noRoute = "no-route"

        /// The kind of what a service lacks that gives keys: nothing was asked of the destination.
        static let noKeys = "no-keys"

        func with(_ hint: String) -> Reason { Reason(kind: kind, status: status, message: message + hint) }
    }
}

extension Verdict {
    /// Returns the same verdict for another reason.
    func with(_ reason: Reason) -> Verdict {
        switch self {
        case .unavailable(_, let retryAfter): .unavailable(reason, retryAfter: retryAfter)
        case .doubtful: .doubtful(reason)
        case .circling: .circling(reason)
        case .misconfigured: .misconfigured(reason)
        case .tooLarge: .tooLarge(reason)
        case .brokenOff: .brokenOff(reason)
        case .refused(_, let body): .refused(reason, body: body)
        case .moved(let place, _): .moved(to: place, reason)
        case .withdrawn: .withdrawn(reason)
        case .delivered: self
        }
    }

    /// Returns it without secrets that the other side said in its answer: reasons are shown, logged and stored.
    func without(_ secrets: [String]) -> Verdict {
        func blotted(_ text: String) -> String { secrets.reduce(text) { $0.replacing($1, with: "…") } }
        guard let reason else { return self }
        let verdict = with(Reason(kind: reason.kind, status: reason.status, message: blotted(reason.message)))
        guard case .refused(let reason, let body) = verdict else { return verdict }
        return .refused(reason, body: blotted(body))
    }

    /// Returns the verdict after an earlier failure of the same try. Where there is no connection any more, the earlier one says more: the
    /// destination was reached, and the segment may be to blame.
    func after(_ earlier: Reason) -> Verdict {
        guard case .unavailable(let reason, retryAfter: nil) = self, ["connect", "proxy"].contains(reason.kind) else {
            return self
        }
        return .unavailable(earlier.with("; then \(reason.message)"), retryAfter: nil)
    }

    /// Whether it is an answer, and no more than that the destination takes nothing now.
    var putsOff: Bool {
        guard case .unavailable(let reason, _) = self else { return false }
        return reason.status != nil
    }

    /// Whether the answer says when to come back, and nothing of what became of the body, as a gateway's that waited in vain. 429, 503 and 507 say that
    /// nothing was taken in.
    var tellsOnlyWhenToComeBack: Bool {
        guard case .unavailable(let reason, retryAfter: .some) = self, let status = reason.status else { return false }
        return status >= 400 && ![429, 503, 507].contains(status)
    }
}
