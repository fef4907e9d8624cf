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
        let spool = try spoolOptions.open(.read)
        var isDamaged = false
        for segment in try selection.files(spool) {
            var last = UInt8(ascii: "\n")
            do {
                try segment.open()?.inflate(limit: ByteCount(.max)) { bytes in
                    try StandardOutput.write(bytes)
                    last = bytes.last ?? last
                }
            } catch let damage as GzipDamage {
                spoolOptions.log.warn("\(segment.name): \(damage); what comes before it is printed")
                isDamaged = true
            }
            if last != UInt8(ascii: "\n") { try StandardOutput.print("") }
        }
        try StandardOutput.flush()
        if isDamaged { throw ExitStatus.badData.code }
    }
}
