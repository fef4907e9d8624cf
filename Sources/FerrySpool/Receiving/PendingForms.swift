import CLinux

extension Spool {
    /// The pending files that hold a segment's events: its own, or those of its halves, and of theirs.
    public func pendingForms(of segment: SegmentName) throws(FileError) -> [String] { try directory.forms(of: segment) }

    /// Whether a pending file is about to leave: a process has claimed it, or it travels in a bundle.
    public func isLeaving(_ name: String) throws(FileError) -> Bool {
        do throws(FileError) {
            if let file = try directory.open(name), file.isHeld { return true }
        } catch {
            // A link, a pipe or a folder of its name goes nowhere.
            guard error.isAboutKind else { throw error }
        }
        let travelling = try travelling()
        return !travelling.isEmpty && entry(of: name, in: travelling) != nil
    }

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

/// The names of the files that hold the events of some segments, by the segments' IDs.
public struct SegmentForms: Sendable {
    fileprivate let pending: [String: [String]]
    fileprivate let rejected: [String: [String]]
}

extension Spool {
    /// Looks for the forms of many segments at once: a large folder is listed once for all of them.
    public func forms(of segments: [SegmentName]) throws(FileError) -> SegmentForms {
        let ids = Set(segments.map(\.id))
        return SegmentForms(
            pending: try directory.forms(of: ids), rejected: try rejectedFolder()?.forms(of: ids) ?? [:])
    }
}

extension Directory {
    fileprivate func forms(of ids: Set<String>) throws(FileError) -> [String: [String]] {
        var forms: [String: [String]] = [:]
        try forEachName { bytes in
            let name = String(decoding: bytes, as: UTF8.self)
            guard let segment = SegmentName(name.withoutCopyNumber) else { return }
            var id = Substring(segment.id)
            while true {
                if ids.contains(String(id)) { forms[String(id), default: []].append(name) }
                guard let last = id.last, last == "0" || last == "1" else { return }
                id.removeLast()
            }
        }
        return forms
    }

    /// The names of the files that hold a segment's events.
    ///
    /// The ID says which segment it is: a file may have got another priority or time, and what was rejected a number behind its name.
    func forms(of segment: SegmentName) throws(FileError) -> [String] {
        try contains(segment.fileName) ? [segment.fileName] : allForms(of: segment)
    }

    /// The same where several may lie, as `NAME~1` beside `NAME` in rejected/.
    func allForms(of segment: SegmentName) throws(FileError) -> [String] {
        var forms: [String] = []
        let part = Array(segment.id.utf8)
        try forEachName { bytes in
            // Most of many names end here.
            if memmem(bytes.baseAddress, bytes.count, part, part.count) == nil { return }
            let name = String(decoding: bytes, as: UTF8.self)
            guard let id = SegmentName(name.withoutCopyNumber)?.id, id.hasPrefix(segment.id),
                id.dropFirst(segment.id.count).allSatisfy({ $0 == "0" || $0 == "1" })
            else { return }
            forms.append(name)
        }
        return forms
    }
}
