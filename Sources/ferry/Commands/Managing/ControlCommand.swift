import ArgumentParser
import FerrySpool
import Glibc

/// The commands that tell a spool something, persistently: every program that uses it obeys within a second.
protocol ControlCommand: ParsableCommand {
    /// Folders and patterns, besides `--spool`.
    var spools: [String] { get }
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

    func run() throws { try spoolOptions.forEach(spools) { options, _ in try tell(options) } }

    private func tell(_ spoolOptions: SpoolOptions) throws {
        let untold: [FileError]
        do throws(FileError) {
            let now = Timestamp.now()
            try Spool.requireSpool(at: spoolOptions.path)
            let spool = try Spool.open(spoolOptions.path, access: .write)
            usleep(useconds_t(clamping: wait(for: try spool.control.read(), at: now).wholeMilliseconds * 1000))
            _ = try spool.control.change(at: now) { change(&$0, at: now) }
            untold = try tellLanes(of: spool, at: now)
            spoolOptions.log.note(confirmation(spool.path))
            if let remark = remark(on: spool) { spoolOptions.log.note(remark) }
        } catch {
            throw spoolOptions.failure(error)
        }
        if !untold.isEmpty { throw CommandError(.localFailure, untold.map(\.description)) }
    }

    /// Tells it to all lanes: without a name all destinations are meant. One that cannot be told keeps it from no other.
    ///
    /// - Returns: Which lanes were not told, and why.
    private func tellLanes(of spool: Spool, at now: Timestamp) throws(FileError) -> [FileError] {
        var untold = try spool.lanes.emptyPlaces().map {
            FileError("find the lane in", spool.lanes.path(of: $0), code: ENOMEDIUM)
        }
        for name in try spool.lanes.names() {
            do throws(FileError) {
                let lane = try Spool.open(spool.lanes.path(of: name), access: .write)
                _ = try lane.control.change(at: now) { change(&$0, at: now) }
            } catch {
                untold.append(error)
            }
        }
        return untold
    }
}
