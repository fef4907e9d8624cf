/// The segments that travel by hand, known by what they are: another priority or stream in its name makes no other segment, and what has
/// got the name of one from another tool is another segment.
package struct TravellingSegments: Sendable {
    /// What a mark says of a segment.
    package struct Entry: Sendable {
        /// The ID of the bundle that the segment travels in.
        package let bundle: String
        /// The segment's name when it was exported.
        package let name: String
        fileprivate let sha256: String
        fileprivate let file: ExportedFile?

        init(_ segment: ExportMark.Segment, in mark: ExportMark) {
            (bundle, name, sha256, file) = (mark.bundle, segment.name, segment.sha256, segment.file)
        }

        /// Returns whether another file of its name begins with what was exported: it was restored, or written on. What cannot be read counts as if
        /// it did.
        ///
        /// - Parameter digest: Returns the SHA-256 of the file's first bytes, as many as it is given, in hexadecimal.
        fileprivate func begins(_ other: ExportedFile, digest: (Int64) -> String?) -> Bool {
            guard let file, sha256 != ExportUnderWay.noSum else { return true }
            return file.size <= other.size && digest(file.size).map { $0 == sha256 } ?? true
        }
    }

    /// By their names when they were exported; several bundles may have exported one name.
    private var byName: [FileName: [Entry]] = [:]
    private var byID: [String: Entry] = [:]
    private var byFile: [ExportedFile: Entry] = [:]
    /// Those that had names from other tools.
    private var foreign: [Entry] = []
    /// Names from other tools whose segments have other names now.
    private var moved: Set<FileName> = []

    /// Creates a set in which no segment travels.
    package init() {}

    init(_ marks: [ExportMark]) {
        for mark in marks {
            for segment in mark.segments { add(Entry(segment, in: mark)) }
        }
    }

    fileprivate mutating func add(_ entry: Entry) {
        byName[entry.name, default: []].append(entry)
        if let id = SegmentName(entry.name)?.id { byID[id] = entry } else { foreign.append(entry) }
        if let file = entry.file { byFile[file] = entry }
    }

    /// Whether no segment travels.
    package var isEmpty: Bool { byName.isEmpty }

    /// Returns what the marks say of a file.
    ///
    /// - Parameters:
    ///   - file: Asked only where the name does not tell.
    ///   - digest: Returns the SHA-256 of the file's first bytes, as many as it is given, in hexadecimal. Asked only where nothing else tells.
    func entry(of name: String, file: () -> ExportedFile?, digest: (Int64) -> String?) -> Entry? {
        let named = byName[name] ?? []
        if let id = SegmentName(name)?.id {
            if let entry = named.last ?? byID[id] { return entry }
            guard !foreign.isEmpty else { return nil }
        }
        guard !byFile.isEmpty, let file = file() else { return named.last }
        if let entry = named.last(where: { $0.file == file }) ?? byFile[file] { return entry }
        // Another file under its name. The exported one may lie elsewhere.
        if moved.contains(name), !named.contains(where: { $0.file?.hasInode(of: file) == true }) { return nil }
        // Restored or written on, it is what travels; what another tool has written anew under the name is not.
        return named.last { $0.begins(file, digest: digest) }
    }

    /// Returns the same by the ID or the file alone.
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

extension ExportsFolder {
    /// Returns the segments that travel now.
    package func travelling() throws(FileError) -> TravellingSegments { TravellingSegments(try marks()) }

    /// Returns the segments that travel now; where a listing shows that the name of one was used again, the new file does not.
    package func travelling(in listing: SpoolListing) throws(FileError) -> TravellingSegments {
        var travelling = try travelling()
        travelling.noteMoves(among: listing, file: exportedFile)
        return travelling
    }

    private func exportedFile(_ name: String) -> ExportedFile? {
        ((try? spool.directory.status(name)) ?? nil).map { ExportedFile($0) }
    }

    private func exportedDigest(_ name: String, of size: Int64) -> String? {
        guard let file = (try? spool.directory.open(name)) ?? nil, let sum = try? file.digest(size: size) else { return nil }
        return sum.digest.hexadecimal
    }

    /// Returns what a mark says of a pending segment; `nil` when it does not travel.
    package func entry(of name: String, in travelling: TravellingSegments) -> TravellingSegments.Entry? {
        travelling.entry(of: name, file: { exportedFile(name) }, digest: { exportedDigest(name, of: $0) })
    }

    /// Returns whether an exported segment is pending under the name that it was exported under. What cannot be examined is.
    func isPending(_ segment: ExportMark.Segment, of mark: ExportMark) -> Bool {
        do throws(FileError) {
            guard let status = try spool.directory.status(segment.name) else { return false }
            let file = ExportedFile(status)
            return SegmentName(segment.name) != nil || segment.file == file
                || TravellingSegments.Entry(segment, in: mark).begins(file) { exportedDigest(segment.name, of: $0) }
        } catch {
            return true
        }
    }

    /// Returns the names of the pending segments that travel.
    package func names(in listing: SpoolListing, of travelling: TravellingSegments) -> Set<FileName> {
        guard !travelling.isEmpty else { return [] }
        var names: Set<FileName> = []
        for name in listing.entries.lazy.map(listing.name) where entry(of: name, in: travelling) != nil { names.insert(name) }
        return names
    }

    /// Returns the names of the pending segments that travel.
    package func segments() throws(FileError) -> Set<FileName> {
        let listing = try spool.scan()
        return names(in: listing, of: try travelling(in: listing))
    }

    /// Returns the names that exported segments have now, by the names that they were exported under, where the two differ: for each mark.
    package func newNames(of marks: [ExportMark]) throws(FileError) -> [[FileName: String]] {
        var newNames = [[FileName: String]](repeating: [:], count: marks.count)
        var missing: [(mark: Int, segments: TravellingSegments, inPlace: Set<FileName>)] = []
        for (index, mark) in marks.enumerated() {
            var (away, inPlace) = (TravellingSegments(), Set<FileName>())
            for segment in mark.segments {
                if isInPlace(segment) {
                    if segment.file != nil { inPlace.insert(segment.name) }
                } else {
                    away.add(.init(segment, in: mark))
                }
            }
            if !away.isEmpty { missing.append((index, away, inPlace)) }
        }
        guard !missing.isEmpty else { return newNames }
        let listing = try spool.scan()
        for name in listing.entries.lazy.map(listing.name) {
            for (mark, segments, inPlace) in missing where !inPlace.contains(name) {
                guard let entry = segments.renamedEntry(of: name, file: { exportedFile(name) }) else { continue }
                if FileName(entry.name) != FileName(name) { newNames[mark][entry.name] = name }
            }
        }
        return newNames
    }

    /// Returns whether an exported segment is under its name. What cannot be examined is.
    private func isInPlace(_ segment: ExportMark.Segment) -> Bool {
        do throws(FileError) {
            guard let status = try spool.directory.status(segment.name) else { return false }
            guard let file = segment.file, SegmentName(segment.name) == nil else { return true }
            return file == ExportedFile(status)
        } catch {
            return true
        }
    }
}

extension ExportsFolder {
    /// Returns whether a pending file is about to leave: a process has claimed it, or it travels in a bundle.
    package func isLeaving(_ name: String) throws(FileError) -> Bool {
        do throws(FileError) {
            if let file = try spool.directory.open(name), file.isHeld { return true }
        } catch {
            // A link, a pipe or a folder of its name goes nowhere.
            guard error.isAboutKind else { throw error }
        }
        let travelling = try travelling()
        return !travelling.isEmpty && entry(of: name, in: travelling) != nil
    }
}
