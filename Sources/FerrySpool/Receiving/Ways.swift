import Synchronization

/// The ways that segments came, where their files do not tell: a file system may keep no extended attributes, a copy by another tool may have
/// lost them, and another user's file takes none.
///
/// The log of received keys has the way of each segment that came; what came another way too, and could not be noted in its file, is in
/// `ways-YYYYMMDD.jsonl`. Each is read when it is first asked for, and from there on what is new.
package final class Ways: Sendable {
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

    /// Creates an index that has read nothing yet.
    package init() {}

    /// Returns the way that a segment came; ``Trail/none`` for what was made here, and for another tool's file.
    ///
    /// Where a log cannot be read, all that may have come counts as come, from wherever: it can be sent, and no spool ends its own copy on its word.
    ///
    /// - Parameter segment: The file's name as that of a segment; `nil` for another tool's.
    package func trail(of file: OpenFile, _ segment: SegmentName?, in spool: Spool) -> Trail {
        trail(file.trail, segment, in: spool)
    }

    /// Returns the same, of a segment with this note in its file.
    ///
    /// - Parameter stateChanges: Two equal numbers mean that no name came into the state folder in between; `nil`: that is not known.
    package func trail(_ noted: Trail, _ segment: SegmentName?, in spool: Spool, stateChanges: Int? = nil) -> Trail {
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

    /// Returns the number of a way, which gets one if it has none yet.
    ///
    /// - Parameter way: `nil`: an earlier version noted none.
    private mutating func number(of way: String?) -> Int {
        if let known = numbers[way] { return known }
        trails.append(Self.trail(way))
        numbers[way] = trails.count - 1
        return trails.count - 1
    }

    /// Reads a way.
    ///
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
