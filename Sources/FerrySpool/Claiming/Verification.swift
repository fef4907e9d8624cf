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

extension Claim {
    /// Looks at the segment as closely as asked.
    ///
    /// - Parameters:
    ///   - inflateLimit: The most that it may inflate to.
    ///   - content: The whole file, if the caller has read it already.
    package func examine(
        _ verification: Verification, inflateLimit: ByteCount, content: [UInt8]? = nil
    ) throws(FileError) -> Examination {
        if let examination = try examineQuickly(verification, content: content) { return examination }
        return try inflateWhole(limit: inflateLimit, content: content, goesByNotes: verification != .always)
    }

    /// Returns what can be found out without inflating the segment; `nil` when it is to be inflated.
    package func examineQuickly(_ verification: Verification, content: [UInt8]? = nil) throws(FileError) -> Examination? {
        if segmentName == nil || verification == .always { return nil }
        var trailers = TrailerMark.Builder()
        var walk = try file.walkMembers(length: status.size.bytes, content: content) { trailers.add($0) }
        walk.lacksNotes = walk.events == nil && walk.damage == nil
        // Notes that contradict the file count as absent: what they are noted of may be sound.
        if verification == .never { walk.damage = nil } else if walk.lacksNotes || walk.damage != nil { return nil }
        if let content {
            trailers.add(content.suffix(GzipMemberCounts.trailerLength))
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
        } catch let damage as GzipError {
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
