import FerryIntake
import FerrySpool

/// Makes what all connections have finished segments, in rounds: the forced writes of one round serve everybody who waits for it.
///
/// Who comes first leads a round, with all who came while the round before was under way. Then it hands the lead on.
actor Committer {
    private let spool: Spool
    private let recognition: Recognition
    private var isCommitting = false
    private var waiting: [Waiter] = []
    /// What is logged and could not get its name yet.
    private var left: [Admission.Candidate] = []

    /// What one request hands over: their contents are on the disk.
    typealias Batch = [Admission.Candidate]
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

    init(_ spool: Spool, _ recognition: Recognition) {
        self.spool = spool
        self.recognition = recognition
    }

    /// Returns what became of each; an error that keeps the whole round from being logged is everybody's.
    func commit(_ batch: Batch) async -> Outcome {
        if isCommitting {
            let turn = await withCheckedContinuation { waiting.append(Waiter(batch: batch, continuation: $0)) }
            if case .done(let outcome) = turn { return outcome }
        }
        isCommitting = true
        let followers = waiting
        waiting = []
        let outcomes: [Outcome]
        (outcomes, left) = await blocking { [spool, recognition, left, batches = [batch] + followers.map(\.batch)] in
            var left = left
            defer { recognition.keys.tidy() }
            return (Self.round(batches, spool, recognition, left: &left), left)
        }
        for (follower, outcome) in zip(followers, outcomes.dropFirst()) {
            follower.continuation.resume(returning: .done(outcome))
        }
        if waiting.isEmpty { isCommitting = false } else { waiting.removeFirst().continuation.resume(returning: .lead) }
        return outcomes[0]
    }

    /// - Parameter left: What is logged and has no name yet.
    private static func round(
        _ batches: [Batch], _ spool: Spool, _ recognition: Recognition, left: inout [Admission.Candidate]
    ) -> [Outcome] {
        let all = batches.flatMap(\.self)
        // Their keys are logged: nobody brings them again.
        left.removeAll { spool.finish($0.arrival, as: $0.entry.segment) == .stored }
        let byFile = Dictionary(all.map { ($0.arrival.fileName, $0) }) { first, _ in first }
        var known: [String: Result<AdmissionResult, FileError>] = [:]
        let admitted: [Admitted]
        do throws(FileError) {
            admitted = try spool.admit(
                all.map { ($0.arrival, $0.entry) }, forcing: .nothing, following: recognition.keys.log
            ) { entry in
                guard let file = entry.file, let candidate = byFile[file] else { return false }
                do throws(FileError) {
                    guard let result = try recognition.result(candidate) else { return false }
                    known[file] = .success(result)
                } catch {
                    // What cannot be judged is not taken. That is no other request's affair.
                    known[file] = .failure(error)
                }
                return true
            }
        } catch {
            return batches.map { _ in .failure(error) }
        }
        for (candidate, admitted) in zip(all, admitted) {
            switch admitted {
            case .stored: break
            case .left: left.append(candidate)
            case .known, .nameTaken: continue
            }
            if candidate.identity.key != nil { recognition.keys.add(candidate.entry) }
        }
        var results = Array(zip(all, admitted))[...]
        return batches.map { batch in
            let own = results.prefix(batch.count)
            results = results.dropFirst(batch.count)
            return Result { () throws(FileError) in
                try own.map { (candidate, admitted) throws(FileError) in
                    guard admitted == .known else { return .admitted(admitted) }
                    return .known(try known[candidate.arrival.fileName]?.get() ?? .conflict)
                }
            }
        }
    }
}
