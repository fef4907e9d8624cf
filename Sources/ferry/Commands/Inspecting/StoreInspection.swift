import FerrySpool
import FerryUpload
import FoundationEssentials

/// Shows what is in an object store that segments were put into.
struct StoreInspection {
    let store: ObjectStore
    let log: Log

    private struct Line: Encodable {
        let object: String
        /// The segment's name; `nil` where another tool gave it.
        let segment: String?
        let created: Timestamp?
        let bytes: Int64
        let modified: Timestamp
    }

    /// Prints a line for each object.
    func list(most: Int?, isJSON: Bool) async throws {
        var left = most ?? .max
        try await forEachPage { page in
            for object in page.prefix(left) {
                if isJSON {
                    let segment = SegmentName(object.fileName)
                    try StandardOutput.print(
                        try Line(
                            object: object.name, segment: segment?.fileName, created: segment?.created, bytes: object.size.bytes,
                            modified: object.modified
                        ).jsonLine())
                } else {
                    try StandardOutput.print("\(object.name)  \(object.size)  \(object.modified.rfc3339)")
                }
            }
            left -= min(left, page.count)
            return left > 0
        }
        try StandardOutput.flush()
    }

    /// Prints the events of each object that `matches` takes, in the order of names.
    func print(_ progress: Progress, where matches: (String) -> Bool) async throws {
        progress.begin(ProgressLine(verb: "printed", unit: .object))
        let environment = ProcessInfo.processInfo.environment
        let scratch = environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var reader = store.reader()
        var (others, isDamaged) = (0 as Int64, false)
        try await forEachPage { page in
            for object in page {
                guard ForeignName.isLegal(object.fileName) else {
                    others += 1
                    continue
                }
                guard matches(object.fileName) else { continue }
                do {
                    let file = try OpenFile.unnamed(in: scratch)
                    try await reader.get(object, into: file)
                    try Self.print(file)
                    progress.count(object.size)
                } catch let error as ObjectStoreError where error.isOfObject {
                    log.warn("\(object.name): \(error)")
                    isDamaged = true
                } catch let damage as GzipError {
                    log.warn("\(object.name): \(damage); what comes before it is printed")
                    isDamaged = true
                }
            }
            return true
        }
        try StandardOutput.flush()
        if others > 0 {
            log.warn("\(counted(others, "object")) of \(store.description) with other names than segments were left out")
        }
        if isDamaged { throw ExitStatus.badData.code }
    }

    private static func print(_ file: OpenFile) throws {
        var last = UInt8(ascii: "\n")
        defer { if last != UInt8(ascii: "\n") { try? StandardOutput.print("") } }
        try file.inflate(limit: ByteCount(.max), wholeUpTo: .oneAtATime) { bytes in
            try StandardOutput.write(bytes)
            last = bytes.last ?? last
        }
    }

    private func forEachPage(_ body: ([ListedObject]) async throws -> Bool) async throws {
        var reader = store.reader()
        do {
            let flawed = try await reader.forEachPage(store.namesBegin, body)
            if flawed > 0 {
                log.warn("\(counted(Int64(flawed), "entry", "entries")) of the list of \(store.description) cannot be read")
            }
        } catch let error as ObjectStoreError {
            try StandardOutput.flush()
            throw CommandError(error)
        }
    }
}
