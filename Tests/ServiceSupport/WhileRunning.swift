package import FerrySpool
package import FerryUpload
import TestSupport

extension Runner {
    /// Runs the uploader while `body` does.
    package func whileRunning(_ body: @escaping @Sendable (Runner) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.run() }
            group.addTask {
                defer { self.stop() }
                try await body(self)
            }
            try await group.waitForAll()
        }
    }
}

/// Runs a long-running uploader until nothing waits in a spool.
package func runUntilAllIsSent(_ spool: Spool, _ options: UploadOptions) async throws {
    let options = RunOptions(upload: options, schedule: SchedulePolicy(interval: .seconds(1), events: 1))
    try await Runner([SpoolPattern(spool.path)], options: options).whileRunning { _ in
        try await eventually("all is sent") { try spool.pending().isEmpty }
    }
}
