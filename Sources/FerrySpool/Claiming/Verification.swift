/// How closely a segment is looked at before it is sent.
public enum Verification: String, CaseIterable, Sendable {
    /// Files with names from other tools, or without the notes of Ferry's writer, are inflated whole; where there are notes, header, notes
    /// and trailer must agree with the file's length.
    case auto
    /// Every segment is inflated whole.
    case always
    /// Nothing is looked at, except that a file with a foreign name must be whole.
    case never
}

/// What an examination of a segment found.
public struct Examination: Equatable, Sendable {
    /// `nil` when nobody noted them and the segment was not inflated.
    public var events: Int64?
    public var damage: GzipDamage?
    /// A member's writer noted nothing, so that only inflating shows whether the file is whole.
    public var lacksNotes = false
}

extension Claim {
    /// Looks at the segment as closely as asked.
    ///
    /// - Parameters:
    ///   - inflateLimit: The most that it may inflate to.
    ///   - content: The whole file, if the caller has read it already.
    public func examine(
        _ verification: Verification, inflateLimit: ByteCount, content: [UInt8]? = nil
    ) throws(FileError) -> Examination {
        if let examination = try examineQuickly(verification, content: content) { return examination }
        return try inflateWhole(limit: inflateLimit, content: content, goesByNotes: verification != .always)
    }

    /// What can be found out without inflating the segment; `nil` when it is to be inflated.
    public func examineQuickly(_ verification: Verification, content: [UInt8]? = nil) throws(FileError) -> Examination? {
        if segmentName == nil || verification == .always { return nil }
        var trailers = TrailerMark.Builder()
        var walk = try file.walkMembers(length: status.size.bytes, content: content) { trailers.add($0) }
        walk.lacksNotes = walk.events == nil && walk.damage == nil
        // Notes that contradict the file count as absent: what they are noted of may be sound.
        if verification == .never { walk.damage = nil } else if walk.lacksNotes || walk.damage != nil { return nil }
        if let content {
            trailers.add(content.suffix(MemberNote.trailerLength))
        } else {
            trailers.add(try file.trailer(size: status.size.bytes)[...])
        }
        remember(.trailers(trailers.finish()))
        return walk
    }

    private func inflateWhole(limit: ByteCount, content: [UInt8]?, goesByNotes: Bool) throws(FileError) -> Examination {
        var counter = LineCounter()
        var hash = ContentHash()
        do {
            try file.inflate(limit: limit, content: content, strictly: true) {
                hash.add($0)
            } _: {
                _ = counter.count($0)
            }
            remember(.whole(hash.finish()))
            let lacksNotes = try file.walkMembers(length: status.size.bytes, content: content).events == nil
            return Examination(events: counter.totalAtEnd, lacksNotes: lacksNotes)
        } catch let damage as GzipDamage {
            // What is damaged by its notes, too, is no file that is still being written.
            let noted =
                goesByNotes && segmentName != nil
                ? try? file.walkMembers(length: status.size.bytes, content: content).damage : nil
            return Examination(damage: noted ?? damage)
        } catch let error as FileError {
            throw error
        } catch {
            preconditionFailure("counting lines throws nothing: \(error)")
        }
    }
}

extension OpenFile {
    /// Goes from member to member by their notes and compares them with the file's length and the members' trailers.
    ///
    /// A member without a note ends the walk: its events are unknown, and only its header and the least length are checked.
    ///
    /// - Parameters:
    ///   - content: The whole file, if it is in memory already. It has another length than the kernel said when the file is being
    ///     written just now.
    ///   - trailer: Called with the checksum and the length that end each member that a note leads to.
    func walkMembers(
        length: Int64, content: [UInt8]? = nil, trailer body: (ArraySlice<UInt8>) -> Void = { _ in }
    ) throws(FileError) -> Examination {
        func bytes(_ count: Int, at offset: Int64) throws(FileError) -> ArraySlice<UInt8> {
            if let content { return content.dropFirst(Int(offset)).prefix(count) }
            return try readBytes(count, at: offset)[...]
        }
        var events: Int64 = 0
        var position: Int64 = 0
        if length == 0 { return Examination(damage: GzipDamage(kind: .empty, offset: 0)) }
        while position < length {
            let start = try bytes(Self.longestHeader, at: position)
            var note: MemberNote?
            do throws(GzipHeader.Failure) {
                note = try GzipHeader(start).note
            } catch {
                switch error {
                case .notGzip:
                    return Examination(damage: GzipDamage(kind: position == 0 ? .notGzip : .trailingGarbage, offset: position))
                case .incomplete where start.count < Self.longestHeader:
                    return Examination(damage: GzipDamage(kind: .truncated, offset: length))
                case .incomplete: break
                }
            }
            guard let note else {
                return Examination(damage: length - position < 18 ? GzipDamage(kind: .truncated, offset: length) : nil)
            }
            guard note.memberLength <= length - position else {
                return Examination(damage: GzipDamage(kind: .truncated, offset: length))
            }
            let end = position + note.memberLength
            let trailer = try bytes(MemberNote.trailerLength, at: end - Int64(MemberNote.trailerLength))
            guard trailer.count == MemberNote.trailerLength else {
                return Examination(damage: GzipDamage(kind: .truncated, offset: length))
            }
            body(trailer)
            // The ISIZE field.
            let size = trailer.suffix(4).reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            guard size == UInt32(truncatingIfNeeded: note.uncompressed) else {
                return Examination(damage: GzipDamage(kind: .corrupt, offset: end - 4))
            }
            events.add(note.events)
            position = end
        }
        return Examination(events: events)
    }

    /// The events that the file's writer noted; `nil` when nobody did.
    public func notedEvents() throws(FileError) -> Int64? { try walkMembers(length: status().size.bytes).events }

    /// No writer of segments has a header near this length.
    private static let longestHeader = 512
}

extension Spool {
    /// The events that a pending segment's writer noted; `nil` when nobody did, or when there is no such segment.
    public func notedEvents(of name: String) throws(FileError) -> Int64? {
        try notes(of: name)?.events
    }

    /// What a pending segment's header and notes tell; `nil` when there is no such segment.
    public func notes(of name: String) throws(FileError) -> Examination? {
        guard let file = try directory.open(name) else { return nil }
        return try file.walkMembers(length: file.status().size.bytes)
    }
}
