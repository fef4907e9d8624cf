import FerrySpool
import FerryUpload

/// The runners of a service: one that sends, or, with several destinations, one that puts segments into lanes, and one for each destination.
struct Runners: Sendable {
    private let all: [(name: LaneName?, runner: Runner)]

    /// - Parameter onEvent: Called with what happens, and with the destination that is meant.
    init(_ setup: RunSetup, onEvent: @escaping @Sendable (RunEvent, String) -> Void) throws(UploadError) {
        let only = "\(setup.options.upload.destination)"
        var all: [(name: LaneName?, runner: Runner)] = [
            (nil, try Runner(setup.places, options: setup.options, onEvent: { onEvent($0, only) }))
        ]
        for destination in setup.destinations {
            let name = destination.lane.name
            let text = "\(name) (\(destination.options.upload.destination))"
            let places = setup.places.map { $0.lane(name) }
            all.append((name, try Runner(places, options: destination.options, onEvent: { onEvent($0, text) })))
        }
        self.all = all
    }

    /// Runs until ``stop()``.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for (_, runner) in all { group.addTask { await runner.run() } }
        }
    }

    func stop() { for (_, runner) in all { runner.stop() } }

    func flush() { for (_, runner) in all { runner.flush() } }

    func snapshots() -> [NamedSnapshot] { all.map { NamedSnapshot(name: $0.name, run: $0.runner.snapshot()) } }

    /// Whether each of them has looked at its spools.
    var haveLooked: Bool { all.allSatisfy { $0.runner.sinceLastLook != nil } }

    /// How long metrics that are asked for at the start wait for a first look.
    private static let patienceAtFirst = 20

    /// Returns everything that Prometheus reads of them.
    func metrics(_ looks: GaugeLooks) async -> [MetricFamily] {
        for _ in 0..<Self.patienceAtFirst where !haveLooked { try? await Task.sleep(for: .milliseconds(100)) }
        let gauges = await looks.gauges { [self] in
            snapshots().flatMap(\.run.spools).filter(\.isAvailable).map(\.path)
        }
        return RunMetrics(snapshots(), gauges: gauges, now: .now()).families
    }

    /// How long ago the slowest of them last looked at everything.
    var sinceLastLook: Duration? { all.compactMap(\.runner.sinceLastLook).max() }
}
