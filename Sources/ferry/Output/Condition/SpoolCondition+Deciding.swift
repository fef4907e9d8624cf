import FerrySpool
import FerryUpload

extension SpoolCondition {
    /// How long a bundle may travel, and a spool stay paused, before a person is asked: a stick may be lost, and a pause forgotten.
    static let forgottenAfter = Duration.seconds(7 * 86_400)
    /// How long a destination may be down before a person is asked.
    static let longestOutage = Duration.seconds(86_400)

    private static let longestReason = 1000

    /// Returns what is to be known of a spool, the most troubling first; ``Kind/ok`` when all is well.
    static func all(of facts: SpoolFacts, at now: Timestamp) -> [SpoolCondition] {
        let found = [
            unreadable(facts), rejected(facts), late(facts), silent(facts, now), control(facts, now), waits(facts, now),
            travels(facts, now), ignored(facts),
        ].compactMap(\.self).sorted()
        return found.isEmpty ? [SpoolCondition(kind: .ok)] : found
    }

    /// Returns the same of a spool with its lanes: what is told of all of them is told once.
    static func all(of places: [SpoolFacts], at now: Timestamp) -> [SpoolCondition] {
        var found: [SpoolCondition] = []
        for facts in places {
            for var condition in all(of: facts, at: now) where condition.kind != .ok {
                let isToldOfAll = [.paused, .disabled].contains(condition.kind) && found.contains { $0.kind == condition.kind }
                if isToldOfAll { continue }
                condition.place = facts.lane
                found.append(condition)
            }
        }
        return found.isEmpty ? [SpoolCondition(kind: .ok)] : found.sorted()
    }

    private static func unreadable(_ facts: SpoolFacts) -> SpoolCondition? {
        facts.problem.map { SpoolCondition(kind: .unreadable, why: cut($0), needsPerson: true) }
    }

    private static func rejected(_ facts: SpoolFacts) -> SpoolCondition? {
        guard facts.rejected > 0 else { return nil }
        return SpoolCondition(
            kind: .rejected, count: facts.rejected, why: cut(facts.rejection?.summary ?? "its reason file is missing"),
            since: facts.rejection?.at, remedy: facts.command("status"), needsPerson: true)
    }

    private static func late(_ facts: SpoolFacts) -> SpoolCondition? {
        guard facts.late > 0 else { return nil }
        return SpoolCondition(
            kind: .late, count: facts.late, why: "missed the deadline", since: facts.oldest, remedy: facts.command("list"),
            needsPerson: true)
    }

    private static func silent(_ facts: SpoolFacts, _ now: Timestamp) -> SpoolCondition? {
        // Of a spool that cannot be read nothing is known of what came.
        if let machine = facts.registration, facts.last == nil, !machine.isRevoked, facts.problem == nil, facts.lane == nil {
            return SpoolCondition(
                kind: .silent, why: "nothing has come since the machine was added", since: machine.since,
                remedy: facts.isSilent ? "look whether its uploader runs, and has the token" : nil, needsPerson: facts.isSilent)
        }
        guard facts.isSilent else { return nil }
        return SpoolCondition(
            kind: .silent, why: "silent for longer than usual", since: facts.last,
            remedy: "look at the machine that it comes from", needsPerson: true)
    }

    private static func control(_ facts: SpoolFacts, _ now: Timestamp) -> SpoolCondition? {
        let (control, since) = (facts.control, facts.control.changedAt)
        if control.isUnreadable {
            return SpoolCondition(
                kind: .unreadable, why: "what it was told cannot be read, and may have been to pause", since: since,
                remedy: facts.command("resume"), needsPerson: true)
        }
        if control.isDisabled {
            return SpoolCondition(
                kind: .disabled, why: "it stores and sends nothing", since: since, remedy: facts.command("enable"))
        }
        guard control.isPaused else { return nil }
        return SpoolCondition(
            kind: .paused, why: "it sends nothing", since: since, remedy: facts.command("resume"),
            needsPerson: facts.pending > 0 && since.map { now - $0 > forgottenAfter } ?? false)
    }

    private static func waits(_ facts: SpoolFacts, _ now: Timestamp) -> SpoolCondition? {
        if facts.control.stopsSending { return nil }
        if let failure = facts.failure {
            let mustBeMended = failure.isMisconfiguration
            let isLong = facts.pending > 0 && now - failure.firstAttemptAt > longestOutage
            return SpoolCondition(
                kind: .waits, why: cut(failure.lastError.message), since: failure.firstAttemptAt,
                until: facts.standstill?.until, remedy: mustBeMended ? nil : facts.nextTry,
                needsPerson: mustBeMended || isLong)
        }
        guard let standstill = facts.standstill else { return nil }
        return SpoolCondition(
            kind: .waits, why: cut(standstill.text), until: standstill.until,
            needsPerson: [SendBlocker.off("").kind, SendBlocker.misconfigured(until: now, "").kind].contains(standstill.reason))
    }

    private static func travels(_ facts: SpoolFacts, _ now: Timestamp) -> SpoolCondition? {
        let bundles = facts.travelling.filter { !$0.isUnderWay }
        guard let oldest = bundles.min(by: { $0.since < $1.since }) else { return nil }
        let isForgotten = now - oldest.since > forgottenAfter
        let others = bundles.count > 1 ? ", the oldest of \(bundles.count)" : ""
        return SpoolCondition(
            kind: .travels, count: bundles.reduce(0) { $0.adding(Int64($1.segments)) },
            why: "in bundle \(oldest.bundle)\(others)\(isForgotten ? ": is it lost?" : "")", since: oldest.since,
            remedy: isForgotten
                ? facts.command("export --forget \(oldest.bundle)") : facts.command("acknowledge RECEIPT"),
            needsPerson: isForgotten)
    }

    /// They wait for no person: a tool that copies segments may be writing them.
    private static func ignored(_ facts: SpoolFacts) -> SpoolCondition? {
        guard !facts.others.isEmpty else { return nil }
        return SpoolCondition(
            kind: .ignored, count: Int64(facts.others.count) + Int64(facts.others.misnamed), why: cut(facts.others.description),
            remedy: "make segments of them with ferry write, or take them away")
    }

    private static func cut(_ text: String) -> String {
        text.unicodeScalars.count > longestReason
            ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(longestReason))) + "…" : text
    }
}

extension SpoolFacts {
    /// Returns a command on this spool, as a shell takes it.
    func command(_ words: String) -> String {
        "ferry \(words) --spool \(spool.shellWord)" + (lane.map { " --destination \($0)" } ?? "")
    }

    /// What tries a destination again.
    fileprivate var nextTry: String {
        uploader == nil ? "the next ferry upload tries again, with --retry-now at once" : command("flush") + " tries at once"
    }
}

extension RetryState {
    /// Whether a person must mend something: such a destination is due at once, and every other failure has a wait.
    var isMisconfiguration: Bool { lastError.scope == .destination && nextAttemptAt <= lastAttemptAt }
}
