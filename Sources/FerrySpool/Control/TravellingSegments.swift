/// Which file an exported segment is, whatever its name: a rename changes none of it.
public struct ExportedFile: Codable, Hashable, Sendable {
    private var inode: UInt
    private var size: Int64
    private var modified: Timestamp

    public init(_ status: FileStatus) {
        inode = status.identity.inode
        size = status.size.bytes
        modified = status.modified
    }
}

/// The segments that travel by hand, known by what they are: another priority or stream in its name makes no other segment.
public struct TravellingSegments: Sendable {
    /// What a mark says of a segment.
    public struct Entry: Sendable {
        public let bundle: String
        /// The segment's name when it was exported.
        public let name: String
    }

    private var byName: [String: Entry] = [:]
    private var byID: [String: Entry] = [:]
    private var byFile: [ExportedFile: Entry] = [:]
    /// Whether one of them had a name from another tool.
    private var hasForeign = false

    public init() {}

    init(_ marks: [ExportMark]) {
        for mark in marks {
            for segment in mark.segments {
                let entry = Entry(bundle: mark.bundle, name: segment.name)
                byName[segment.name] = entry
                if let id = SegmentName(segment.name)?.id { byID[id] = entry } else { hasForeign = true }
                if let file = segment.file { byFile[file] = entry }
            }
        }
    }

    public var isEmpty: Bool { byName.isEmpty }

    /// - Parameter file: Asked only where the name does not tell.
    func entry(of name: String, file: () -> ExportedFile?) -> Entry? {
        if let entry = byName[name] { return entry }
        let id = SegmentName(name)?.id
        if let id, let entry = byID[id] { return entry }
        guard id == nil || hasForeign, !byFile.isEmpty else { return nil }
        return file().flatMap { byFile[$0] }
    }
}

extension Spool {
    /// The segments that travel now.
    public func travelling() throws(FileError) -> TravellingSegments { TravellingSegments(try exportMarks()) }

    /// What a mark says of a pending segment; `nil` when it does not travel.
    public func entry(of name: String, in travelling: TravellingSegments) -> TravellingSegments.Entry? {
        travelling.entry(of: name) { ((try? directory.status(name)) ?? nil).map { ExportedFile($0) } }
    }

    /// The names of the pending segments that travel.
    public func names(in listing: SpoolListing, of travelling: TravellingSegments) -> Set<String> {
        guard !travelling.isEmpty else { return [] }
        var names: Set<String> = []
        for name in listing.entries.lazy.map(listing.name) where entry(of: name, in: travelling) != nil { names.insert(name) }
        return names
    }

    /// The names of the pending segments that travel.
    public func exportedSegments() throws(FileError) -> Set<String> { names(in: try scan(), of: try travelling()) }

    /// What marks say of segments that are pending under other names than they were exported under, by their names now.
    public func renamedExports(_ marks: [ExportMark]) throws(FileError) -> [String: TravellingSegments.Entry] {
        var missing = marks
        for index in missing.indices { missing[index].segments.removeAll { (try? directory.contains($0.name)) != false } }
        let travelling = TravellingSegments(missing)
        guard !travelling.isEmpty else { return [:] }
        let listing = try scan()
        var renamed: [String: TravellingSegments.Entry] = [:]
        for name in listing.entries.lazy.map(listing.name) { renamed[name] = entry(of: name, in: travelling) }
        return renamed
    }
}
