import ArgumentParser
import FerrySpool

struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Bring rejected segments back, or save what a damaged one still holds.",
        discussion: """
            Without --salvage a segment becomes pending again as it is, unless it was salvaged before. With --salvage the whole lines before its damage become \
            pending under its ID and key, once, and the damaged file stays in rejected/; one without damage becomes pending as it is, and of several copies of one segment the one that holds most is saved. Lines longer than 1 MiB are left out, and so is what comes from a gzip member whose \
            checksum is wrong: a flipped bit alters events that still look sound. --unverified takes these too. A receiver of \
            Ferry's that gets it whole as well, from elsewhere, takes the first and answers 422 to the second, which is kept in rejected/. Another tool's \
            file is saved under a new name and key: wait for one that is still to come whole.

            Example: ferry retry --all

            Exit status: 0 done, 65 a segment could not be brought back or saved, 73 the disk is full, 74 a file failed; the others are \
            done all the same.
            """)

    @Argument(
        help: ArgumentHelp(
            "Names of rejected segments. A folder, dir/* or dir/web* names spools, in place of --spool.", valueName: "segment"))
    var arguments: [String] = []

    private var segments: [String] { arguments.filter { !SpoolOptions.isSpoolName($0) } }
    private var spools: [String] { arguments.filter(SpoolOptions.isSpoolName) }

    @Flag(help: "All rejected segments.")
    var all = false

    @Flag(help: "Publish the whole lines that a damaged segment still holds.")
    var salvage = false

    @Flag(help: "With --salvage: also lines of gzip members whose checksum is wrong. They may be altered.")
    var unverified = false

    @OptionGroup var spoolOptions: SpoolOptions

    @Option(help: ArgumentHelp("Salvage at most this much.", valueName: "size"))
    var inflateLimit = ByteCount.mebibytes(1024)

    func validate() throws {
        guard all != !segments.isEmpty else {
            throw ValidationError("name rejected segments, or say --all; ferry status\(spoolOptions.laneOption) shows them")
        }
        guard salvage || !unverified else { throw ValidationError("--unverified needs --salvage") }
    }

    func run() throws { try spoolOptions.forEach(spools) { options, _ in try retry(options) } }

    private func retry(_ spoolOptions: SpoolOptions) throws {
        let spool = try spoolOptions.open(.write)
        let rejected = all ? try spool.rejected.segments() : []
        for other in rejected where !other.isSegment { spoolOptions.log.note(Self.stays(other.name)) }
        let names =
            all ? rejected.filter(\.isSegment).map(\.name) : segments.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
        if names.isEmpty, !spoolOptions.quiet { try StandardOutput.print("nothing is rejected") }
        if all { noteLanes(of: spool) }
        var statuses: Set<ExitStatus> = []
        for name in names {
            do {
                let line = salvage ? try salvage(name, in: spool) : try retry(name, in: spool)
                if !spoolOptions.quiet { try StandardOutput.print(line) }
            } catch let failure as CommandError {
                spoolOptions.log.error(failure.message)
                statuses.insert(failure.status)
            } catch let error as FileError {
                // One that cannot be read does not stop the others.
                spoolOptions.log.error("\(name): \(error)")
                statuses.insert(error.isOutOfSpace ? .spoolFull : .localFailure)
            }
        }
        try StandardOutput.flush()
        // What a person must mend first.
        if let worst = [ExitStatus.spoolFull, .localFailure, .badData].first(where: statuses.contains) { throw worst.code }
    }

    private static func stays(_ name: String) -> String {
        "\(name) stays in rejected/: its name is no segment's, and it would not be sent"
    }

    private func retry(_ name: String, in spool: Spool) throws -> String {
        switch try spool.rejected.retry(name, at: .now()) {
        case .pending: return "\(name) is pending again"
        case .notFound: throw CommandError(.badData, notFound(name, in: spool))
        case .noSegment: throw CommandError(.badData, Self.stays(name))
        case .nameTaken: throw CommandError(.badData, "\(name): a pending segment has this name or ID; send that one first")
        case .busy: throw CommandError(.badData, "\(name): another process is working on it")
        case .wholeCame:
            return try stays(name, "it is a half, and the whole is pending or was sent: its events would be sent twice")
        case .salvagedBefore(let segment):
            return try stays(name, "its events were saved as \(segment), and would be sent twice")
        }
    }

    /// Returns the line for a segment that stays in `rejected/`. For one that was named, that is a failure.
    private func stays(_ name: String, _ reason: String) throws -> String {
        let text = "\(name) stays in rejected/: \(reason)"
        guard all else { throw CommandError(.badData, text) }
        return text
    }

    private func salvage(_ name: String, in spool: Spool) throws -> String {
        switch try spool.rejected.salvage(name, at: .now(), inflateLimit: inflateLimit, takesUnverified: unverified) {
        case .saved(let segment, let events, let tooLong, let altered):
            var text = "saved \(counted(events, "event")) of \(name) as \(segment)"
            if tooLong > 0 { text += "; \(counted(Int(tooLong), "line")) longer than 1 MiB left out" }
            if altered > 0 {
                text += "; \(counted(Int(altered), "line")) whose checksum is wrong, and which may be altered,"
                text += unverified ? " among them" : " left out; the file in rejected/ has them"
            }
            return text
        case .cameAlready:
            return try stays(
                name,
                "another file of its ID, or a half or the whole of it, is pending or was sent: its events would be sent twice")
        case .heldBetter(let other):
            return try stays(name, "\(other) beside it is a half of it, or holds as much: bring that one back")
        case .sound: return try retry(name, in: spool) + ": it is not damaged"
        case .savedBefore(let segment): return "\(name) was saved before, as \(segment)"
        case .nothing(unverified: 0):
            throw CommandError(.badData, "\(name): no whole event can be read from it; it stays in rejected/")
        case .nothing(let altered):
            throw CommandError(
                .badData,
                "\(name): the checksum is wrong of all that can be read from it, \(counted(Int(altered), "line")) that may be altered; it stays in rejected/, and --salvage --unverified saves them"
            )
        case .notFound: throw CommandError(.badData, notFound(name, in: spool))
        case .busy: throw CommandError(.badData, "\(name): another process is working on it")
        }
    }

    /// Tells of what several destinations have rejected: each brings it back by itself.
    private func noteLanes(of spool: Spool) {
        for (lane, rejected) in Self.rejected(in: spool) where !rejected.isEmpty {
            spoolOptions.log.note(
                "\(counted(rejected.count, "segment")) of the destination \(lane) stay rejected: --destination \(lane) brings them back"
            )
        }
    }

    private func notFound(_ name: String, in spool: Spool) -> String {
        let lanes = Self.rejected(in: spool).filter { $0.names.contains(name) }.map(\.lane.text)
        if lanes.isEmpty { return "\(name) is not in rejected/" }
        return
            "\(name) is not in rejected/ of the spool itself: say --destination \(lanes.joined(separator: " or ")), for which it is rejected"
    }

    private static func rejected(in spool: Spool) -> [(lane: LaneName, names: [String])] {
        ((try? spool.lanes.names()) ?? []).map { name in
            let lane = try? Spool.open(spool.lanes.path(of: name), access: .read)
            return (name, (try? lane?.rejected.segments().filter(\.isSegment).map(\.name)) ?? [])
        }
    }
}
