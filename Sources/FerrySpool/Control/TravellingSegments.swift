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

    /// Whether one may be a copy of the other, as rsync and cp -p make them.
    package func mayBeCopy(of other: ExportedFile) -> Bool { size == other.size && modified == other.modified }

    /// Whether the two are one file, written into meanwhile or not.
    func hasInode(of other: ExportedFile) -> Bool { inode == other.inode }
}

/// The segments that travel by hand, known by what they are: another priority or stream in its name makes no other segment, and what has
/// got the name of one from another tool is another segment.
public struct TravellingSegments: Sendable {
    /// What a mark says of a segment.
    public struct Entry: Sendable {
        public let bundle: String
        /// The segment's name when it was exported.
        public let name: String
        fileprivate let file: ExportedFile?
    }

    private var byName: [FileName: Entry] = [:]
    private var byID: [String: Entry] = [:]
    private var byFile: [ExportedFile: Entry] = [:]
    /// Those that had names from other tools.
    private var foreign: [Entry] = []
    /// Names from other tools whose segments have other names now.
    private var moved: Set<FileName> = []

    public init() {}

    init(_ marks: [ExportMark]) {
        for mark in marks {
            for segment in mark.segments { add(Entry(bundle: mark.bundle, name: segment.name, file: segment.file)) }
        }
    }

    fileprivate mutating func add(_ entry: Entry) {
        byName[entry.name] = entry
        if let id = SegmentName(entry.name)?.id { byID[id] = entry } else { foreign.append(entry) }
        if let file = entry.file { byFile[file] = entry }
    }

    public var isEmpty: Bool { byName.isEmpty }

    /// - Parameter file: Asked only where the name does not tell.
    func entry(of name: String, file: () -> ExportedFile?) -> Entry? {
        let named = byName[name]
        if let id = SegmentName(name)?.id {
            if let entry = named ?? byID[id] { return entry }
            guard !foreign.isEmpty else { return nil }
        }
        guard !byFile.isEmpty, let file = file() else { return named }
        if let named, named.file == file { return named }
        if let entry = byFile[file] { return entry }
        // Another file under its name: it was written into or restored, unless the exported one lies elsewhere.
        guard moved.contains(name), named?.file?.hasInode(of: file) != true else { return named }
        return nil
    }

    /// The same by the ID or the file alone.
    fileprivate func renamedEntry(of name: String, file: () -> ExportedFile?) -> Entry? {
        let id = SegmentName(name)?.id
        if let id, let entry = byID[id] { return entry }
        guard id == nil || !foreign.isEmpty, !byFile.isEmpty else { return nil }
        return file().flatMap { byFile[$0] }
    }

    /// Learns which names from other tools have been given to other files, while the exported ones lie under new names.
    fileprivate mutating func noteMoves(among listing: SpoolListing, file: (String) -> ExportedFile?) {
        let isAnyUsedAgain = foreign.contains { entry in
            guard let exported = entry.file, let file = file(entry.name) else { return false }
            return !exported.hasInode(of: file)
        }
        guard isAnyUsedAgain else { return }
        for name in listing.entries.lazy.map(listing.name) {
            guard let file = file(name), let entry = byFile[file], FileName(entry.name) != FileName(name) else { continue }
            moved.insert(entry.name)
        }
    }
}

extension Spool {
    /// The segments that travel now.
    public func travelling() throws(FileError) -> TravellingSegments { TravellingSegments(try exportMarks()) }

    /// The segments that travel now; where a listing shows that the name of one was used again, the new file does not.
    public func travelling(in listing: SpoolListing) throws(FileError) -> TravellingSegments {
        var travelling = try travelling()
        travelling.noteMoves(among: listing, file: exportedFile)
        return travelling
    }

    private func exportedFile(_ name: String) -> ExportedFile? {
        ((try? directory.status(name)) ?? nil).map { ExportedFile($0) }
    }

    /// What a mark says of a pending segment; `nil` when it does not travel.
    public func entry(of name: String, in travelling: TravellingSegments) -> TravellingSegments.Entry? {
        travelling.entry(of: name) { exportedFile(name) }
    }

    /// The names of the pending segments that travel.
    public func names(in listing: SpoolListing, of travelling: TravellingSegments) -> Set<FileName> {
        guard !travelling.isEmpty else { return [] }
        var names: Set<FileName> = []
        for name in listing.entries.lazy.map(listing.name) where entry(of: name, in: travelling) != nil { names.insert(name) }
        return names
    }

    /// The names of the pending segments that travel.
    public func exportedSegments() throws(FileError) -> Set<FileName> {
        let listing = try scan()
        return names(in: listing, of: try travelling(in: listing))
    }

    /// The names that exported segments have now, by the names that they were exported under, where the two differ: for each mark.
    public func newNames(of marks: [ExportMark]) throws(FileError) -> [[FileName: String]] {
        var newNames = [[FileName: String]](repeating: [:], count: marks.count)
        var missing: [(mark: Int, segments: TravellingSegments, inPlace: Set<FileName>)] = []
        for (index, mark) in marks.enumerated() {
            var (away, inPlace) = (TravellingSegments(), Set<FileName>())
            for segment in mark.segments {
                if isInPlace(segment) {
                    if segment.file != nil { inPlace.insert(segment.name) }
                } else {
                    away.add(.init(bundle: mark.bundle, name: segment.name, file: segment.file))
                }
            }
            if !away.isEmpty { missing.append((index, away, inPlace)) }
        }
        guard !missing.isEmpty else { return newNames }
        let listing = try scan()
        for name in listing.entries.lazy.map(listing.name) {
            for (mark, segments, inPlace) in missing where !inPlace.contains(name) {
                guard let entry = segments.renamedEntry(of: name, file: { exportedFile(name) }) else { continue }
                if FileName(entry.name) != FileName(name) { newNames[mark][entry.name] = name }
            }
        }
        return newNames
    }

    /// Whether an exported segment is under its name. What cannot be examined is.
    private func isInPlace(_ segment: ExportMark.Segment) -> Bool {
        do throws(FileError) {
            guard let status = try directory.status(segment.name) else { return false }
            guard let file = segment.file, SegmentName(segment.name) == nil else { return true }
            return file == ExportedFile(status)
        } catch {
            return true
        }
    }
}
