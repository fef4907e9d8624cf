import ArgumentParser
import FerrySpool
import FerryTransfer
import Glibc

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
        try NamedFiles.require(["--from": from, "--key": key])
        let options = try options()
        try requireBundle(options)
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
            var intake = Import(spool, options: options)
            intake.onProgress = progress.show
            results = try intake.run(source, at: .now())
        } catch let error as FileError {
            throw CommandError(error.isOutOfSpace ? .spoolFull : .localFailure, error.description)
        }
        progress.end()
        guard !results.isEmpty else { throw noBundle }
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

    private var noBundle: CommandError { CommandError(.badData, "there is no bundle in \(source)") }

    private func options() throws(CommandError) -> ImportOptions {
        do throws(KeyError) {
            var options = ImportOptions()
            if let from { options.sender = try PublicKeys(file: from) }
            if let key { options.keys = try PrivateKeys(file: key) }
            return options
        } catch {
            throw CommandError(.badConfiguration, error.description)
        }
    }

    /// Throws where there is no spool yet, and no bundle that one is to be made for.
    private func requireBundle(_ options: ImportOptions) throws {
        guard access(spoolOptions.path, F_OK) != 0 else { return }
        let refusals: [BundleError]?
        do throws(FileError) { refusals = try Import.refusals(at: source, options: options) } catch { throw CommandError(error) }
        guard let refusals else { return }
        guard !refusals.isEmpty else { throw noBundle }
        for problem in refusals { spoolOptions.log.error("\(problem)") }
        let statuses = Set(refusals.map(Self.status))
        throw (statuses.contains(.localFailure) ? ExitStatus.localFailure : .badData).code
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
        if let first = report.missing.first {
            let all =
                report.missing.count + report.damaged.count + report.withheld.count + report.stored + report.known
                + report.untaken
            let more = report.missing.count > 1 ? ", \(first) and others: --json shows all" : ", \(first)"
            spoolOptions.log.error(
                "\(report.path): \(report.missing.count) of \(counted(all, "segment")) \(report.missing.count == 1 ? "is" : "are") missing\(more); was the stick pulled out?"
            )
        }
        if let failure = report.failure {
            spoolOptions.log.error(
                "\(report.path): \(counted(report.untaken, "segment")) not taken: \(failure); what was taken is kept: import again"
            )
        }
        if report.isSignedUnchecked {
            spoolOptions.log.note("\(report.path) is signed, and by whom was not checked: --from names the sender's public key")
        }
        guard !spoolOptions.quiet else { return }
        let known = report.known > 0 ? ", \(report.known) were here already" : ""
        try StandardOutput.print(
            "took \(counted(report.stored, "segment")) (\(report.bytes)) of \(machine ?? "the spool \(report.source)") from \(report.path)\(known)\(receipt.map { "; receipt: \($0)" } ?? "")"
        )
        if report.isComplete, receipt != nil {
            try StandardOutput.print("all of it is here, synced: take the receipt back, and the bundle may be deleted")
        }
    }
}
