import FerrySpool
import FerryUpload

extension Runners {
    /// What the page's history notes of each spool: of one with several destinations, of all its lanes together.
    func readings() -> [HistoryRecorder.Reading] { Self.readings(snapshots()) }

    static func readings(_ snapshots: [NamedSnapshot]) -> [HistoryRecorder.Reading] {
        let hasSeveral = snapshots.contains { $0.name != nil }
        var readings: [String: HistoryRecorder.Reading] = [:]
        for snapshot in snapshots {
            let lane = snapshot.name.map { Lanes.path(of: $0, in: "") } ?? ""
            for spool in snapshot.run.spools where spool.isAvailable {
                let path = String(spool.path.dropLast(lane.count))
                let counts = snapshot.run.counters.counts.filter { $0.key.spool == spool.path }.values
                // What puts segments into lanes delivers none.
                let isSender = snapshot.name != nil || !hasSeveral
                let bytes = isSender ? ByteCount(counts.reduce(0) { $0.adding($1.sentBytes) }) : .zero
                let known = readings[path]
                readings[path] = HistoryRecorder.Reading(
                    path: path, oldest: [known?.oldest, spool.total.oldest].compactMap(\.self).min(),
                    bytes: bytes + (known?.bytes ?? .zero))
            }
        }
        return Array(readings.values)
    }
}
