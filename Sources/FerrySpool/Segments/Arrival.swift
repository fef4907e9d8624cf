/// A segment on its way in: a hidden file under a lock, whose name a killed receiver leaves behind.
public struct Arrival: Sendable {
    public let file: OpenFile
    public let fileName: String
}

extension Spool {
    private static let arrivalSuffix = ".ferry-in"

    /// Begins a hidden file for what comes in.
    public func beginArrival() throws(FileError) -> Arrival {
        let name = ".\(SegmentID.random())\(Self.arrivalSuffix)"
        let file = try directory.create(name)
        _ = file.tryLock()
        return Arrival(file: file, fileName: name)
    }

    public func discard(_ arrival: Arrival) { try? directory.remove(arrival.fileName) }

    /// Makes an arrival a segment: content to the disk, then its key into the log, then the name.
    ///
    /// The line in the log decides. A crash before it leaves nothing but a hidden file that is removed; after it,
    /// ``finishArrivals()`` completes the rename.
    ///
    /// - Returns: `false` when a segment of that name is there already; nothing is changed then.
    public func admit(_ arrival: Arrival, _ entry: ReceivedEntry) throws(FileError) -> Bool {
        guard !directory.contains(entry.segment) else { return false }
        try arrival.file.sync()
        var entry = entry
        entry.file = arrival.fileName
        try logReceived(entry)
        guard try directory.renameWithoutReplacing(arrival.fileName, to: entry.segment) else { return false }
        try directory.sync()
        return true
    }

    /// Completes or removes the arrivals that a killed receiver left.
    ///
    /// - Returns: The segments that were published.
    public func finishArrivals() throws(FileError) -> [String] { try finishArrivals(among: directory.hiddenNames()) }

    /// - Parameter names: The hidden names in the folder.
    func finishArrivals(among names: [String]) throws(FileError) -> [String] {
        var left: [String: OpenFile] = [:]
        for name in names where name.hasSuffix(Self.arrivalSuffix) {
            if let file = try directory.open(name), file.tryLock() { left[name] = file }
        }
        guard !left.isEmpty else { return [] }
        var segments: [String: String] = [:]
        try forEachReceived { entry in
            if let file = entry.file, left[file] != nil { segments[file] = entry.segment }
        }
        var published: [String] = []
        for name in left.keys.sorted() {
            guard let segment = segments[name], try directory.renameWithoutReplacing(name, to: segment) else {
                try directory.remove(name)
                continue
            }
            published.append(segment)
        }
        try directory.sync()
        return published
    }
}
