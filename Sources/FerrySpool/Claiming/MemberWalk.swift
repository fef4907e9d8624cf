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
        if length == 0 { return Examination(damage: GzipError(kind: .empty, offset: 0)) }
        while position < length {
            let start = try bytes(Self.longestHeader, at: position)
            var note: GzipMemberCounts?
            do throws(GzipHeader.HeaderError) {
                note = try GzipHeader(start).note
            } catch {
                switch error {
                case .notGzip:
                    return Examination(damage: GzipError(kind: position == 0 ? .notGzip : .trailingGarbage, offset: position))
                case .incomplete where start.count < Self.longestHeader:
                    return Examination(damage: GzipError(kind: .truncated, offset: length))
                case .incomplete: break
                }
            }
            guard let note else {
                return Examination(damage: length - position < 18 ? GzipError(kind: .truncated, offset: length) : nil)
            }
            guard note.memberLength <= length - position else {
                return Examination(damage: GzipError(kind: .truncated, offset: length))
            }
            let end = position + note.memberLength
            let trailer = try bytes(GzipMemberCounts.trailerLength, at: end - Int64(GzipMemberCounts.trailerLength))
            guard trailer.count == GzipMemberCounts.trailerLength else {
                return Examination(damage: GzipError(kind: .truncated, offset: length))
            }
            body(trailer)
            // The ISIZE field.
            let size = trailer.suffix(4).reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            guard size == UInt32(truncatingIfNeeded: note.uncompressed) else {
                return Examination(damage: GzipError(kind: .corrupt, offset: end - 4))
            }
            events.add(note.events)
            position = end
        }
        return Examination(events: events)
    }

    /// Returns the number of events that the file's writer noted; `nil` when it noted none.
    package func notedEvents() throws(FileError) -> Int64? { try walkMembers(length: status().size.bytes).events }

    /// No writer of segments has a header near this length.
    private static let longestHeader = 512
}

extension Spool {
    /// Returns the number of events that a pending segment's writer noted; `nil` when it noted none, or when there is no such segment.
    package func notedEvents(of name: String) throws(FileError) -> Int64? {
        try notes(of: name)?.events
    }

    /// Returns what a pending segment's header and notes tell; `nil` when there is no such segment.
    package func notes(of name: String) throws(FileError) -> Examination? {
        guard let file = try directory.open(name) else { return nil }
        return try file.walkMembers(length: file.status().size.bytes)
    }
}
