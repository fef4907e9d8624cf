import CTracker
import FerrySpool
import Glibc

/// A file in the spool that a fatal signal is written to. It is locked while its process lives, and gone after a proper end.
final class CrashRecording: Sendable {
    private let directory: Directory
    private let file: OpenFile
    private let identity: FileStatus.Identity
    private let name: String
    /// Its number in CTracker; -1 when the other trackers that record leave no place for this one.
    private let recording: Int32

    static let prefix = "crash-"

    /// `nil` when the file cannot be made: the program runs without.
    ///
    /// - Parameter id: Of the event that reports the crash: the same however often it is recorded.
    init?(in spool: Spool, id: EventID, app: DeviceFacts, at now: Timestamp) {
        name = "\(Self.prefix)\(id.text)"
        guard let directory = spool.stateDirectory, let file = (try? directory.createLocked(name)) ?? nil,
            let identity = (try? file.status())?.identity
        else { return nil }
        self.directory = directory
        self.file = file
        self.identity = identity
        let header = CrashReport.Header(
            id: id.text, process: Int(getpid()), startedAt: now, app: app.app, appVersion: app.appVersion)
        try? file.write(JSONLine.encode(header))
        recording = ferry_record_crashes(file.descriptor)
    }

    func follow(session: String?, user: String?) {
        ferry_set_crash_context(recording, CrashReport.context(session: session, user: user))
    }

    /// Ends the recording, when the tracker is closed: later crashes are not its.
    func end() {
        ferry_end_crash_recording(recording)
        if directory.isStillOpen { try? directory.remove(name) }
        if !file.isStill(identity) { file.abandon() }
    }
}
