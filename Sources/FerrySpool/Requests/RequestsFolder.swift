import Glibc

/// Which segments went in one request: the folder `.ferry/requests/`.
package struct RequestsFolder: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    private static let folderName = "requests"

    /// Makes a file for the notes of this process.
    package func makeNotes() throws(FileError) -> RequestNotes {
        guard let stateDirectory = spool.stateDirectory else {
            throw spool.stateFailure ?? FileError("write into", spool.path, code: EROFS)
        }
        return try spool.room.lendingReserve { () throws(FileError) in
            let folder = try stateDirectory.makeDirectory(Self.folderName, isForced: false)
            while true {
                let name = "\(SegmentID.random())"
                if let file = try folder.createLocked(name) { return RequestNotes(folder, name, file, of: spool) }
            }
        }
    }

    var folder: Directory? { (try? spool.stateDirectory?.directory(Self.folderName)) ?? nil }
}

extension Spool {
    /// Which segments went in one request.
    package var requests: RequestsFolder { RequestsFolder(spool: self) }
}
