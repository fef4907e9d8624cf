import ArgumentParser
import FerrySpool

struct CatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Print the events themselves, in upload order.",
        discussion: "Example: ferry cat --stream dns | jq .query")

    @OptionGroup var selection: SegmentSelection
    @OptionGroup var spoolOptions: SpoolOptions

    func run() throws {
        let spool = try spoolOptions.openForReading()
        let log = spoolOptions.log
        var isDamaged = false
        var failures: [FileError] = spool.stateFailure.map { [$0] } ?? []
        func note(_ error: FileError) {
            log.warn("\(error)")
            failures.append(error)
        }
        for segment in try selection.files(spool, note: note) {
            var last = UInt8(ascii: "\n")
            do {
                try segment.open()?.inflate(limit: ByteCount(.max)) { bytes in
                    try StandardOutput.write(bytes)
                    last = bytes.last ?? last
                }
            } catch let damage as GzipDamage {
                log.warn("\(segment.name): \(damage); what comes before it is printed")
                isDamaged = true
            } catch let error as FileError {
                // Its events are missing; those of the others are not.
                note(error)
            }
            if last != UInt8(ascii: "\n") { try StandardOutput.print("") }
        }
        try StandardOutput.flush()
        if let status = ExitStatus(failures) { throw status.code }
        if isDamaged { throw ExitStatus.badData.code }
    }
}
