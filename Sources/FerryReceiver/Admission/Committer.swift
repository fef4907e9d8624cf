import FerryIntake
import FerrySpool

/// Makes what all connections have finished segments, in rounds: the forced writes of one round serve every connection that waits for it.
///
/// The connection that comes first leads a round, with all that came while the round before was under way, and with those whose files are just being
/// forced. Then it hands the lead on.
actor Committer {
    private let spool: Spool
    private let recognition: Recognition
    private(set) var isCommitting = false
    private var waiting: [Waiter] = []
    private var approaching = Approaching()
    /// Who leads the next round, until those are there that approach.
    private var leader: CheckedContinuation<Void, Never>?
    /// What is logged and could not get its name yet.
    private var left: [AdmissionCandidate] = []
    /// `nil`: each segment stays by itself.
    private var gathered: GatheredSegments? { didSet { amount.set(gathered?.bytes ?? .zero) } }
    nonisolated let amount = GatheredAmount()

    /// What one request hands over: the contents of those that are not to be gathered are on the disk.
    typealias Batch = [AdmissionCandidate]
    typealias Outcome = Result<[Commitment], FileError>

    /// What became of a candidate.
    enum Commitment: Sendable {
        case admitted(Admitted)
        /// Other processes made it known meanwhile; its file is removed.
        case known(AdmissionResult)
    }

    private struct Waiter {
        let batch: Batch
        let continuation: CheckedContinuation<Turn, Never>
    }

    private enum Turn {
        case lead
        case done(Outcome)
    }

    init(_ spool: Spool, _ recognition: Recognition, gathering rules: GatherRules? = nil) {
        self.spool = spool
        self.recognition = recognition
        gathered = rules.map { GatheredSegments($0) }
    }

    // No round is under way any more: one holds the committer.
    deinit { gathered?.publishAll(in: spool) }

    /// Makes pending what was gathered for long enough, or all of it.
    func publishGathered(all: Bool) async {
        while isCommitting {
            let turn = await withCheckedContinuation { waiting.append(Waiter(batch: [], continuation: $0)) }
            if case .lead = turn { break }
            // A round has done it.
            if !all { return }
        }
        isCommitting = true
        gathered = await blocking { [spool, gathered] in
            var gathered = gathered
            if all { gathered?.publishAll(in: spool) } else { gathered?.publishDue(in: spool, at: .now) }
            return gathered
        }
        handOn()
    }

    private func handOn() {
        if waiting.isEmpty { isCommitting = false } else { waiting.removeFirst().continuation.resume(returning: .lead) }
    }

    /// Has the next round wait for a batch, which comes after work that takes no longer than a round.
    ///
    /// - Returns: The number that ends the wait, with the batch or without.
    func approach() -> Int { approaching.begin() }

    /// Ends an approach: the batch does not come, or has come.
    func end(_ approach: Int) {
        approaching.end(approach)
        guard approaching.isComplete else { return }
        leader?.resume()
        leader = nil
    }

    /// Returns what became of each; an error that keeps the whole round from being logged is that of every batch.
    ///
    /// - Parameter approach: What ends with it.
    func commit(_ batch: Batch, ending approach: Int? = nil) async -> Outcome {
        if let approach { end(approach) }
        if isCommitting {
            let turn = await withCheckedContinuation { waiting.append(Waiter(batch: batch, continuation: $0)) }
            if case .done(let outcome) = turn { return outcome }
        }
        isCommitting = true
        approaching.beginRound()
        if !approaching.isComplete { await withCheckedContinuation { leader = $0 } }
        let followers = waiting
        waiting = []
        let outcomes: [Outcome]
        (outcomes, left, gathered) = await blocking {
            [spool, recognition, left, gathered, batches = [batch] + followers.map(\.batch)] in
            var (left, gathered) = (left, gathered)
            defer { recognition.keys.tidy() }
            return (Self.round(batches, spool, recognition, left: &left, gathered: &gathered), left, gathered)
        }
        for (follower, outcome) in zip(followers, outcomes.dropFirst()) {
            follower.continuation.resume(returning: .done(outcome))
        }
        handOn()
        return outcomes[0]
    }

    /// Admits or gathers the segments of some batches, after the names that are still missing were given.
    ///
    /// - Parameter left: What is logged and has no name yet.
    private static func round(
        _ batches: [Batch], _ spool: Spool, _ recognition: Recognition, left: inout [AdmissionCandidate],
        gathered: inout GatheredSegments?
    ) -> [Outcome] {
        // Their keys are logged: no sender brings them again.
        left.removeAll { spool.arrivals.finish($0.arrival, as: $0.entry.segment) == .stored }
        let all = batches.flatMap(\.self)
        let isGathered = all.map { $0.isToBeGathered && gathered != nil }
        let single = zip(all, isGathered).filter { !$0.1 }.map(\.0)
        let small = zip(all, isGathered).filter(\.1).map(\.0)
        var singleResults = admit(single, spool, recognition, left: &left)[...]
        var smallResults = gather(small, spool, recognition, &gathered)[...]
        // However many rounds follow one another.
        gathered?.publishDue(in: spool, at: .now)
        var results = isGathered.map { $0 ? smallResults.removeFirst() : singleResults.removeFirst() }[...]
        return batches.map { batch in
            let own = results.prefix(batch.count)
            results = results.dropFirst(batch.count)
            return Result { () throws(FileError) in
                try own.map { (result) throws(FileError) in try result.get() }
            }
        }
    }

    private typealias Single = Result<Commitment, FileError>

    /// What other processes made known meanwhile, as they are asked for under the lock of the log.
    private struct MadeKnown {
        private let byFile: [String: AdmissionCandidate]
        private var results: [String: Result<AdmissionResult, FileError>] = [:]

        init(_ candidates: [AdmissionCandidate]) {
            byFile = Dictionary(candidates.map { ($0.arrival.fileName, $0) }) { first, _ in first }
        }

        mutating func isKnown(_ entry: ReceivedEntry, to recognition: Recognition) -> Bool {
            guard let file = entry.file, let candidate = byFile[file] else { return false }
            do throws(FileError) {
                guard let result = try recognition.result(candidate) else { return false }
                results[file] = .success(result)
            } catch {
                // What cannot be judged is not taken. That is no other request's affair.
                results[file] = .failure(error)
            }
            return true
        }

        func result(_ candidate: AdmissionCandidate) -> Single {
            (results[candidate.arrival.fileName] ?? .success(.conflict)).map { .known($0) }
        }
    }

    private static func admit(
        _ candidates: [AdmissionCandidate], _ spool: Spool, _ recognition: Recognition, left: inout [AdmissionCandidate]
    ) -> [Single] {
        if candidates.isEmpty { return [] }
        var known = MadeKnown(candidates)
        let admitted: [Admitted]
        do throws(FileError) {
            admitted = try spool.arrivals.admit(
                candidates.map { ($0.arrival, $0.entry) }, forcing: .nothing, following: recognition.keys.log
            ) { known.isKnown($0, to: recognition) }
        } catch {
            return candidates.map { _ in .failure(error) }
        }
        return zip(candidates, admitted).map { candidate, admitted in
            if case .left = admitted { left.append(candidate) }
            switch admitted {
            case .stored, .left: if candidate.identity.key != nil { recognition.keys.add(candidate.entry) }
            case .known, .nameTaken: break
            }
            return admitted == .known ? known.result(candidate) : .success(.admitted(admitted))
        }
    }

    private static func gather(
        _ candidates: [AdmissionCandidate], _ spool: Spool, _ recognition: Recognition, _ gathered: inout GatheredSegments?
    ) -> [Single] {
        if candidates.isEmpty { return [] }
        var known = MadeKnown(candidates)
        let isTaken: [Bool]
        do throws(FileError) {
            isTaken =
                try gathered?.take(candidates, in: spool, following: recognition.keys.log) {
                    known.isKnown($0, to: recognition)
                } ?? []
        } catch {
            return candidates.map { _ in .failure(error) }
        }
        return zip(candidates, isTaken).map { candidate, isTaken in
            guard isTaken else { return known.result(candidate) }
            if candidate.identity.key != nil { recognition.keys.add(candidate.entry) }
            return .success(.admitted(.stored))
        }
    }
}
