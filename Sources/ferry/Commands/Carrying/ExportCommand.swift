import ArgumentParser
import FerrySpool
import FerryTransfer

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Copy pending segments into a bundle that travels by hand.",
        discussion: """
            They stay pending, marked, and are not sent or exported again until `ferry acknowledge` takes the hub's receipt, or \
            `ferry export --forget BUNDLE` gives up a lost one.

            Example: ferry export /media/stick --max-bytes 8GB --sign site.key --encrypt-to hub.pub

            An export that fails or dies marks nothing; what it wrote is removed, at the latest by the next export to that folder.

            Exit status: 0 done, 75 some did not fit, were busy, are damaged or had to be left out, 73 the stick or the spool's disk is \
            full, 74 they failed; nothing is marked then.
            """)

    @Argument(help: ArgumentHelp("The folder to put the bundle into, on a stick say.", valueName: "dest"))
    var destination: String?

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption

    @Option(
        help: ArgumentHelp(
            "The most that the bundle may take of the stick, in whole blocks. A segment that takes more by itself is passed by and named.",
            valueName: "size"))
    var maxBytes: ByteCount?

    @Flag(help: "One tar file instead of a folder.")
    var tar = false

    @Option(help: ArgumentHelp("Sign the bundle with this key, from ferry keygen.", valueName: "file"))
    var sign: String?

    @Option(help: ArgumentHelp("Encrypt the segments to this public key.", valueName: "file"))
    var encryptTo: String?

    @Flag(help: "Also what an earlier bundle holds whose receipt has not come.")
    var again = false

    @Option(
        help: ArgumentHelp("Give up waiting for a bundle's receipt: what is still pending is due again.", valueName: "bundle"))
    var forget: String?

    func validate() throws {
        guard (destination == nil) != (forget == nil) else {
            throw ValidationError("name a folder to export to, or --forget a bundle")
        }
    }

    func run() throws {
        if let destination, spoolOptions.spool == nil, (try? Spool.exists(at: destination)) == true {
            throw CommandError(
                .usage,
                "\(destination) is a spool, and a bundle goes into another folder: ferry export FOLDER --spool \(destination.shellWord)"
            )
        }
        try NamedFiles.require(["--sign": sign, "--encrypt-to": encryptTo])
        let spool = try spoolOptions.open(.write)
        if let names = try? spool.lanes.names(), !names.isEmpty {
            spoolOptions.log.warn(
                "the spool has several destinations: this is what is yet to be put into their lanes; --destination \(names.map(\.text).joined(separator: " or ")) takes what waits for one of them"
            )
        }
        if let forget { return try forgetBundle(forget, spool) }
        // validate() has seen to it.
        guard let destination else { return }
        var options = ExportOptions()
        options.maxBytes = maxBytes
        options.asTar = tar
        options.includesExported = again
        let progress = Progress(isShown: !spoolOptions.quiet && !output.json, log: spoolOptions.log)
        defer { progress.end() }
        let report: ExportReport
        do {
            options.signingKeys = try sign.map { try PrivateKeys(file: $0) }
            options.recipient = try encryptTo.map { try PublicKeys(file: $0) }
            var export = Export(spool, options: options, now: .now())
            export.onProgress = progress.show
            report = try export.run(to: destination)
        } catch let error as KeyError {
            throw CommandError(.badConfiguration, error.description)
        } catch let error as FileError {
            let hint = error.isDiskFull ? whatFits(in: destination) : ""
            throw CommandError(
                error.isOutOfSpace ? .spoolFull : .localFailure, "nothing is marked, the spool is as it was: \(error)\(hint)")
        }
        progress.end()
        try show(report)
        if report.left > 0 || report.busy > 0 || report.damaged > 0 || !report.leftOut.isEmpty || report.others.misnamed > 0 {
            throw ExitStatus.remaining.code
        }
    }

    /// Returns how to take what a full stick has room for; nothing where it has hardly any, or that was asked for.
    private func whatFits(in folder: String) -> String {
        guard let free = DiskSpace(of: folder)?.free, free >= .mebibytes(1), maxBytes.map({ $0 > free }) ?? true else {
            return ""
        }
        return ", or take what fits: --max-bytes \(free.bytes / 1_000_000)MB"
    }

    /// Gives a bundle up: its segments are due again.
    ///
    /// - Parameter named: The bundle's ID, or what its folder or file on the stick is called.
    private func forgetBundle(_ named: String, _ spool: Spool) throws {
        let bundle = Export.bundle(named: named)
        guard let mark = try spool.exports.allMarks().first(where: { $0.bundle == bundle }) else {
            throw CommandError(
                .usage, "no receipt of \(bundle) is waited for here; ferry status\(spoolOptions.laneOption) shows what travels")
        }
        guard mark.state != .underWay else {
            throw CommandError(.usage, "\(bundle) is still being written; end that export first")
        }
        try spool.exports.unmark(bundle)
        spoolOptions.log.note("\(bundle) is given up: what it held is due again")
    }

    private func show(_ report: ExportReport) throws {
        if !report.others.isEmpty { spoolOptions.log.warn("ignored \(report.others)") }
        if report.damaged > 0 {
            spoolOptions.log.warn(
                "\(report.damaged) are no whole gzip, and stay; ferry verify\(spoolOptions.laneOption) tells why")
        }
        for (name, reason) in report.leftOut.prefix(20) { spoolOptions.log.error("\(name) is left out: \(reason)") }
        if report.leftOut.count > 20 { spoolOptions.log.error("… and \(report.leftOut.count - 20) more; --json shows all") }
        if output.json {
            struct LeftOut: Encodable {
                let segment: String
                let reason: String
            }
            struct Line: Encodable {
                let path: String?
                let bundle: String?
                let segments: Int
                let bytes: Int64
                let events: Int64
                /// Segments whose events are not among these: they note none.
                let uncounted: Int
                let left: Int
                let busy: Int
                let damaged: Int
                let leftOut: [LeftOut]
                let alreadyExported: Int
            }
            try StandardOutput.print(
                Line(
                    path: report.path, bundle: report.path == nil ? nil : report.bundle, segments: report.segments,
                    bytes: report.bytes.bytes, events: report.events, uncounted: report.uncounted, left: report.left,
                    busy: report.busy,
                    damaged: report.damaged, leftOut: report.leftOut.map { LeftOut(segment: $0.name, reason: $0.reason) },
                    alreadyExported: report.alreadyExported
                ).jsonLine())
        } else if !spoolOptions.quiet {
            if let path = report.path {
                let events = report.uncounted > 0 ? "? events" : counted(report.events, "event")
                try StandardOutput.print(
                    "exported \(counted(report.segments, "segment")) (\(report.bytes), \(events)) to \(path)"
                )
                try StandardOutput.print("written and synced: once it is unmounted, the stick may be pulled out")
            } else {
                try StandardOutput.print("nothing to export")
            }
            if report.left > 0 { try StandardOutput.print("\(report.left) did not fit") }
            if report.busy > 0 { try StandardOutput.print("\(report.busy) were busy, or may be still being written") }
            if report.alreadyExported > 0 {
                try StandardOutput.print("\(report.alreadyExported) travel already; --again includes them")
            }
        }
        try StandardOutput.flush()
    }
}
