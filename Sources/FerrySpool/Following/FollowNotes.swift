import Glibc

/// Where a process that follows a log notes how far it is: a few files in `.ferry/follow/` for each path.
///
/// The journal that lines go into has a second name there. So how long it is can be seen after the death of the process, also when another one has sealed
/// and sent it: the note of the place is behind the journal by no more than what was written last, and the journal tells that.
package final class FollowNotes {
    private let spool: Spool
    private let folder: Directory
    private let path: String
    private let name: String
    /// Held for as long as the log is followed.
    private let lock: OpenFile
    /// The note as it is now.
    private var file: OpenFile?

    /// Why a log cannot be followed.
    package enum Failure: Error {
        case file(FileError)
        /// Another process follows it into this spool.
        case isFollowed
        /// The note at this path says nothing.
        case unreadable(String)
    }

    private var journalName: String { "\(name).journal" }

    /// Takes the notes of a path.
    ///
    /// - Parameter path: The absolute path of the log.
    package init(of path: String, in spool: Spool) throws(Failure) {
        self.spool = spool
        self.path = path
        name = String(StableHash.of(path.utf8), radix: 16, width: 16)
        do throws(FileError) {
            guard let state = spool.stateDirectory else {
                throw spool.stateFailure ?? FileError("write into", spool.path, code: EROFS)
            }
            folder = try state.makeDirectory("follow")
            lock = try folder.openOrCreate("\(name).lock", flags: O_RDWR)
        } catch {
            throw .file(error)
        }
        switch lock.tryLocking() {
        case .locked: break
        case .heldByAnother: throw .isFollowed
        case .refused(let error): throw .file(error)
        }
    }

    /// Reads the place that was noted last; `nil` when the log was never followed.
    package func place() throws(Failure) -> FollowedPlace? {
        let text: [UInt8]?
        do throws(FileError) { text = try folder.contents(of: name, limit: FollowedPlace.longestText) } catch {
            throw .file(error)
        }
        guard let text else { return nil }
        guard let place = FollowedPlace(text: text) else { throw .unreadable(folder.pathOf(name)) }
        return place
    }

    /// Returns how long the journal of a place is; `nil` where that cannot be seen: the file system has no hard links, and the journal is sealed.
    package func journalSize(of place: FollowedPlace) throws(FileError) -> Int64? {
        guard let segment = place.segment.flatMap({ SegmentName($0) }) else { return nil }
        if let linked = try folder.status(journalName) { return linked.size.bytes }
        return try spool.directory.status(segment.journalName)?.size.bytes
    }

    /// Notes a place whose lines are in segments, or in a journal that is on the disk.
    package func settle(_ place: FollowedPlace, journal: Journal? = nil) throws(FileError) {
        // Also what a process that died left in its journal.
        if let journal { try journal.sync() } else if let left = try folder.open(journalName) { try left.sync() }
        try spool.directory.sync()
        try replace(place)
        try folder.remove(journalName)
    }

    /// Notes a place whose lines go into a journal from now on.
    ///
    /// - Returns: The place as it is noted.
    package func begin(_ place: FollowedPlace, in journal: Journal) throws(FileError) -> FollowedPlace {
        // A power cut must not leave the second name alone.
        try spool.directory.sync()
        try folder.remove(journalName)
        // Where a file system has no links, the name that the journal has must do.
        _ = linkat(spool.directory.descriptor, journal.segment.journalName, folder.descriptor, journalName, 0)
        var place = place
        (place.segment, place.start, place.length) = (journal.segment.fileName, place.file.offset, 0)
        try replace(place)
        return place
    }

    /// Notes more of what the file is known by.
    package func improve(_ place: FollowedPlace) throws(FileError) { try replace(place) }

    /// Notes how far the log is taken, without forcing anything.
    package func note(_ place: FollowedPlace) throws(FileError) { try file?.write(place.numbers, at: 0) }

    private func replace(_ place: FollowedPlace) throws(FileError) {
        let bytes = place.text(path: path)
        try spool.room.lendingReserve { () throws(FileError) in try folder.replace(name, with: bytes, durable: true) }
        file = try folder.open(name, flags: O_RDWR)
    }
}
