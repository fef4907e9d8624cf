/// Some segments of `rejected/`, and how many there are.
package struct LatestRejected: Sendable {
    /// The ones that came last, the latest first.
    package var segments: [RejectedSegment] = []
    /// How many there are.
    package var count: Int64 = 0

    /// Creates a list of none.
    package init() {}
}

extension RejectedFolder {
    /// Of how many files the times are looked at: a folder of a hundred thousand would take longer than all else.
    private static let mostExamined = 1000

    /// Returns the segments that came last.
    package func latest(_ most: Int) throws(FileError) -> LatestRejected {
        var latest = LatestRejected()
        guard let folder = try spool.rejectedFolder() else { return latest }
        let names = try folder.names().filter { !$0.hasSuffix(".reason.json") && !$0.hasPrefix(".") }
        latest.count = Int64(names.count)
        var files: [(name: String, status: FileStatus)] = []
        // The last names are those of the least urgent, and of each priority of the youngest.
        for name in names.suffix(Self.mostExamined) {
            if let status = try folder.status(name), status.isRegular { files.append((name, status)) }
        }
        for (name, status) in files.sorted(by: { $0.status.changed > $1.status.changed }).prefix(most) {
            let reason = try? folder.readState(RejectionReason.self, from: Spool.reasonName(of: name), warn: { _ in })
            latest.segments.append(RejectedSegment(name: name, size: status.size, reason: reason))
        }
        return latest
    }

    /// Returns the first line of a segment, without its line feed, or what can be read of it.
    ///
    /// - Parameter most: How many bytes of it.
    package func firstLine(of name: String, most: Int) -> [UInt8]? {
        guard let file = try? spool.rejectedFolder()?.openIfFile(name) else { return nil }
        var line: [UInt8] = []
        // What is damaged has a beginning too.
        try? file.inflate(limit: .mebibytes(64)) { bytes throws(FoundError) in
            let piece = bytes.prefix { $0 != UInt8(ascii: "\n") }
            line += piece.prefix(most - line.count)
            if piece.count < bytes.count || line.count >= most { throw FoundError() }
        }
        return line
    }

    /// Ends the reading.
    private struct FoundError: Error {}
}
