import FerryReceiver
import FerrySpool

/// Looks into the spools of a receiver for what its metrics tell of them.
struct ReceiverGauges: Sendable {
    private let looks = GaugeLooks()
    /// Where it stores; `nil`: into an object store.
    private let path: String?
    /// The folder of a hub.
    private let hub: MachineFolder?

    init(_ place: ReceiverLoop.Place) {
        switch place {
        case .spool(let spool, _): (path, hub) = (spool.path, nil)
        case .machines(let folder): (path, hub) = (folder.path, folder)
        case .store: (path, hub) = (nil, nil)
        }
    }

    /// Returns the gauges by machine; of a receiver that has none, under an empty name.
    func look() async -> (machines: [String: SpoolGauges], disk: (path: String, space: DiskSpace)?) {
        guard let path else { return ([:], nil) }
        let found = await looks.gauges { [hub] in
            guard let hub else { return [path] }
            // One that may send no more is silent for good.
            let machines = (try? hub.list())?.machines.filter { !$0.isRevoked } ?? []
            return machines.map { hub.spoolPath(of: $0.name) }
        }
        let machines = found.map { spool, gauges in
            (hub == nil ? "" : String(spool.dropFirst(path.count + 1)), gauges)
        }
        // All machines' spools lie in one folder.
        let disk = found.values.lazy.compactMap(\.disk).first.map { (path: path, space: $0) }
        return (Dictionary(machines) { first, _ in first }, disk)
    }
}
