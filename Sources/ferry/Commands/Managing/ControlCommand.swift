import ArgumentParser
import FerrySpool
import Glibc

/// The commands that tell a spool something, persistently: every program that uses it obeys within a second.
protocol ControlCommand: ParsableCommand {
    var spoolOptions: SpoolOptions { get }
    /// Changes the spool's control file.
    func change(_ control: inout SpoolControl, at now: Timestamp)
    /// Returns what the command prints when it is done.
    func confirmation(_ path: String) -> String
    /// Returns how long to wait until programs have obeyed an earlier change.
    func wait(for control: SpoolControl, at now: Timestamp) -> Duration
    /// Returns a remark on the spool after the change; `nil`: none.
    func remark(on spool: Spool) -> String?
}

extension ControlCommand {
    func remark(on spool: Spool) -> String? { nil }
    func wait(for control: SpoolControl, at now: Timestamp) -> Duration { .zero }

    func run() throws {
        do throws(FileError) {
            let now = Timestamp.now()
            try Spool.requireSpool(at: spoolOptions.path)
            let spool = try Spool.open(spoolOptions.path, access: .write)
            usleep(useconds_t(clamping: wait(for: try spool.control.read(), at: now).wholeMilliseconds * 1000))
            var changed = [spool]
            // Without a name all destinations are meant.
            for name in try spool.lanes.names() { changed.append(try Spool.open(spool.lanes.path(of: name), access: .write)) }
            for spool in changed { _ = try spool.control.change(at: now) { change(&$0, at: now) } }
            spoolOptions.log.note(confirmation(spool.path))
            if let remark = remark(on: spool) { spoolOptions.log.note(remark) }
        } catch {
            throw spoolOptions.failure(error)
        }
    }
}
