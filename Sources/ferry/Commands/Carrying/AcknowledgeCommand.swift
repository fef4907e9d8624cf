import ArgumentParser
import FerrySpool
import FerryTransfer
import Glibc

struct AcknowledgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge",
        abstract: "Take a hub's receipt: what it vouches for goes to sent/, what it lacks is due again.",
        discussion: """
            A receipt for another spool, for a bundle that the spool does not wait for, or with other checksums is refused; with --from also one \
            that the hub did not sign. A fault in one receipt does not stop the others. Where several hubs took one bundle, give \
            their receipts together: only what none of them has is due again.

            Example: ferry acknowledge /media/stick/ferry-receipt-*.json --spool /var/spool/ferry --from hub.pub

            Exit status: 0 done, 65 a receipt is refused, 73 the spool's disk is full, 74 a receipt cannot be read or the spool failed, 75 \
            some segments are busy: acknowledge again, or have changed since they were exported, and are due again as they are now.
            """)

    @Argument(help: ArgumentHelp("Receipts, or folders with receipts in them, such as a stick.", valueName: "receipt"))
    var receipts: [String]

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption

    @Option(help: ArgumentHelp("Take only what this public key signed.", valueName: "file"))
    var from: String?

    func run() throws {
        try NamedFiles.require(["--from": from])
        let spool = try spoolOptions.open(.write)
        var statuses: Set<ExitStatus> = []
        let keys: PublicKeys?
        do throws(KeyError) { keys = try from.map { path throws(KeyError) in try PublicKeys(file: path) } } catch {
            throw CommandError(.badConfiguration, error.description)
        }
        func note(_ error: any Error, _ path: String) {
            let lanes = spoolOptions.lane == nil ? (try? spool.lanes.names()) ?? [] : []
            if case ReceiptError.notAwaited(_, 0) = error, !lanes.isEmpty {
                statuses.insert(.badData)
                spoolOptions.log.error(
                    "\(path): the spool itself waits for no such receipt; if the bundle is of one of its destinations, say --destination \(lanes.map(\.text).joined(separator: " or "))"
                )
            } else if case ReceiptError.notAwaited(_, 0) = error {
                // Old receipts stay on a stick, and lie in the way of nothing.
                spoolOptions.log.note("\(path): \(error)")
            } else if let problem = error as? ReceiptError {
                statuses.insert(.badData)
                spoolOptions.log.error("\(path): \(problem); nothing is changed")
            } else {
                statuses.insert((error as? FileError)?.isOutOfSpace == true ? .spoolFull : .localFailure)
                let isMissing = (error as? FileError)?.code == ENOENT
                // The error names the file.
                let place = (error as? FileError)?.path == path ? "" : "\(path): "
                spoolOptions.log.error(
                    "\(place)\(error); " + (isMissing ? "ferry import writes receipts" : "acknowledge it again"))
            }
        }
        var read: [(path: String, bytes: [UInt8])] = []
        for path in receipts {
            do {
                for file in try Self.files(at: path) {
                    do { read.append((file, try self.read(file))) } catch { note(error, file) }
                }
            } catch {
                note(error, path)
            }
        }
        let progress = Progress(isShown: !spoolOptions.quiet && !output.json, log: spoolOptions.log)
        let results = spool.exports.acknowledge(read.map(\.bytes), from: keys, at: .now(), onProgress: progress.show)
        progress.end()
        for ((path, _), result) in zip(read, results) {
            switch result {
            case .failure(let error): note(error, path)
            case .success(let result):
                if result.busy > 0 { statuses.insert(result.failure == nil ? .remaining : .localFailure) }
                if result.changed > 0 { statuses.insert(.remaining) }
                if let failure = result.failure { spoolOptions.log.error("\(path): \(failure)") }
                try show(result, path)
            }
        }
        try StandardOutput.flush()
        // What a person must mend first.
        if let worst = [ExitStatus.spoolFull, .localFailure, .badData, .remaining].first(where: statuses.contains) {
            throw worst.code
        }
    }

    /// Returns the receipts in a folder; of anything else, the path itself.
    private static func files(at path: String) throws -> [String] {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return [path] }
        let folder = try Directory.open(path)
        let names = try folder.names().filter { $0.hasPrefix(Receipt.prefix) && $0.hasSuffix(".json") }.sorted()
        guard !names.isEmpty else { throw ReceiptError.unreadable("there is none in this folder; ferry import writes them") }
        return names.map(folder.pathOf)
    }

    private func read(_ path: String) throws -> [UInt8] {
        guard let file = try OpenFile.readingRegular(path) else { throw ReceiptError.unreadable("it is no regular file") }
        return try file.readBytes(Int(min(file.status().size, .mebibytes(512)).bytes), at: 0)
    }

    private func show(_ result: Acknowledgement, _ path: String) throws {
        if output.json {
            struct Line: Encodable {
                let receipt: String
                let sent: Int
                let bytes: Int64
                let alreadyGone: Int
                let changed: Int
                let busy: Int
                let missing: Int
            }
            return try StandardOutput.print(
                Line(
                    receipt: path, sent: result.sent, bytes: result.bytes.bytes, alreadyGone: result.alreadyGone,
                    changed: result.changed, busy: result.busy, missing: result.missing
                ).jsonLine())
        }
        guard !spoolOptions.quiet else { return }
        try StandardOutput.print("acknowledged \(counted(result.sent, "segment")) (\(result.bytes)), now in sent/")
        if result.deleted.segments > 0 {
            try StandardOutput.print(
                "deleted \(counted(Int(clamping: result.deleted.segments), "delivered segment")) (\(result.deleted.bytes)) from there: the disk is full"
            )
        }
        if result.alreadyGone > 0 { try StandardOutput.print("\(result.alreadyGone) were not pending any more") }
        if result.changed > 0 {
            try StandardOutput.print("\(result.changed) changed since they were exported, and are due again as they are now")
        }
        if result.missing > 0 { try StandardOutput.print("\(result.missing) did not arrive, and are due again") }
        if result.busy > 0 {
            try StandardOutput.print("\(result.busy) are being sent by another process; acknowledge again later")
        }
    }
}
