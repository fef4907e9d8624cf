import FerrySpool
import Synchronization

/// The machines' spools, each opened when its first segment comes. Those that nothing came for lately are closed when many are open.
final class Stations: Sendable {
    private struct State {
        var open: [MachineName: Station] = [:]
        /// By the number of the request that used it last.
        var used: [MachineName: UInt64] = [:]
        var requests: UInt64 = 0
        var accounts: [MachineName: MachineAccount] = [:]
        /// No spool is opened twice at once.
        var opening: Set<MachineName> = []

        mutating func use(_ name: MachineName) -> Station? {
            guard let station = open[name] else { return nil }
            requests += 1
            used[name] = requests
            return station
        }

        mutating func close(_ name: MachineName) {
            open[name] = nil
            used[name] = nil
        }
    }

    private let state = Mutex(State())
    private let folder: MachineFolder
    private let mostOpen: Int
    private let make: @Sendable (Spool) throws(FileError) -> SegmentHandler

    /// Creates the places of a hub's machines.
    ///
    /// - Parameters:
    ///   - mostOpen: How many spools are open at once; each takes two descriptors, and more while segments come.
    ///   - make: Makes what takes segments into a spool.
    init(
        _ folder: MachineFolder, mostOpen: Int, _ make: @escaping @Sendable (Spool) throws(FileError) -> SegmentHandler
    ) {
        self.folder = folder
        self.mostOpen = max(1, mostOpen)
        self.make = make
    }

    /// Returns the place of a machine's segments. One whose folder was moved away, or made anew, is opened again.
    ///
    /// - Returns: `nil` while another thread opens it, which may wait for what other processes hold: nothing else is to wait with it.
    /// - Throws: `FileError` when there is no spool: `ferry machine add` makes it, and an empty folder may be the place of a file system that is not
    ///   mounted.
    func station(of name: MachineName) throws(FileError) -> Station? {
        if let station = state.withLock({ $0.use(name) }), station.spool.isAtItsPath { return station }
        guard state.withLock({ $0.opening.insert(name).inserted }) else { return nil }
        defer { state.withLock { _ = $0.opening.remove(name) } }
        // It may be open since.
        if let station = state.withLock({ $0.use(name) }), station.spool.isAtItsPath { return station }
        let account = state.withLock { state in
            state.close(name)
            let account = state.accounts[name] ?? MachineAccount()
            state.accounts[name] = account
            return account
        }
        closeSome()
        let path = folder.spoolPath(of: name)
        try Spool.requireSpool(at: path)
        let spool = try Spool.open(path, access: .write)
        _ = try spool.housekeeping.recover()
        let station = Station(handler: try make(spool), account: account)
        return state.withLock { state in
            state.open[name] = station
            return state.use(name) ?? station
        }
    }

    /// The machines whose spools are open now.
    var open: [MachineName: Station] { state.withLock { $0.open } }

    /// Closes those that have not been used for longest: a tenth at once, so that not every request looks for one. Requests that are under way keep
    /// theirs open until they have ended.
    private func closeSome() {
        state.withLock { state in
            guard state.open.count >= mostOpen else { return }
            let oldest = state.used.sorted { $0.value < $1.value }.prefix(max(1, mostOpen / 10)).map(\.key)
            for name in oldest where state.accounts[name]?.requests.isIdle ?? true { state.close(name) }
        }
    }
}
