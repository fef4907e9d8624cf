import FerrySpool
import Synchronization

/// Notes the requests of a spool that a later one could carry otherwise, in a file that is made when it is needed first.
final class RequestNoting: Sendable {
    private let lease: SpoolLease
    private let notes = Mutex<RequestNotes?>(nil)
    /// What the last note counts as.
    private let latest = Mutex<Timestamp?>(nil)
    /// The names of dead processes' notes that were looked at: what could not be restored then is left to the next look at the folder.
    private let seen = Mutex<Set<String>>([])
    /// How often segments were waited for, or given back, for their notes' sake in vain.
    private let vain = Mutex<[FileName: Int]>([:])

    /// Passes the time between two looks. Cancelled, it returns at once.
    private let pause: @Sendable (Duration) async -> Void

    init(_ lease: SpoolLease, pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }) {
        self.lease = lease
        self.pause = pause
    }

    /// Notes what goes out now. Where that cannot be, the request goes out without: a crash may then send its segments in another one.
    ///
    /// - Parameter outgoing: What carries these segments.
    func note(
        _ outgoing: OutgoingRequest, of segments: [PreparedSegment], events: Int64?, to destination: String, at time: Timestamp
    ) {
        var note = RequestNote(
            at: time, order: order(of: segments, at: time), destination: destination,
            request: segments.count > 1 ? outgoing.key : nil, requestEvents: events,
            segments: [])
        var request: NotedRequest?
        do throws(FileError) {
            for (index, segment) in segments.enumerated() {
                let slice = outgoing.slices?[index]
                note.segments.append(
                    try .init(
                        segment.claim, attempts: segment.attempt - 1, lines: slice?.lines, isLast: slice?.isLast ?? false))
            }
            request = add(note)
        } catch {}
        for segment in segments { segment.claim.keep(request) }
    }

    /// Returns what a note counts as where the clock was set back since the last one, or since the segments were tried; `nil`: as its time.
    private func order(of segments: [PreparedSegment], at time: Timestamp) -> Timestamp? {
        let tried = segments.lazy.compactMap { $0.sidecar?.lastAttemptAt }.max()
        return latest.withLock { latest in
            let before = [latest, tried].compactMap(\.self).max()
            let order = max(time, before.map { $0 + .milliseconds(1) } ?? time)
            latest = order
            return order > time ? order : nil
        }
    }

    private func add(_ note: RequestNote) -> NotedRequest? {
        notes.withLock { notes in
            // What is noted in a full one stays there until it is decided.
            if notes?.isFull ?? true { notes = try? lease.spool().requests.makeNotes() }
            return notes?.add(note)
        }
    }

    /// A process that ends lets go of its files one after the other, within microseconds, or more where it has much memory.
    private static let longestEnd = 200
    private static let look = Duration.milliseconds(5)
    /// After as many segments no wait is worth it any more: notes that never go, another tool's perhaps, would hold up everything.
    private static let mostAwaited = 16
    /// A segment is not given back more often than that: where its sidecar cannot be written, on a full disk, that would never end.
    private static let mostReturns = 16
    private static let mostCounted = 4096

    /// Returns the notes of processes that have died since the last look at the folder, each once; and those with claimed segments, which another
    /// process had when they were looked at.
    ///
    /// - Parameter segments: They are claimed. While a process that has noted them seems to live, it may be just dying; or it has let go of them
    ///   unsent.
    func left(in spool: Spool, holding segments: [PreparedSegment]) async -> [String] {
        let vain = vain.withLock { $0 }
        let waits = vain.values.lazy.filter { $0 >= Self.mostReturns }.count < Self.mostAwaited
        let claimed = waits ? segments.filter { vain[FileName($0.claim.name), default: 0] < Self.mostReturns } : []
        let own = notes.withLock { $0?.name }
        for _ in 0..<Self.longestEnd {
            let left = left(in: spool)
            if !left.isEmpty || claimed.isEmpty { return left }
            let theirs = spool.requests.notes(of: claimed.map { ($0.claim, $0.sidecar) }, besides: own)
            if theirs.isEmpty { return [] }
            let dead = spool.requests.left(of: theirs)
            if !dead.isEmpty {
                note(claimed, waitedInVain: 1)
                return dead
            }
            await pause(Self.look)
        }
        note(claimed, waitedInVain: Self.mostReturns)
        return []
    }

    private func note(_ segments: [PreparedSegment], waitedInVain times: Int) {
        vain.withLock { vain in
            // Most of them have ended long ago.
            if vain.count > Self.mostCounted { vain = vain.filter { $0.value >= Self.mostReturns } }
            for segment in segments { vain[FileName(segment.claim.name), default: 0] += times }
        }
    }

    private func left(in spool: Spool) -> [String] {
        let own = notes.withLock { $0?.name }
        return seen.withLock { seen in
            let left = spool.requests.left(besides: own.map { seen.union([$0]) } ?? seen)
            seen.formUnion(left)
            return left
        }
    }

    /// Closes the file, and removes it unless something in it is undecided.
    func close() { notes.withLock { $0 = nil } }
}

extension RequestNoting {
    /// Returns whether another process could send segments in another request than this one, under another key.
    ///
    /// - Parameters:
    ///   - segments: Of one request.
    ///   - accepted: What the destination said last that it takes of joined segments: then it knows each by its own key.
    static func isNeeded(_ segments: [PreparedSegment], _ options: UploadOptions, accepted: @autoclosure () -> ByteCount?) -> Bool
    {
        if segments.count == 1, segments[0].claim.segmentName == nil { return false }
        if options.destination.namesSegment || options.destination.namesDay { return false }
        if options.body != .ndjson { return options.cuts != nil || segments.contains { $0.sidecar?.delivered != nil } }
        guard case .upTo(let limit) = options.coalesce else { return false }
        return (segments.count > 1 || segments[0].facts.bytes < limit) && accepted() == nil
    }
}
