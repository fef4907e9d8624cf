import FerryReceiver
import FerrySpool
import FerryUpload
import Glibc

/// What the page's history notes of a receiver's spools.
struct ReceiverReadings: Sendable {
    let places: HubPlaces
    /// The spools are machines', by their names.
    let isHub: Bool
    let metrics: ReceiverMetrics
    private let oldest = OldestPending()

    init(places: HubPlaces, isHub: Bool, metrics: ReceiverMetrics) {
        self.places = places
        self.isHub = isHub
        self.metrics = metrics
    }

    func readings() -> [HistoryRecorder.Reading] {
        let now = Timestamp.now()
        var seen: Set<String> = []
        let readings = places.places { _ in }.compactMap { place -> HistoryRecorder.Reading? in
            var times: [Timestamp?] = []
            do throws(FileError) {
                for path in [place.path] + Self.lanes(of: place.path) {
                    seen.insert(path)
                    times.append(try oldest.oldest(in: path, at: now))
                }
            } catch {
                return nil
            }
            return HistoryRecorder.Reading(
                path: place.path, oldest: times.compactMap(\.self).min(),
                bytes: ByteCount(metrics.bytesTaken(of: isHub ? place.name : nil)))
        }
        oldest.keep(seen)
        return readings
    }

    private static func lanes(of path: String) -> [String] {
        guard access("\(path)/to", F_OK) == 0, let spool = try? Spool.open(path, access: .read) else { return [] }
        return ((try? spool.lanes.names()) ?? []).map { spool.lanes.path(of: $0) }
    }
}
