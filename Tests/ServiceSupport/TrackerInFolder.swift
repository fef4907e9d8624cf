import FerrySpool
package import FerryTracker
package import TestSupport

extension TemporaryFolder {
    /// Returns a tracker of the folder's spool that watches nothing, takes no signals and warns of nothing.
    package func tracker(
        _ profile: TrackerProfile? = nil, _ change: (inout TrackerConfiguration) -> Void = { _ in }
    ) throws -> EventTracker {
        var configuration = profile.map { TrackerConfiguration($0) } ?? TrackerConfiguration()
        configuration.sessions.tracksLifecycle = false
        configuration.sealsOnTermination = false
        configuration.onWarning = { _ in }
        change(&configuration)
        return try EventTracker(spool: self("spool"), configuration: configuration)
    }
}
