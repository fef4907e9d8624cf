/// Where in a spool a segment lies.
public enum SegmentPlace: String, CaseIterable, Sendable {
    case pending, sent, rejected
}

/// A segment's file, wherever in the spool it is.
public struct SegmentFile: Sendable {
    public let place: SegmentPlace
    public let name: String
    public let folder: Directory

    /// `nil` when it has gone since.
    public func open() throws(FileError) -> OpenFile? { try folder.open(name) }
}

extension Spool {
    /// The segments in some places, in upload order in each.
    public func files(in places: Set<SegmentPlace>) throws(FileError) -> [SegmentFile] {
        var files: [SegmentFile] = []
        if places.contains(.pending) {
            let listing = try scan()
            files += listing.entries.map { SegmentFile(place: .pending, name: listing.name(of: $0), folder: directory) }
        }
        if places.contains(.sent) {
            for day in try sentDays() {
                for name in try day.names() where !name.hasPrefix(".") {
                    files.append(SegmentFile(place: .sent, name: name, folder: day))
                }
            }
        }
        if places.contains(.rejected), let folder = try rejectedFolder() {
            for segment in try rejected() { files.append(SegmentFile(place: .rejected, name: segment.name, folder: folder)) }
        }
        return files
    }

    /// The file of a name: pending, sent or rejected. `nil` when it is nowhere.
    public func file(named name: String) throws(FileError) -> SegmentFile? {
        if directory.contains(name) { return SegmentFile(place: .pending, name: name, folder: directory) }
        for day in try sentDays() where day.contains(name) { return SegmentFile(place: .sent, name: name, folder: day) }
        guard let folder = try rejectedFolder(), folder.contains(name) else { return nil }
        return SegmentFile(place: .rejected, name: name, folder: folder)
    }
}
