import CLinux

/// The names of the files that hold the events of some segments, by the segments' IDs.
package struct SegmentForms: Sendable {
    let pending: [String: [String]]
    let rejected: [String: [String]]
}

extension Spool {
    /// Returns the pending files that hold a segment's events: its own, or those of its halves, and of theirs.
    package func pendingForms(of segment: SegmentName) throws(FileError) -> [String] { try directory.forms(of: segment) }

    /// Looks for the forms of many segments at once: a large folder is listed once for all of them.
    package func forms(of segments: [SegmentName]) throws(FileError) -> SegmentForms {
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

    /// Returns the names of the files that hold a segment's events.
    ///
    /// The ID says which segment it is: a file may have got another priority or time, and what was rejected a number behind its name.
    func forms(of segment: SegmentName) throws(FileError) -> [String] {
        try contains(segment.fileName) ? [segment.fileName] : allForms(of: segment)
    }

    /// Returns the same where several may lie, as `NAME~1` beside `NAME` in rejected/.
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
