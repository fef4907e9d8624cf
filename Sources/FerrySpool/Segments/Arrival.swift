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

    /// Makes arrivals segments: contents to the disk, then their keys into the log, then the names. Several share the forced writes.
    ///
    /// The line in the log decides. A crash before it leaves nothing but a hidden file that is removed; after it,
    /// ``finishArrivals()`` completes the rename.
    ///
    /// - Parameter isBulk: One call forces the whole file system to the disk, instead of one for each file.
    /// - Returns: For each, `false` when a segment of that name is there already; nothing is changed then.
    public func admit(
        _ arrivals: [(arrival: Arrival, entry: ReceivedEntry)], isBulk: Bool = false
    ) throws(FileError) -> [Bool] {
        var isAdmitted = arrivals.map { !directory.contains($0.entry.segment) }
        var entries: [ReceivedEntry] = []
        for index in arrivals.indices where isAdmitted[index] {
            if !isBulk { try arrivals[index].arrival.file.sync() }
            var entry = arrivals[index].entry
            entry.file = arrivals[index].arrival.fileName
            entries.append(entry)
        }
        guard !entries.isEmpty else { return isAdmitted }
        if isBulk { try directory.syncFileSystem() }
        try logReceived(entries)
        for index in arrivals.indices where isAdmitted[index] {
            isAdmitted[index] = try directory.renameWithoutReplacing(
                arrivals[index].arrival.fileName, to: arrivals[index].entry.segment)
        }
        try directory.sync()
        return isAdmitted
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
