import ArgumentParser
import FerrySpool
import FerryTransfer

struct AcknowledgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge",
        abstract: "Take a hub's receipt: what it vouches for goes to sent/, what it lacks is due again.",
        discussion: """
            A receipt for another spool, for a bundle that nobody waits for, or with other checksums is refused; with --from also one \
            that the hub did not sign.

            Example: ferry acknowledge /media/stick/ferry-receipt-*.json --spool /var/spool/ferry --from hub.pub
            """)

    @Argument(help: ArgumentHelp("Receipts.", valueName: "receipt"))
    var receipts: [String]

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption

    @Option(help: ArgumentHelp("Take only what this public key signed.", valueName: "file"))
    var from: String?

    func run() throws {
        let spool = try spoolOptions.open(.write)
        var isGood = true
        do {
            let keys = try from.map { try PublicKeys(file: $0) }
            for path in receipts {
                do {
                    let file = try OpenFile.reading(path)
                    let bytes = try file.readBytes(Int(min(file.status().size, .mebibytes(512)).bytes), at: 0)
                    try show(try spool.acknowledge(bytes, from: keys, at: .now()), path)
                } catch let problem as ReceiptProblem {
                    isGood = false
                    spoolOptions.log.error("\(path): \(problem); nothing is changed")
                }
            }
        } catch let error as KeyError {
            throw CommandFailure(.badConfiguration, error.description)
        } catch let error as FileError {
            throw CommandFailure(.localFailure, error.description)
        }
        try StandardOutput.flush()
        if !isGood { throw ExitStatus.badData.code }
    }

    private func show(_ result: Acknowledgement, _ path: String) throws {
        if output.json {
            struct Line: Encodable {
                let receipt: String
                let sent: Int
                let bytes: Int64
                let alreadyGone: Int
                let busy: Int
                let missing: Int
            }
            return try StandardOutput.print(
                Line(
                    receipt: path, sent: result.sent, bytes: result.bytes.bytes, alreadyGone: result.alreadyGone,
                    busy: result.busy,
                    missing: result.missing
                ).jsonLine())
        }
        guard !spoolOptions.quiet else { return }
        try StandardOutput.print("acknowledged \(counted(result.sent, "segment")) (\(result.bytes)), now in sent/")
        if result.alreadyGone > 0 { try StandardOutput.print("\(result.alreadyGone) were not pending any more") }
        if result.missing > 0 { try StandardOutput.print("\(result.missing) did not arrive, and are due again") }
        if result.busy > 0 { try StandardOutput.print("\(result.busy) are being sent by somebody; acknowledge again later") }
    }
}
