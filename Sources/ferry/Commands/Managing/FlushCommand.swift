import ArgumentParser
import FerrySpool

struct FlushCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "flush", abstract: "Ask a running `ferry run` to send everything now, without waiting for its interval.",
        discussion: """
            Waits for a failed destination are void as well. Without a `ferry run` nothing happens: use `ferry upload`.

            Example: ferry flush --spool /var/spool/ferry
            """)

    @Argument(help: SpoolOptions.severalHelp)
    var spools: [String] = []

    @OptionGroup var spoolOptions: SpoolOptions

    func change(_ control: inout SpoolControl, at now: Timestamp) { control.flushRequestedAt = now }
    func confirmation(_ path: String) -> String { "asked for everything in \(path) to be sent now" }

    func remark(on spool: Spool) -> String? {
        let uploader = (try? spool.uploaderMark.read()) ?? nil
        guard let uploader, uploader.isRunning else {
            return "but no ferry run looks after it: ferry upload\(spoolOptions.laneOption) sends it"
        }
        if let control = try? spool.control.read(), control.stopsSending {
            return control.isDisabled
                ? "but it is disabled: ferry enable\(spoolOptions.laneOption)"
                : "but it is paused: ferry resume\(spoolOptions.laneOption)"
        }
        guard let blocked = uploader.mark.blocked else { return nil }
        return "but its ferry run sends nothing now: \(blocked.text)"
    }
}
