import FerrySpool

extension EventTracker {
    /// Tells of the crashes of processes that used the spool before.
    func reportCrashes() {
        guard let directory = recorder.spool.stateDirectory, let names = try? directory.names() else { return }
        for name in names where name.hasPrefix(CrashRecording.prefix) {
            // A lock that cannot be had is a living process's.
            guard let file = try? directory.open(name), file.tryLock(),
                // Reported by another process, and removed, between the opening and the lock.
                let status = try? file.status(), (try? directory.status(name))??.identity == status.identity
            else { continue }
            if let bytes = try? file.readBytes(1 << 16, at: 0), let report = CrashReport(bytes) {
                guard (try? tell(report)) != nil else { continue }
            }
            try? directory.remove(name)
        }
    }

    private func tell(_ report: CrashReport) throws(TrackerError) {
        let context = state.withLock { state in
            EventContext(
                session: report.session, user: report.user,
                device: state.device.with(app: report.header.app, version: report.header.appVersion).json)
        }
        try record(
            CrashReport.eventName, properties: [:], reserved: report.properties, priority: .critical, time: report.time,
            id: EventID(report.header.id), context: context)
    }
}
