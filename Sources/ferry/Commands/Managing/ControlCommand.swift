import ArgumentParser
import FerrySpool
import Glibc

/// The commands that tell a spool something, persistently: every program that uses it obeys within a second.
protocol ControlCommand: ParsableCommand {
    var spoolOptions: SpoolOptions { get }
    /// What to tell.
    func change(_ control: inout SpoolControl, at now: Timestamp)
    /// What the command says when it is done.
    func confirmation(_ path: String) -> String
    /// What programs still have to do of what the spool was told before.
    func wait(for control: SpoolControl, at now: Timestamp) -> Duration
    /// What else is to be known, now that the spool is told.
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
            _ = try spool.control.change(at: now) { change(&$0, at: now) }
            spoolOptions.log.note(confirmation(spool.path))
            if let remark = remark(on: spool) { spoolOptions.log.note(remark) }
        } catch {
            throw spoolOptions.failure(error)
        }
    }
}
