import FerryReceiver
import FerrySpool
import Synchronization

/// Looks into the spools of a receiver for what its metrics tell of them.
final class ReceiverGauges: Sendable {
    private let looks: GaugeLooks
    /// Where it stores; `nil`: into an object store.
    private let path: String?
    /// The folder of a hub.
    private let hub: MachineFolder?
    private let disk = Mutex<DiskSpace?>(nil)
    /// As they were last: of a list that cannot be read now the machines are not gone.
    private let known = Mutex<[String]>([])

    init(_ place: ReceiverLoop.Place) {
        switch place {
        case .spool(let spool, _): (path, hub) = (spool.path, nil)
        case .machines(let folder): (path, hub) = (folder.path, folder)
        case .store: (path, hub) = (nil, nil)
        }
        looks = GaugeLooks(readsSenders: hub == nil)
    }

    func look() async -> ReceiverLook {
        guard let path else { return ReceiverLook() }
        let found = await looks.gauges { [self] in
            let space = DiskSpace(of: path)
            disk.withLock { $0 = space }
            guard let hub else { return [path] }
            // One that may send no more is silent for good.
            guard let list = try? hub.list() else { return known.withLock(\.self) }
            let found = list.machines.filter { !$0.isRevoked }.map { hub.spoolPath(of: $0.name) }.sorted()
            known.withLock { $0 = found }
            return found
        }
        let spools = found.paths.map { spool in
            ReceiverLook.Spool(
                machine: hub == nil ? nil : String(spool.dropFirst(path.count + 1)), path: spool, gauges: found[spool])
        }
        return ReceiverLook(spools: spools, disks: disks(of: spools, below: path))
    }

    /// Returns the file systems: that of the folder, and those of spools that lie on others.
    private func disks(of spools: [ReceiverLook.Spool], below path: String) -> [(path: String, space: DiskSpace)] {
        var disks = disk.withLock { $0 }.map { [(path: path, space: $0)] } ?? []
        var known = Set(disks.map(\.space.fileSystem))
        for spool in spools {
            guard let space = spool.gauges?.disk, known.insert(space.fileSystem).inserted else { continue }
            disks.append((spool.path, space))
        }
        return disks
    }
}
