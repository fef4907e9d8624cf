package import FerrySpool

/// The runs of a spool's logs of received keys: which keys came, however many, in little memory and without reading the logs.
///
/// The logs decide. A run that is damaged, gone or of another log is left out, and the lines that it covered count as not read yet.
package struct KeyRuns: Sendable {
    private let folder: Directory?
    /// By the names of the logs, in the order of what they tell about, without gaps from the log's beginning.
    private var runs: [(log: String, runs: [KeyRun])] = []

    /// How much of a log becomes a run, in bytes.
    struct Sizes: Sendable {
        /// A log with more than that which no run tells about gets one when the spool is opened: some 8,000 lines.
        var unread: Int64 = 2 << 20
        /// How many bytes of the log become a run at once: some half a million lines, sorted in 16 MB of memory.
        var step: Int64 = 128 << 20
    }

    private let sizes: Sizes
    /// How many runs of a size become one of the next.
    private static let fanOut = 8

    /// Opens the runs of a spool's logs, and makes those that are worth it. Where the disk is full, they are made another time.
    ///
    /// - Parameters:
    ///   - end: They tell about nothing behind it; `nil`: about whole logs.
    ///   - unusable: Files that are left out.
    package init(of spool: Spool, upTo end: ReceivedLogPlace? = nil, leavingOut unusable: Set<String> = []) throws(FileError) {
        try self.init(of: spool, Sizes(), upTo: end, leavingOut: unusable)
    }

    init(
        of spool: Spool, _ sizes: Sizes, upTo last: ReceivedLogPlace? = nil, leavingOut unusable: Set<String> = []
    ) throws(FileError) {
        self.sizes = sizes
        folder = spool.stateDirectory
        guard let folder else { return }
        let names = try folder.names()
        for log in names.filter(spool.received.isLog).sorted() {
            guard let file = try folder.open(log) else { continue }
            let candidates = names.compactMap { unusable.contains($0) ? nil : KeyRunName($0) }.filter { $0.log == log }
            runs.append((log, try Self.chain(candidates, in: folder, of: file)))
        }
        let logs = Set(runs.map(\.log))
        for name in names { if let name = KeyRunName(name), !logs.contains(name.log) { try? folder.remove(name.fileName) } }
        let ends = try runs.map { (log, runs) throws(FileError) in
            (log, min(try folder.status(log)?.size.bytes ?? 0, last.map { $0.offsets[log] ?? 0 } ?? .max))
        }
        let due = ends.filter { $0.1 - end(of: $0.0) > sizes.unread }
        do throws(KeyRunError) { try cover(to: ReceivedLogPlace(offsets: Dictionary(due) { first, _ in first })) } catch {}
    }

    /// Removes a run that turned out to be of no use, so that it is made again.
    package static func remove(_ name: String, of spool: Spool) { try? spool.stateDirectory?.remove(name) }

    /// Removes the runs of logs that are gone.
    package mutating func forget(_ logs: Set<String>) {
        for (log, runs) in runs where logs.contains(log) { for run in runs { try? folder?.remove(run.name.fileName) } }
        runs.removeAll { logs.contains($0.log) }
    }

    /// How far the runs tell about the logs.
    package var place: ReceivedLogPlace {
        ReceivedLogPlace(offsets: Dictionary(runs.map { ($0.log, end(of: $0.log)) }) { first, _ in first })
    }

    private func end(of log: String) -> Int64 { runs.first { $0.log == log }?.runs.last?.range.upperBound ?? 0 }

    /// Chooses runs that tell about a log from its beginning without gaps, the longest first. The others are removed: a run that another one
    /// took the place of, or that does not fit the log.
    private static func chain(_ candidates: [KeyRunName], in folder: Directory, of log: OpenFile) throws(FileError) -> [KeyRun] {
        let sorted = candidates.sorted {
            ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound)
        }
        var chain: [KeyRun] = []
        for name in sorted {
            if name.range.lowerBound == chain.last?.range.upperBound ?? 0 {
                do throws(KeyRunError) {
                    chain.append(try using(name) { () throws(FileError) in try KeyRun(name, in: folder, of: log) })
                    continue
                } catch {
                    if case .file(let error) = error { throw error }
                }
            }
            try? folder.remove(name.fileName)
        }
        return chain
    }

    /// Returns what the logs say of some keys, and of what may be halves of their segments, in the order of the logs. An ID that is made from a key
    /// finds that key's line.
    package func entries(of keys: some Sequence<String>) throws(KeyRunError) -> [ReceivedEntry] {
        guard let folder else { return [] }
        let hashes = Set(keys.flatMap { key in [KeyHash(key)] + (SegmentID(key)?.number.map { [KeyHash($0)] } ?? []) })
        var entries: [ReceivedEntry] = []
        for (log, runs) in runs {
            for run in runs {
                var places: [UInt64: (KeyHash, KeyPlace)] = [:]
                for hash in hashes where run.mayContain(hash) {
                    let found = try using(run.name) { () throws(FileError) in try run.places(of: hash, in: folder) }
                    for place in found { places[place.number] = (hash, place) }
                }
                for (_, (hash, place)) in places.sorted(by: { $0.key < $1.key }) {
                    guard let entry = try Self.entry(at: place, under: hash, in: log, folder, run) else { continue }
                    entries.append(entry)
                }
            }
        }
        return entries
    }

    /// Returns what the logs say under a hash, of the key itself and of what may be a half of its segment, in the order of the logs.
    func entries(under hash: KeyHash) throws(KeyRunError) -> [(entry: ReceivedEntry, isOfHalf: Bool)] {
        guard let folder else { return [] }
        var entries: [(entry: ReceivedEntry, isOfHalf: Bool)] = []
        for (log, runs) in runs {
            for run in runs where run.mayContain(hash) {
                let places = try using(run.name) { () throws(FileError) in try run.places(of: hash, in: folder) }
                for place in places {
                    guard let entry = try Self.entry(at: place, under: hash, in: log, folder, run) else { continue }
                    entries.append((entry, place.isOfHalf))
                }
            }
        }
        return entries
    }

    /// Returns whether something came that may be a half of the segment with this hash.
    func hasHalf(of hash: KeyHash) throws(KeyRunError) -> Bool {
        guard let folder else { return false }
        for (_, runs) in runs {
            for run in runs where run.mayContain(hash) {
                let places = try using(run.name) { () throws(FileError) in try run.places(of: hash, in: folder) }
                if places.contains(where: \.isOfHalf) { return true }
            }
        }
        return false
    }

    /// Reads the line of the log at a place.
    ///
    /// - Returns: `nil` for a line that a killed process has left without its end.
    private static func entry(
        at place: KeyPlace, under hash: KeyHash, in log: String, _ folder: Directory, _ run: KeyRun
    ) throws(KeyRunError) -> ReceivedEntry? {
        let line: [UInt8]?
        do throws(FileError) { line = try folder.open(log)?.line(at: place.offset) } catch { throw .file(error) }
        let (key, entry) = (line ?? []).withUnsafeBufferPointer {
            (KeyRunBuilder.key(in: $0), JSONLine.decode(ReceivedEntry.self, $0))
        }
        // Another log has another line there.
        guard let key, KeyRunBuilder.records(of: key, at: place.offset).contains(KeyRecord(hash: hash, place: place)) else {
            throw .unusable(name: run.name.fileName)
        }
        return entry
    }

    /// Makes runs of what the logs have up to a place, then fewer and larger ones of many small ones.
    ///
    /// - Parameter place: Ends of lines. What is not in it is left as it is.
    package mutating func cover(to place: ReceivedLogPlace) throws(KeyRunError) {
        guard let folder else { return }
        for (log, end) in place.offsets.sorted(by: { $0.key < $1.key }) {
            let start = self.end(of: log)
            let file: OpenFile?
            do throws(FileError) { file = try folder.open(log) } catch { throw .file(error) }
            guard let file else { continue }
            if let last = runs.first(where: { $0.log == log })?.runs.last {
                let isOfLog: Bool
                do throws(FileError) { isOfLog = try last.isOf(file) } catch { throw .file(error) }
                // The log was cut, or is another one now.
                guard isOfLog else { throw .unusable(name: last.name.fileName) }
            }
            guard end > start else { continue }
            let built = try KeyRunBuilder.runs(of: log, file, start..<end, step: sizes.step, in: folder)
            append(built, of: log)
        }
        for index in runs.indices { try merge(index, in: folder) }
    }

    private mutating func append(_ built: [KeyRun], of log: String) {
        if let index = runs.firstIndex(where: { $0.log == log }) {
            runs[index].runs += built
        } else {
            runs.append((log, built))
            runs.sort { $0.log < $1.log }
        }
    }

    /// Makes one run of the last ones of a log while there are many of a size; of one that is not the newest, in any case.
    private mutating func merge(_ index: Int, in folder: Directory) throws(KeyRunError) {
        let isNewest = index == runs.count - 1
        while let count = Self.mergeable(runs[index].runs.map(\.records), isGrowing: isNewest) {
            let (log, all) = runs[index]
            let merged = try KeyRunBuilder.merge(Array(all.suffix(count)), of: log, in: folder)
            runs[index].runs.replaceSubrange((all.count - count)..., with: [merged])
            for run in all.suffix(count) { try? folder.remove(run.name.fileName) }
        }
    }

    /// Returns how many of the last runs are to become one; `nil`: none.
    ///
    /// - Parameter isGrowing: Whether the log still gets lines.
    static func mergeable(_ records: [Int], isGrowing: Bool) -> Int? {
        guard isGrowing else { return records.count > 1 ? records.count : nil }
        // As large as the last one, or smaller.
        guard let last = records.last else { return nil }
        let alike = records.reversed().prefix { $0 / fanOut < max(last, 1) }.count
        return alike >= fanOut ? alike : nil
    }
}
