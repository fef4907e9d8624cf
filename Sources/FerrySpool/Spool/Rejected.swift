/// A segment in `rejected/`.
public struct RejectedSegment: Sendable {
    public let name: String
    public let size: ByteCount
    /// `nil` when its reason file is missing or unreadable.
    public let reason: RejectionReason?
}

/// What came of bringing a rejected segment back.
public enum RetryResult: Equatable, Sendable {
    case pending
    case notFound
    /// A pending segment has its name.
    case nameTaken
    /// Somebody else works on it.
    case busy
}

extension Spool {
    /// The segments in `rejected/`, in upload order.
    public func rejected(warn: (UnreadableState) -> Void = { _ in }) throws(FileError) -> [RejectedSegment] {
        guard let folder = try rejectedFolder() else { return [] }
        var segments: [RejectedSegment] = []
        for name in try folder.names() where !name.hasSuffix(".reason.json") && !name.hasPrefix(".") {
            guard let status = try folder.status(name), status.isRegular else { continue }
            let reasonName = Self.reasonName(of: name)
            var reason: RejectionReason?
            do throws(FileError) {
                reason = try folder.readState(RejectionReason.self, from: reasonName, warn: warn)
            } catch {
                warn(UnreadableState(path: folder.pathOf(reasonName), reason: error.description))
            }
            segments.append(RejectedSegment(name: name, size: status.size, reason: reason))
        }
        return segments
    }

    /// Makes a rejected segment pending again, as if it had never been tried.
    public func retryRejected(_ name: String, at now: Timestamp) throws(FileError) -> RetryResult {
        guard let folder = try rejectedFolder(), let file = try folder.open(name) else { return .notFound }
        guard file.tryLock() else { return .busy }
        // A second rejection of one name was kept as `name~1`.
        let original = name.withoutCopyNumber
        guard !directory.contains(original) else { return .nameTaken }
        try appendToLedger([
            LedgerEntry(at: now, segment: original, outcome: .retried, bytes: try file.status().size)
        ])
        guard try folder.renameWithoutReplacing(name, to: original, in: directory) else { return .nameTaken }
        try folder.remove(Self.reasonName(of: name))
        try directory.sync()
        return .pending
    }

    /// Publishes the whole lines that a damaged segment still holds before its damage as a new segment, and keeps the damaged file.
    ///
    /// - Returns: The new segment's name and its events; `nil` when there is no whole line, or no such file.
    public func salvageRejected(
        _ name: String, at now: Timestamp, inflateLimit: ByteCount
    ) throws(FileError) -> (name: String, events: Int64)? {
        guard let folder = try rejectedFolder(), let file = try folder.open(name) else { return nil }
        let original = SegmentName(name.withoutCopyNumber)
        let segment = original?.with(id: .random()) ?? SegmentName(priority: .normal, created: now, id: .random())
        let publication = try publication()
        let events = try file.salvage(into: publication.file, limit: inflateLimit)
        guard events > 0 else { return nil }
        try appendToLedger([
            LedgerEntry(
                at: now, segment: name, outcome: .salvaged, bytes: try file.status().size, events: events,
                detail: "its whole lines are now \(segment.fileName)")
        ])
        _ = try publication.publish(as: segment.fileName)
        return (segment.fileName, events)
    }
}

extension String {
    /// `name~2` is a second file of the same name.
    fileprivate var withoutCopyNumber: String {
        guard let tilde = lastIndex(of: "~"), self[index(after: tilde)...].allSatisfy(\.isNumber) else { return self }
        return String(self[..<tilde])
    }
}
