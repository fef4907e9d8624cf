import FerrySpool
import FerryUpload
import FoundationEssentials
import Glibc

/// The objects of stores that are sent again: copied into the replay's own folder first, so that an interrupted one goes on with the same.
struct ReplayedObjects: Sendable {
    let stores: [ObjectStore]
    let selection: ReplaySelection
    /// Where the copies lie, once all are there.
    let folder: String

    /// - Parameter run: The replay's folder.
    init(_ stores: [ObjectStore], _ selection: ReplaySelection, in run: String) {
        self.stores = stores
        self.selection = selection
        folder = "\(run)/objects"
    }

    /// Copies what is not there yet. What cannot be had stops no other.
    ///
    /// - Returns: How many objects were left out, which `warn` has named.
    func fetch(_ progress: Progress, warn: (String) -> Void) async throws -> Int64 {
        guard access(folder, F_OK) != 0 else { return 0 }
        progress.begin(ProgressLine(verb: "fetched", unit: .object))
        let part = "\(folder).part"
        var missing: Int64 = 0
        for (number, store) in stores.enumerated() {
            do {
                var lister = store.reader()
                var reader = store.reader()
                var others: Int64 = 0
                let flawed = try await lister.forEachPage(store.namesBegin) { page in
                    for object in page {
                        guard ForeignName.isLegal(object.fileName) else {
                            others += 1
                            continue
                        }
                        guard selection.mayTake(object.fileName) else { continue }
                        let place = object.name.utf8.dropLast(object.fileName.utf8.count)
                        do {
                            try await Self.copy(object, into: "\(part)/\(number)-\(StableHash.of(place))", &reader)
                            progress.count(object.size)
                        } catch let error as ObjectStoreError where error.isOfObject {
                            warn("\(object.name): \(error); it is left out")
                            missing += 1
                        }
                        try Task.checkCancellation()
                    }
                    return true
                }
                if flawed > 0 {
                    warn("\(counted(Int64(flawed), "entry", "entries")) of the list of \(store.description) cannot be read")
                }
                if others > 0 {
                    warn("\(counted(others, "object")) of \(store.description) with other names than segments were left out")
                }
            } catch let error as ObjectStoreError {
                throw CommandError(error)
            }
        }
        try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: true)
        guard rename(part, folder) == 0 else { throw FileError("rename", part) }
        return missing
    }

    private static func copy(_ object: ListedObject, into folder: String, _ reader: inout ObjectReader) async throws {
        let path = "\(folder)/\(object.fileName)"
        guard (try? FileStatus(of: path))?.size != object.size else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // One at a time, and a name may be as long as names can be.
        let part = "\(folder)/.part"
        defer { unlink(part) }
        try await reader.get(object, into: try OpenFile.creating(part))
        guard rename(part, path) == 0 else { throw FileError("rename", path) }
    }
}
