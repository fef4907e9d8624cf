import FerrySpool
import Glibc
import Synchronization

/// A folder, as of a mounted share: each segment becomes a file of its own, complete from the moment that it has its name.
final class FileDestination: DirectDestination {
    private let location: FileLocation
    private let calls = PatientCalls()
    /// By the spool's ID.
    private let dead = Mutex<[String: DeadCopies]>([:])

    init(_ location: FileLocation) { self.location = location }

    func deliver(_ outgoing: OutgoingRequest, _ pace: DeliveryPace, _ trace: inout RequestTrace) async -> Verdict {
        let (location, dead) = (location, dead(of: outgoing.facts[0].spoolID))
        let end = await calls.run(patience: pace.patience) { call in
            FolderCopy(location: location, outgoing: outgoing, throttle: pace.throttle, dead: dead, call: call).run()
        }
        switch end {
        case .finished(let result):
            // How long it took tells of its size, and of no queue on the other side.
            trace.latency = .zero
            trace.duplicates = result.duplicates
            trace.notice = result.notice
            trace.acceptedJoined = CoalescePolicy.most
            return result.verdict
        case .hangs: return .hangs(location.base)
        case .cancelled: return Verdict(.cancelled)
        }
    }

    func check(from spools: [String]) -> DestinationCheck {
        do throws(FileError) {
            let base = try Directory.open(location.base)
            if location.requiresMount, try !base.isMountPoint() { return .bad("nothing is mounted on \(location.base)") }
            for spool in spools {
                guard let home = try? Directory.open(spool).identity(), try base.lies(in: home) else { continue }
                return .bad(Verdict.inSpool(location.base).reason?.message ?? "it lies in the spool")
            }
            guard access(location.base, W_OK | X_OK) == 0 else { return .bad("\(FileError("write into", location.base))") }
            return .good("the folder \(location.base) is there, and may be written to")
        } catch {
            return .bad("\(error)")
        }
    }

    private func dead(of spool: String) -> DeadCopies {
        dead.withLock { dead in
            if let known = dead[spool] { return known }
            let new = DeadCopies(machine: HostName.current, spool: spool)
            dead[spool] = new
            return new
        }
    }
}
