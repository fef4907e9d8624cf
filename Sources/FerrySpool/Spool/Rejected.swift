import Glibc

/// A segment in `rejected/`.
public struct RejectedSegment: Sendable {
    public let name: String
    public let size: ByteCount
    /// `nil` when its reason file is missing or unreadable.
    public let reason: RejectionReason?

    /// Whether a spool would send a file of this name. Anything else was put there by other means.
    public var isSegment: Bool { name.withoutCopyNumber.isSegmentName }
}

/// What came of bringing a rejected segment back.
public enum RetryResult: Equatable, Sendable {
    case pending
    case notFound
    /// No spool would send a file of that name.
    case noSegment
    /// A pending segment has its name.
    case nameTaken
    /// Another process works on it.
    case busy
    /// What it holds was salvaged as this segment, and would be sent twice.
    case salvagedBefore(as: String)
}

/// What came of salvaging a rejected segment.
public enum SalvageResult: Equatable, Sendable {
    /// - Parameters:
    ///   - tooLong: Lines that are longer than 1 MiB and were left out.
    ///   - unverified: Whole lines of a gzip member whose checksum is wrong: left out, or among the events where that was asked for.
    case saved(as: String, events: Int64, tooLong: Int64, unverified: Int64)
    /// It was salvaged before, as this segment.
    case savedBefore(as: String)
    /// Another copy of it was salvaged, as this segment: the events that both hold would come twice.
    case copySaved(as: String)
    /// Another file of its ID is pending, or was sent, in whole or in halves: its events would come twice.
    case cameWhole
    /// There is no damage in it: it can be brought back as it is, under its own key.
    case sound
    /// There is no whole event in it that can be trusted.
    case nothing(unverified: Int64)
    case notFound
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

    /// Makes a rejected segment pending again, as if it had never been tried. One that was salvaged stays: its events have left already, or
    /// will.
    public func retryRejected(_ name: String, at now: Timestamp) throws(FileError) -> RetryResult {
        guard let folder = try rejectedFolder(), let file = try folder.open(name) else { return .notFound }
        // A second rejection of one name was kept as `name~1`.
        let original = name.withoutCopyNumber
        guard original.isSegmentName else { return .noSegment }
        guard file.tryLock() else { return .busy }
        let reasonName = Self.reasonName(of: name)
        let reason = try folder.readStateOfAnyKind(RejectionReason.self, from: reasonName) { _ in }
        if let salvaged = reason?.salvagedAs { return .salvagedBefore(as: salvaged) }
        // A salvage that was killed, or found no room, may have published it and not said so.
        if let begun = reason?.salvagingAs.flatMap({ SegmentName($0) }), try isHereOrEnded(begun) {
            return .salvagedBefore(as: begun.fileName)
        }
        if let copy = try salvagedCopy(of: SegmentName(original)) { return .salvagedBefore(as: copy) }
        guard try !directory.contains(original) else { return .nameTaken }
        // What cannot be moved has no line in the ledger.
        try folder.requireMoves(into: directory)
        try folder.requireChanges()
        try folder.requireTaking(name, owner: try file.status().owner)
        if let status = try folder.status(reasonName) { try folder.requireTaking(reasonName, owner: status.owner) }
        try appendToLedger([
            LedgerEntry(at: now, segment: original, outcome: .retried, bytes: try file.status().size)
        ])
        guard try folder.renameWithoutReplacing(name, to: original, in: directory) else { return .nameTaken }
        do throws(FileError) {
            try folder.remove(reasonName)
        } catch {
            // A folder of its name counts as absent.
            guard error.isAboutKind else { throw error }
        }
        try directory.sync()
        return .pending
    }

    /// Publishes the whole lines that a damaged segment still holds before its damage as a new segment, and keeps the damaged file.
    ///
    /// Once: the reason file remembers it. The new segment's ID is made from the content, so that it is found after a crash in between,
    /// in the folder or in the ledger.
    ///
    /// - Parameter takesUnverified: Take what comes from a gzip member whose checksum is wrong too: it may be altered.
    public func salvageRejected(
        _ name: String, at now: Timestamp, inflateLimit: ByteCount, takesUnverified: Bool = false
    ) throws(FileError) -> SalvageResult {
        guard let folder = try rejectedFolder() else { return .notFound }
        let file: OpenFile
        switch try folder.openLocked(name) {
        case .absent: return .notFound
        case .heldByAnother: return .busy
        case .locked(let opened): file = opened
        }
        let reasonName = Self.reasonName(of: name)
        let known = try folder.readStateOfAnyKind(RejectionReason.self, from: reasonName) { _ in }
        if let salvaged = known?.salvagedAs { return .savedBefore(as: salvaged) }
        let original = SegmentName(name.withoutCopyNumber)
        // A copy that was broken off, say, and made anew.
        if let original {
            if try !pendingForms(of: original).isEmpty { return .cameWhole }
            if try hasSent(id: original.id) { return .cameWhole }
        }
        let status = try file.status()
        // A name of the format says the same in every spool that it was copied to; another tool's does not.
        let place = original == nil ? id : ""
        let content = "\(name.withoutCopyNumber)~\(place)~\(try file.digest().digest.hexadecimal)"
        // Other events, another key.
        func segment(takesUnverified: Bool) -> SegmentName {
            let id = ReceivedID("\(takesUnverified ? "salvaged~unverified" : "salvaged")~\(content)").id
            return original?.with(id: id) ?? SegmentName(priority: .normal, created: status.modified, id: id)
        }
        var reason = known ?? RejectionReason(at: now, kind: "unknown", message: "no reason was found beside it", attempts: 0)
        func remember(_ segment: SegmentName, isPublished: Bool) throws(FileError) {
            reason.salvagedAs = isPublished ? segment.fileName : nil
            reason.salvagingAs = isPublished ? nil : segment.fileName
            try lendingReserve { () throws(FileError) in try folder.writeState(reason, to: reasonName, durable: true) }
        }
        // A process that was killed may have published it and not remembered so; it may have been sent since.
        for segment in [segment(takesUnverified: false), segment(takesUnverified: true)] where try isHereOrEnded(segment) {
            try remember(segment, isPublished: true)
            return .savedBefore(as: segment.fileName)
        }
        if let copy = try salvagedCopy(of: original) { return .copySaved(as: copy) }
        let publication = try publication()
        publication.file.inheritAttributes(of: file)
        let saved = try file.salvage(into: publication.file, limit: inflateLimit, takesUnverified: takesUnverified)
        guard saved.events > 0 else { return .nothing(unverified: saved.unverified) }
        // Under another key its events would come a second time where they came before.
        if saved.isSound { return .sound }
        let segment = segment(takesUnverified: takesUnverified && saved.unverified > 0)
        // Before it is published: whatever comes in between, it is known under which name to look for it.
        try remember(segment, isPublished: false)
        var leftOut = saved.tooLong > 0 ? "; \(saved.tooLong) lines longer than 1 MiB are left out" : ""
        if saved.unverified > 0 {
            leftOut += "; \(saved.unverified) lines with a wrong checksum are \(takesUnverified ? "among them" : "left out")"
        }
        try appendToLedger([
            LedgerEntry(
                at: now, segment: name, outcome: .salvaged, bytes: status.size, events: saved.events,
                detail: "its whole lines are now \(segment.fileName)\(leftOut)")
        ])
        // A segment of this name holds these lines: another process was as fast.
        _ = try publication.publish(as: segment.fileName)
        do throws(FileError) {
            try remember(segment, isPublished: true)
        } catch {
            // What was noted before says as much to who looks.
            guard error.isOutOfSpace else { throw error }
        }
        return .saved(as: segment.fileName, events: saved.events, tooLong: saved.tooLong, unverified: saved.unverified)
    }
}

extension Spool {
    /// What some copy of a segment was salvaged as; `nil` when none was, and for another tool's file, whose name says little.
    private func salvagedCopy(of segment: SegmentName?) throws(FileError) -> String? {
        guard let segment else { return nil }
        for name in try salvages(of: segment.id) {
            // The line comes before the segment, which a kill may have kept from coming.
            if let saved = SegmentName(name), try isHereOrEnded(saved) { return name }
        }
        return nil
    }

    /// Whether a segment is pending, or had an ending that the ledger tells.
    private func isHereOrEnded(_ segment: SegmentName) throws(FileError) -> Bool {
        if try directory.contains(segment.fileName) { return true }
        return try hasEnded(segment.fileName)
    }
}

extension String {
    fileprivate var isSegmentName: Bool {
        let kind = Array(utf8).withUnsafeBufferPointer { EntryKind($0) }
        return kind == .segment || kind == .foreign
    }

    /// `name~2` is a second file of the same name.
    var withoutCopyNumber: String {
        guard let tilde = lastIndex(of: "~"), self[index(after: tilde)...].allSatisfy(\.isNumber) else { return self }
        return String(self[..<tilde])
    }
}
