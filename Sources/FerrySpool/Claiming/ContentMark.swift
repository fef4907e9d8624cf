/// What was read of a claimed segment, to tell another content by when its inode alone has changed.
enum ContentMark: Equatable, Sendable {
    /// SHA-256 of all of it.
    case whole(BodyDigest)
    /// A hash of the checksums and lengths that end its gzip members, as far as notes lead, and of those that end the file.
    case trailers(TrailerMark)
}

extension Claim {
    /// Whether the segment still has the content that it had when it was claimed.
    ///
    /// A request whose segment was written into meanwhile has delivered neither the old content nor the new one.
    package var isUnchanged: Bool {
        guard let status = try? file.status() else { return false }
        return (try? hasContent(status)) ?? false
    }

    /// Returns whether the file still has the content that was noted.
    ///
    /// - Parameter status: The file's, as it is now.
    func hasContent(_ status: FileStatus) throws(FileError) -> Bool {
        guard status.content == self.status.content else { return false }
        if status.inodeTime == self.status.inodeTime { return true }
        // A link, a chmod, or a tool that wrote and set the time back: the content tells which.
        switch remembered {
        case .whole(let digest): return try file.digest().digest == digest
        case .trailers(let digest): return try file.trailers(size: status.size.bytes) == digest
        // In a lane, links come and go with every other lane.
        case nil: return laneLock != nil
        }
    }

    /// Returns what tells a segment's content from another's, on every machine that it is copied to: its size, and the checksum and the length that
    /// end it.
    package func contentMark() throws(FileError) -> String { try file.contentMark(size: status.size.bytes) }

    /// Returns the SHA-256 of the content: as it was examined, or else as it is.
    package func digest() throws(FileError) -> BodyDigest {
        if case .whole(let digest) = remembered { return digest }
        let digest = try file.digest().digest
        remember(.whole(digest))
        return digest
    }
}

extension OpenFile {
    func contentMark() throws(FileError) -> String { try contentMark(size: status().size.bytes) }

    fileprivate func contentMark(size: Int64) throws(FileError) -> String {
        "\(size)-\(try trailer(size: size).map { String($0, radix: 16, width: 2) }.joined())"
    }

    func trailer(size: Int64) throws(FileError) -> [UInt8] {
        try readBytes(GzipMemberCounts.trailerLength, at: max(0, size - Int64(GzipMemberCounts.trailerLength)))
    }

    fileprivate func trailers(size: Int64) throws(FileError) -> TrailerMark {
        var hash = TrailerMark.Builder()
        _ = try walkMembers(length: size) { hash.add($0) }
        hash.add(try trailer(size: size)[...])
        return hash.finish()
    }
}
