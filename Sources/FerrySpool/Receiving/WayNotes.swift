import Glibc

/// By which ways segments came that came more than once: the files `.ferry/ways-YYYYMMDD.jsonl`.
package struct WayNotes: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// One line of `.ferry/ways-YYYYMMDD.jsonl`.
    private struct WayEntry: Codable {
        let id: String
        let trail: String
    }

    /// Notes of a segment that it came another way too, durably.
    func append(_ trail: Trail, of segment: SegmentName, at now: Timestamp = .now()) throws(FileError) {
        guard let stateDirectory = spool.stateDirectory else { throw FileError("write into", spool.path, code: EROFS) }
        let line = JSONLine.encode(WayEntry(id: segment.id, trail: trail.text))
        let name = "\(Self.prefix)\(now.compactDay).jsonl"
        try spool.room.lendingReserve { () throws(FileError) in
            try stateDirectory.appendLines(to: name) { size throws(FileError) -> [UInt8] in
                // A sender that tries again and again comes the same way each time.
                let end = min(size, 1 << 16)
                let recent = try stateDirectory.open(name)?.readBytes(Int(end), at: size - end) ?? []
                return recent.split(separator: UInt8(ascii: "\n")).contains(line.dropLast()) ? [] : line
            }
        }
    }

    static let prefix = "ways-"

    /// Removes the notes of days whose segments have all ended. Today's may be written to, and yesterday's.
    func removeEnded(_ listing: SpoolListing) throws(FileError) {
        guard let stateDirectory = spool.stateDirectory else { return }
        let names = try stateDirectory.names().filter { $0.hasPrefix(Self.prefix) && $0.hasSuffix(".jsonl") }
        if names.isEmpty { return }
        var here: Set<String> = []
        for name in try listing.entries.map(listing.name) + (spool.rejectedFolder()?.names() ?? []) {
            guard let id = SegmentName(name.withoutCopyNumber)?.id else { continue }
            here.formUnion([id] + SegmentID.ancestors(of: id).map(\.text))
        }
        for name in names {
            guard let status = try stateDirectory.status(name), Timestamp.now() - status.modified > Self.age else { continue }
            var isHere = false
            var places = LogPlaces()
            try places.forEachNewLine(of: name, in: stateDirectory) { line in
                if let id = line.text(after: "\"id\":\""), here.contains(id) { isHere = true }
            }
            if !isHere { try stateDirectory.remove(name) }
        }
    }

    private static let age = Duration.seconds(2 * 24 * 3600)
}

extension Spool {
    /// By which ways segments came that came more than once.
    package var wayNotes: WayNotes { WayNotes(spool: self) }
}

extension WayNotes {
    /// Notes of what is here of a segment that it came another way too, so that it goes back on neither: of what is pending, and of what was
    /// rejected and may be tried again. What no file takes goes into the spool's own notes.
    ///
    /// - Parameter ways: Tell how it came before, where its file does not.
    /// - Parameter forms: The names that it may have, where they were looked for already.
    package func note(
        _ trail: Trail, of segment: SegmentName, besides ways: Ways, forms: SegmentForms? = nil
    ) throws(FileError) {
        var (isNoted, isNew) = (true, false)
        for (folder, known) in [(spool.directory, forms?.pending), (try spool.rejectedFolder(), forms?.rejected)] {
            guard let folder else { continue }
            let names = if let known { known[segment.id] ?? [] } else { try folder.forms(of: segment) }
            for name in names {
                do throws(FileError) {
                    guard let file = try folder.open(name) else { continue }
                    let before = ways.trail(of: file, SegmentName(name.withoutCopyNumber), in: spool)
                    let merged = before.merging(trail)
                    guard merged != before else { continue }
                    isNew = true
                    if !file.setTrail(merged) { isNoted = false }
                } catch {
                    isNoted = false
                }
            }
        }
        if !isNoted {
            try append(trail, of: segment)
        } else if isNew {
            // Copies of the spool may lack the attribute.
            try? append(trail, of: segment)
        }
    }
}
