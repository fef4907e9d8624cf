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

    /// Copies what is not there yet.
    func fetch() async throws {
        guard access(folder, F_OK) != 0 else { return }
        let part = "\(folder).part"
        for (number, store) in stores.enumerated() {
            do {
                var lister = store.reader()
                var reader = store.reader()
                _ = try await lister.forEachPage(store.namesBegin) { page in
                    for object in page where ForeignName.isLegal(object.fileName) && selection.mayTake(object.fileName) {
                        let place = object.name.dropLast(object.fileName.count)
                        let path = "\(part)/\(number)-\(StableHash.of(place.utf8))/\(object.fileName)"
                        try await Self.copy(object, to: path, &reader)
                    }
                    return true
                }
            } catch let error as ObjectStoreError {
                throw CommandError(error)
            }
        }
        try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: true)
        guard rename(part, folder) == 0 else { throw FileError("rename", part) }
    }

    private static func copy(_ object: ListedObject, to path: String, _ reader: inout ObjectReader) async throws {
        guard (try? FileStatus(of: path))?.size != object.size else { return }
        let folder = String(path.dropLast(object.fileName.utf8.count))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await reader.get(object, into: try OpenFile.creating("\(path).part"))
        guard rename("\(path).part", path) == 0 else { throw FileError("rename", path) }
    }
}
