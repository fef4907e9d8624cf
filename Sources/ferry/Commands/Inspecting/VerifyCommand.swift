import ArgumentParser
import FerrySpool

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check segments deeply: gzip, checksums, every JSON line. Changes nothing.",
        discussion: """
            Exit status: 0 all sound, 65 some damaged, 74 some cannot be read.

            Example: ferry verify --all
            """)

    @OptionGroup var selection: SegmentSelection
    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption

    @Option(help: ArgumentHelp("Count what inflates to more than this as damaged.", valueName: "size"))
    var inflateLimit = ByteCount.mebibytes(1024)

    func run() throws {
        let progress = Progress(isShown: !spoolOptions.quiet && !output.json, log: spoolOptions.log)
        defer { progress.end() }
        try spoolOptions.forEach(selection.spools) { options, prefix in try verify(options, prefix, progress) }
    }

    private func verify(_ spoolOptions: SpoolOptions, _ prefix: String, _ progress: Progress) throws {
        let spool = try spoolOptions.openForReading()
        let log = spoolOptions.log
        var sound = 0
        var events: Int64 = 0
        var damaged = 0
        var flawed = FlawedNames()
        var failures: [FileError] = spool.stateFailure.map { [$0] } ?? []
        func note(_ error: FileError) {
            log.warn("\(error)")
            failures.append(error)
        }
        let files = try selection.files(spool, note: note)
        if progress.isShown { progress.begin(ProgressLine(verb: "checked", total: .init(sizesOf: files))) }
        for segment in files {
            if segment.place == .pending, let flaw = NameFlaw(segment.name) { flawed.add(segment.name, flaw) }
            do {
                guard let file = try segment.open() else { continue }
                defer { progress.count((try? file.status().size) ?? .zero) }
                let count = try file.checkDeeply(inflateLimit: inflateLimit)
                sound += 1
                events += count
                if output.json { try StandardOutput.print(try json(segment, events: count, problem: nil)) }
            } catch let problem as SegmentError {
                damaged += 1
                let text = "\(prefix)\(segment.name) (\(segment.place.rawValue)): \(problem)"
                try StandardOutput.print(output.json ? try json(segment, events: nil, problem: problem) : text)
            } catch let error as FileError {
                note(error)
            }
        }
        progress.pause()
        do throws(FileError) {
            if selection.isEverythingPending {
                for short in try spool.arrivals.short(among: spool.housekeeping.unfinished(spool.scan()).arrivals) {
                    damaged += 1
                    log.warn("\(short): copy it again with the receiver stopped")
                }
            }
        } catch {
            note(error)
        }
        if !output.json, !spoolOptions.quiet {
            try StandardOutput.print(
                "\(prefix)sound: \(counted(sound, "segment")) with \(counted(events, "event")); damaged: \(damaged)\(failures.isEmpty ? "" : "; unreadable: \(failures.count)")"
            )
        }
        try StandardOutput.flush()
        if selection.isEverythingPending, let others = try? spool.scan().others, !others.isEmpty { log.warn("ignored \(others)") }
        for line in flawed.lines { log.warn(line) }
        if damaged > 0 { throw ExitStatus.badData.code }
        if let status = ExitStatus(failures) { throw status.code }
    }

    private func json(_ segment: SegmentFile, events: Int64?, problem: SegmentError?) throws -> String {
        struct Line: Encodable {
            let segment: String
            let place: String
            let sound: Bool
            let events: Int64?
            let problem: String?
            let nameProblem: String?
            let offset: Int64?
            let line: Int64?
            let column: Int?
        }
        var offset: Int64?
        var place: JSONLineError?
        if case .damaged(let damage) = problem { offset = damage.offset }
        if case .notJSONLines(let found) = problem { place = found }
        return try Line(
            segment: segment.name, place: segment.place.rawValue, sound: problem == nil, events: events,
            problem: problem.map { "\($0)" }, nameProblem: NameFlaw(segment.name).map { "\($0)" }, offset: offset,
            line: place?.line, column: place?.column
        ).jsonLine()
    }
}
