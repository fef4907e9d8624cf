import ArgumentParser
import FerrySpool
import FerryTransfer

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take bundles into a hub's spool, each segment once, and write receipts.",
        discussion: """
            Names, sizes and checksums are checked; what is missing or damaged is reported, the rest is taken. The receipt goes beside the \
            bundle, to be carried back.

            Example: ferry import /media/stick --spool hub --from site.pub --key hub.key

            A fault in one bundle or segment does not stop the others. When the spool's disk is full, what was taken is kept: \
            free some space and import again.

            Exit status: 0 everything of every bundle is here, 65 something is missing, damaged or refused, 69 the spool is disabled, 73 the spool's disk is \
            full, 74 the spool, a bundle or a receipt's folder failed, 75 something is here and not vouched for, because the two spools \
            give it to each other.
            """)

    @Argument(help: ArgumentHelp("A bundle, a tar file, or a stick with several.", valueName: "src"))
    var source: String

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption

    @Option(help: ArgumentHelp("Take only what this public key signed.", valueName: "file"))
    var from: String?

    @Option(help: ArgumentHelp("The key that opens encrypted segments and signs receipts.", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Where receipts go, if not beside the bundles.", valueName: "dir"))
    var receipts: String?

    func run() throws {
        let spool = try spoolOptions.open(.create)
        guard try !spool.control.read(warn: { spoolOptions.log.warn("\($0)") }).isDisabled else {
            throw CommandError(
                .unavailable,
                "the spool \(spool.path) is disabled: it stores nothing new, and the bundle stays as it is; ferry enable changes that"
            )
        }
        let progress = Progress(isShown: !spoolOptions.quiet && !output.json, log: spoolOptions.log)
        defer { progress.end() }
        let results: [Result<ImportReport, BundleError>]
        do {
            var options = ImportOptions()
            options.sender = try from.map { try PublicKeys(file: $0) }
            options.keys = try key.map { try PrivateKeys(file: $0) }
            var intake = Import(spool, options: options)
            intake.onProgress = progress.show
            results = try intake.run(source, at: .now())
        } catch let error as KeyError {
            throw CommandError(.badConfiguration, error.description)
        } catch let error as FileError {
            throw CommandError(error.isOutOfSpace ? .spoolFull : .localFailure, error.description)
        }
        progress.end()
        guard !results.isEmpty else { throw CommandError(.badData, "there is no bundle in \(source)") }
        var statuses: Set<ExitStatus> = []
        for result in results {
            switch result {
            case .success(let report): statuses.formUnion(try finish(report))
            case .failure(let problem):
                statuses.insert(Self.status(of: problem))
                spoolOptions.log.error("\(problem)")
            }
        }
        try StandardOutput.flush()
        // What a person must mend first.
        if let worst = [ExitStatus.spoolFull, .localFailure, .badData, .remaining].first(where: statuses.contains) {
            throw worst.code
        }
    }

    /// Writes the receipt and shows what was done. Returns what speaks against an exit with 0.
    private func finish(_ report: ImportReport) throws -> Set<ExitStatus> {
        var statuses: Set<ExitStatus> = report.missing.isEmpty && report.damaged.isEmpty ? [] : [.badData]
        if !report.withheld.isEmpty { statuses.insert(.remaining) }
        if let failure = report.failure { statuses.insert(failure.isOutOfSpace ? .spoolFull : .localFailure) }
        var receipt: String?
        do throws(FileError) {
            receipt = try writeReceipt(report)
        } catch {
            statuses.insert(.localFailure)
            spoolOptions.log.error(
                "the segments are taken, but the receipt cannot be written: \(error); name another folder with --receipts, and import again"
            )
        }
        try show(report, receipt)
        return statuses
    }

    private static func status(of problem: BundleError) -> ExitStatus {
        switch problem {
        case .noManifest, .manifest, .unsigned, .forged, .encrypted, .noBundle, .own: .badData
        case .unreadable: .localFailure
        case .hub(_, let error): error.isOutOfSpace ? .spoolFull : .localFailure
        }
    }

    /// Writes the receipt.
    ///
    /// - Returns: The receipt's path.
    private func writeReceipt(_ report: ImportReport) throws(FileError) -> String {
        // A folder of the bundle's, or the folder that its tar file lies in.
        let folder = receipts ?? report.path.parentFolder
        let directory = try Directory.open(folder)
        try directory.replace(report.receipt.fileName, with: report.receiptBytes, durable: false)
        try directory.syncFileSystem()
        return "\(folder)/\(report.receipt.fileName)"
    }

    private func show(_ report: ImportReport, _ receipt: String?) throws {
        let machine = Registrations(of: [spoolOptions.path])[spoolOptions.path]?.name
        if output.json {
            struct Damage: Encodable {
                let segment: String
                let reason: String
            }
            struct Line: Encodable {
                let path: String
                let bundle: String
                /// The ID of the spool that it comes from.
                let spool: String
                /// The machine whose spool took it, where a hub's list says so.
                let machine: String?
                let stored: Int
                let bytes: Int64
                let known: Int
                let missing: [String]
                let damaged: [Damage]
                /// Here, and not vouched for.
                let withheld: [Damage]
                let untaken: Int
                let failure: String?
                let receipt: String?
            }
            return try StandardOutput.print(
                Line(
                    path: report.path, bundle: report.bundle, spool: report.source, machine: machine, stored: report.stored,
                    bytes: report.bytes.bytes,
                    known: report.known,
                    missing: report.missing, damaged: report.damaged.map { Damage(segment: $0.name, reason: $0.reason) },
                    withheld: report.withheld.map { Damage(segment: $0.name, reason: $0.reason) },
                    untaken: report.untaken, failure: report.failure?.description, receipt: receipt
                ).jsonLine())
        }
        if report.sentDeleted.segments > 0 { spoolOptions.log.note(sentDeletedText(report.sentDeleted)) }
        for (name, reason) in report.damaged { spoolOptions.log.error("\(report.path): \(name) is not taken: \(reason)") }
        // What is just being sent on, a later import mends.
        let withheld = report.withheld.filter { !spoolOptions.quiet || $0.reason != ImportReport.isLeaving }
        for (name, reason) in withheld.prefix(20) {
            spoolOptions.log.error("\(report.path): \(name) is here, and the receipt does not vouch for it: \(reason)")
        }
        if withheld.count > 20 { spoolOptions.log.error("… and \(withheld.count - 20) more; --json shows all") }
        for name in report.missing.prefix(20) {
            spoolOptions.log.error("\(report.path): \(name) is missing; was the stick pulled out?")
        }
        if report.missing.count > 20 { spoolOptions.log.error("… and \(report.missing.count - 20) more; --json shows all") }
        if let failure = report.failure {
            spoolOptions.log.error(
                "\(report.path): \(counted(report.untaken, "segment")) not taken: \(failure); what was taken is kept: import again"
            )
        }
        guard !spoolOptions.quiet else { return }
        let known = report.known > 0 ? ", \(report.known) were here already" : ""
        try StandardOutput.print(
            "took \(counted(report.stored, "segment")) (\(report.bytes)) of \(machine ?? "the spool \(report.source)") from \(report.path)\(known)\(receipt.map { "; receipt: \($0)" } ?? "")"
        )
    }
}
