import FerrySpool
import Synchronization

/// The machines' spools, each opened when its first segment comes.
final class Stations: Sendable {
    private let open = Mutex<[MachineName: Station]>([:])
    /// Held while a spool is opened: no spool is opened twice.
    private let opening = Mutex(())
    private let folder: MachineFolder
    private let make: @Sendable (Spool) throws(FileError) -> SegmentHandler

    /// - Parameter make: Makes what takes segments into a spool.
    init(_ folder: MachineFolder, _ make: @escaping @Sendable (Spool) throws(FileError) -> SegmentHandler) {
        self.folder = folder
        self.make = make
    }

    /// The place of a machine's segments. One whose folder was moved away, or made anew, is opened again.
    ///
    /// - Throws: ``FileError`` when there is no spool: `ferry machine add` makes it, and an empty folder may be the place of a file system that is not mounted.
    func station(of name: MachineName) throws(FileError) -> Station {
        if let station = open.withLock({ $0[name] }), station.spool.isAtItsPath { return station }
        return try opening.withLock { _ throws(FileError) in
            if let station = open.withLock({ $0[name] }), station.spool.isAtItsPath { return station }
            open.withLock { $0[name] = nil }
            let path = folder.spoolPath(of: name)
            try Spool.requireSpool(at: path)
            let spool = try Spool.open(path, access: .write)
            _ = try spool.recover()
            let station = Station(handler: try make(spool))
            open.withLock { $0[name] = station }
            return station
        }
    }
}
