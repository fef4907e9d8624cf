import Glibc
import Synchronization

/// The ways that segments came, where their files do not tell: a file system may keep no extended attributes, a copy by another tool may have
/// lost them, and another user's file takes none.
///
/// The log of received keys has the way of whatever came; what came another way too, and could not be noted in its file, is in `ways-YYYYMMDD.jsonl`.
/// Each is read when it is first asked for, and from there on what is new.
public final class Ways: Sendable {
    fileprivate struct State {
        var names = WayLogs()
        var places = LogPlaces()
        var arrivals: [SegmentID: Int] = [:]
        /// The ways of the arrivals. There are few.
        var trails: [Trail] = []
        var numbers: [String?: Int] = [:]
        var further: [SegmentID: Trail] = [:]
    }

    /// Held while a log is read: a second reader would only read the same.
    private let state = Mutex(State())

    public init() {}

    /// The way that a segment came; ``Trail/none`` for what was made here, and for another tool's file.
    ///
    /// Where a log cannot be read, whatever may have come counts as come, from wherever: it can be sent, and no spool ends its own copy on its word.
    ///
    /// - Parameter segment: The file's name as that of a segment; `nil` for another tool's.
    public func trail(of file: OpenFile, _ segment: SegmentName?, in spool: Spool) -> Trail {
        trail(file.trail, segment, in: spool)
    }

    /// The same, of a segment with this note in its file.
    ///
    /// - Parameter stateChanges: Two equal numbers mean that no name came into the state folder in between; `nil`: that is not known.
    public func trail(_ noted: Trail, _ segment: SegmentName?, in spool: Spool, stateChanges: Int? = nil) -> Trail {
        guard let folder = spool.stateDirectory, let segment, let id = SegmentID(segment.id) else { return noted }
        return state.withLock { state in
            var isWhole = state.names.look(into: spool, folder, stateChanges: stateChanges)
            if isWhole, state.names.isEmpty { return noted }
            let family = [id] + SegmentID.ancestors(of: segment.id)
            var trail = noted
            if noted == .none {
                for name in state.names.received where !state.readArrivals(name, in: folder) { isWhole = false }
                if let id = family.first(where: { state.arrivals[$0] != nil }), let number = state.arrivals[id] {
                    trail = state.trails[number]
                }
            }
            for name in state.names.ways where !state.readFurther(name, in: folder) { isWhole = false }
            for id in family { trail = state.further[id].map { trail.merging($0) } ?? trail }
            return isWhole || trail != .none ? trail : Trail.none.adding(nil)
        }
    }
}

/// The names of the logs that tell ways, listed again when their folder has changed.
private struct WayLogs: Sendable {
    /// Of the last look; `nil` where what it did not see may have the same time.
    private var changed: FolderTime?
    private var stateChanges: Int?
    private(set) var received: [String] = []
    private(set) var ways: [String] = []

    /// Whether nothing has come.
    var isEmpty: Bool { received.isEmpty && ways.isEmpty }

    /// - Returns: Whether the folder could be listed.
    mutating func look(into spool: Spool, _ folder: Directory, stateChanges: Int?) -> Bool {
        if let stateChanges, stateChanges == self.stateChanges { return true }
        do throws(FileError) {
            let changed = try spool.directory.status(Spool.stateFolderName).map { FolderTime($0) }
            if let changed, changed == self.changed {
                self.stateChanges = stateChanges
                return true
            }
            // Looked at first: what is made meanwhile has a later time.
            let settled = changed?.settled(at: .now())
            let names = try folder.names().filter { $0.hasSuffix(".jsonl") }
            received = names.filter { $0.hasPrefix(Spool.receivedPrefix) }
            ways = names.filter { $0.hasPrefix(Spool.wayPrefix) }
            (self.changed, self.stateChanges) = (settled, stateChanges)
            return true
        } catch {
            return false
        }
    }
}

extension Ways.State {
    /// - Returns: Whether the log could be read.
    fileprivate mutating func readArrivals(_ name: String, in folder: Directory) -> Bool {
        var arrivals: [(id: SegmentID, way: String?, isNew: Bool)] = []
        let isRead = read(name, in: folder) { line in
            guard let segment = line.text(after: "\"segment\":\"").flatMap({ SegmentName($0) }), let id = SegmentID(segment.id)
            else { return }
            arrivals.append((id, line.text(after: "\"trail\":\""), line.end(of: "\"file\":\"") != nil))
        }
        for (id, way, isNew) in arrivals {
            // A line without a file is of what was here already.
            let known = isNew ? nil : self.arrivals[id].map { trails[$0] }
            self.arrivals[id] = known.map { number(of: $0.merging(Self.trail(way)).text) } ?? number(of: way)
        }
        return isRead
    }

    /// - Parameter way: `nil`: an earlier version noted none.
    private mutating func number(of way: String?) -> Int {
        if let known = numbers[way] { return known }
        trails.append(Self.trail(way))
        numbers[way] = trails.count - 1
        return trails.count - 1
    }

    /// - Parameter way: `nil`: it came, from wherever.
    private static func trail(_ way: String?) -> Trail { way.flatMap { Trail($0) } ?? Trail.none.adding(nil) }

    /// - Returns: Whether the log could be read.
    fileprivate mutating func readFurther(_ name: String, in folder: Directory) -> Bool {
        var ways: [(SegmentID, Trail)] = []
        let isRead = read(name, in: folder) { line in
            guard let id = line.text(after: "\"id\":\"").flatMap({ SegmentID($0) }),
                let trail = line.text(after: "\"trail\":\"").flatMap({ Trail($0) })
            else { return }
            ways.append((id, trail))
        }
        for (id, way) in ways { further[id] = further[id]?.merging(way) ?? way }
        return isRead
    }

    private mutating func read(
        _ name: String, in folder: Directory, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> Bool {
        do throws(FileError) {
            try places.forEachNewLine(of: name, in: folder, body)
            return true
        } catch {
            return false
        }
    }
}

extension Spool {
    /// One line of `.ferry/ways-YYYYMMDD.jsonl`.
    private struct WayEntry: Codable {
        let id: String
        let trail: String
    }

    /// Notes of a segment that it came another way too, durably.
    func noteWay(_ trail: Trail, of segment: SegmentName, at now: Timestamp = .now()) throws(FileError) {
        guard let stateDirectory else { throw FileError("write into", path, code: EROFS) }
        let line = JSONLine.encode(WayEntry(id: segment.id, trail: trail.text))
        let name = "\(Self.wayPrefix)\(now.compactDay).jsonl"
        try lendingReserve { () throws(FileError) in
            try stateDirectory.appendLines(to: name) { size throws(FileError) -> [UInt8] in
                // A sender that tries again and again comes the same way each time.
                let end = min(size, 1 << 16)
                let recent = try stateDirectory.open(name)?.readBytes(Int(end), at: size - end) ?? []
                return recent.split(separator: UInt8(ascii: "\n")).contains(line.dropLast()) ? [] : line
            }
        }
    }

    fileprivate static let wayPrefix = "ways-"

    /// Removes the notes of days whose segments have all ended. Today's may be written to, and yesterday's.
    func removeEndedWays(_ listing: SpoolListing) throws(FileError) {
        guard let stateDirectory else { return }
        let names = try stateDirectory.names().filter { $0.hasPrefix(Self.wayPrefix) && $0.hasSuffix(".jsonl") }
        if names.isEmpty { return }
        var here: Set<String> = []
        for name in try listing.entries.map(listing.name) + (rejectedFolder()?.names() ?? []) {
            guard let id = SegmentName(name.withoutCopyNumber)?.id else { continue }
            here.formUnion([id] + SegmentID.ancestors(of: id).map(\.text))
        }
        for name in names {
            guard let status = try stateDirectory.status(name), Timestamp.now() - status.modified > Self.wayAge else { continue }
            var isHere = false
            var places = LogPlaces()
            try places.forEachNewLine(of: name, in: stateDirectory) { line in
                if let id = line.text(after: "\"id\":\""), here.contains(id) { isHere = true }
            }
            if !isHere { try stateDirectory.remove(name) }
        }
    }

    private static let wayAge = Duration.seconds(2 * 24 * 3600)
}

extension Spool {
    /// Notes of what is here of a segment that it came another way too, so that it goes back on neither: of what is pending, and of what was
    /// rejected and may be tried again. What no file takes goes into the spool's own notes.
    ///
    /// - Parameter ways: Tell how it came before, where its file does not.
    /// - Parameter forms: The names that it may have, where they were looked for already.
    public func note(
        _ trail: Trail, of segment: SegmentName, besides ways: Ways, forms: SegmentForms? = nil
    ) throws(FileError) {
        var (isNoted, isNew) = (true, false)
        for (folder, known) in [(directory, forms?.pending), (try rejectedFolder(), forms?.rejected)] {
            guard let folder else { continue }
            let names = if let known { known[segment.id] ?? [] } else { try folder.forms(of: segment) }
            for name in names {
                do throws(FileError) {
                    guard let file = try folder.open(name) else { continue }
                    let before = ways.trail(of: file, SegmentName(name.withoutCopyNumber), in: self)
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
            try noteWay(trail, of: segment)
        } else if isNew {
            // Copies of the spool may lack the attribute.
            try? noteWay(trail, of: segment)
        }
    }
}
