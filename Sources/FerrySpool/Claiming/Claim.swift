import Glibc
import Synchronization

/// A segment that this process alone may send, reject or evict, for as long as the claim lives.
///
/// It is the kernel's advisory lock on the segment's file, so a killed process leaves no claim behind.
public final class Claim: Sendable {
    /// The segment's file name.
    public let name: String
    /// The segment's open file, which holds the lock.
    public let file: OpenFile
    /// As it was when it was claimed.
    public let status: FileStatus
    /// The segment's name, when it has the form of the format.
    public let segmentName: SegmentName?
    /// What was read of the content.
    private let mark: Mutex<ContentMark?>
    /// The request that it goes out in: noted until its outcome is written down.
    private let request = Mutex<NotedRequest?>(nil)

    init(name: String, segmentName: SegmentName?, file: OpenFile, status: FileStatus, mark: ContentMark? = nil) {
        self.name = name
        self.segmentName = segmentName
        self.file = file
        self.status = status
        self.mark = Mutex(mark)
    }

    func remember(_ mark: ContentMark) { self.mark.withLock { $0 = mark } }

    var remembered: ContentMark? { mark.withLock { $0 } }

    /// Keeps the note of a request for as long as the claim lives, or until the next one.
    ///
    /// - Parameter request: `nil`: the outcome of the last one is written down.
    package func keep(_ request: NotedRequest?) {
        let last = self.request.withLock { kept in
            defer { kept = request }
            return kept
        }
        // Outside of the lock: it may be the last that keeps the note.
        _ = consume last
    }

    /// Notes that the noted request has arrived.
    package func noteArrival() { request.withLock { $0 }?.noteArrival() }
}

extension Spool {
    /// Claims a segment.
    ///
    /// - Parameter mayBeUnfinished: `false` when a scan that listed the segment saw no journal: then none can be left of it.
    public func claim(_ name: String, mayBeUnfinished: Bool = true) -> ClaimResult {
        do throws(FileError) {
            let file: OpenFile
            switch try directory.openLocked(name) {
            case .absent: return .gone
            case .heldByAnother: return .busy
            case .locked(let opened): file = opened
            }
            let status = try file.status()
            guard status.isRegular else { return .unusable(FileError("claim", directory.pathOf(name), code: EINVAL)) }
            // Between the opening and the lock, another uploader may have sent it and moved it away.
            guard try directory.status(name)?.identity == status.identity else { return .gone }
            // What cannot be ended must not be begun: it would be sent at every look.
            try directory.requireTaking(name, owner: status.owner)
            let segmentName = SegmentName(name)
            if let segmentName, try isBeingMade(segmentName, mayHaveJournal: mayBeUnfinished) { return .busy }
            return .claimed(Claim(name: name, segmentName: segmentName, file: file, status: status))
        } catch {
            return .unusable(error)
        }
    }

    /// Whether the name still belongs to the claimed file, and the file still has the content that was claimed.
    func holds(_ claim: Claim) throws(FileError) -> Bool {
        guard let status = try directory.status(claim.name) else { return false }
        return try claim.hasContent(status)
    }

    /// Returns the name that the claimed file has now, with the content that was claimed: its own, or the one that a program gave it within the
    /// folder meanwhile. `nil` when it is no pending segment any more.
    func currentName(of claim: Claim) throws(FileError) -> String? {
        if try holds(claim) { return claim.name }
        var found: (name: String, status: FileStatus)?
        var unexamined: FileError?
        try directory.forEachName { name in
            guard found == nil, EntryKind(name) == .segment || EntryKind(name) == .foreign else { return }
            do throws(FileError) {
                guard let status = try directory.statusOfListed(name), status.content == claim.status.content else { return }
                found = (String(decoding: name, as: UTF8.self), status)
            } catch {
                unexamined = error
            }
        }
        // It may be the one that could not be looked at.
        if found == nil, let unexamined { throw unexamined }
        guard let found, try claim.hasContent(found.status) else { return nil }
        return found.name
    }

    /// Returns whether what a published segment is made from is still there. A published segment is not ready to leave while what it is made from is
    /// still there: a crash in that moment would make it a second time.
    private func isBeingMade(_ segment: SegmentName, mayHaveJournal: Bool) throws(FileError) -> Bool {
        if mayHaveJournal, try directory.contains(segment.journalName), try !finishSealing(segment) { return true }
        guard let parent = segment.splitParent else { return false }
        return try directory.contains(parent.fileName)
    }
}
