import ArgumentParser
import FerrySpool
import Glibc

/// The commands that tell a spool something, persistently: every program that uses it obeys within a second.
protocol ControlCommand: ParsableCommand {
    var spoolOptions: SpoolOptions { get }
    /// What to tell.
    func change(_ control: inout SpoolControl, at now: Timestamp)
    /// What the command says when it is done.
    func confirmation(_ path: String) -> String
    /// What programs still have to do of what the spool was told before.
    func wait(for control: SpoolControl, at now: Timestamp) -> Duration
    /// What else is to be known, now that the spool is told.
    func remark(on spool: Spool) -> String?
}

extension ControlCommand {
    func remark(on spool: Spool) -> String? { nil }
    func wait(for control: SpoolControl, at now: Timestamp) -> Duration { .zero }

    func run() throws {
        do throws(FileError) {
            let now = Timestamp.now()
            try Spool.requireSpool(at: spoolOptions.path)
            let spool = try Spool.open(spoolOptions.path, access: .write)
            usleep(useconds_t(clamping: wait(for: try spool.control(), at: now).wholeMilliseconds * 1000))
            _ = try spool.setControl(at: now) { change(&$0, at: now) }
            spoolOptions.log.note(confirmation(spool.path))
            if let remark = remark(on: spool) { spoolOptions.log.note(remark) }
        } catch {
            throw spoolOptions.failure(error)
        }
    }
}

struct PauseCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Send nothing from a spool until `ferry resume`; writers go on storing.",
        discussion: "Example: ferry pause --spool /var/spool/ferry")

    @OptionGroup var spoolOptions: SpoolOptions

    func change(_ control: inout SpoolControl, at now: Timestamp) { control.isPaused = true }
    func confirmation(_ path: String) -> String { "\(path) is paused: it stores, and sends nothing until ferry resume" }
}

struct ResumeCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "End a pause.", discussion: "Example: ferry resume --spool /var/spool/ferry")

    @OptionGroup var spoolOptions: SpoolOptions

    func change(_ control: inout SpoolControl, at now: Timestamp) { control.isPaused = false }
    func confirmation(_ path: String) -> String { "\(path) is not paused" }
}

struct DisableCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Store and send nothing until `ferry enable`; what is stored stays.",
        discussion: "Example: ferry disable --spool /var/spool/ferry")

    @OptionGroup var spoolOptions: SpoolOptions

    func change(_ control: inout SpoolControl, at now: Timestamp) { control.isDisabled = true }
    func confirmation(_ path: String) -> String {
        "\(path) is disabled: it stores and sends nothing until ferry enable; what it holds is kept"
    }
}

struct EnableCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "End what `ferry disable` began.",
        discussion: "Example: ferry enable --spool /var/spool/ferry")

    @OptionGroup var spoolOptions: SpoolOptions

    func change(_ control: inout SpoolControl, at now: Timestamp) { control.isDisabled = false }
    func wait(for control: SpoolControl, at now: Timestamp) -> Duration { control.waitAfterDeletion(at: now) }
    func confirmation(_ path: String) -> String { "\(path) is enabled" }
}

struct FlushCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "flush", abstract: "Ask a running `ferry run` to send everything now, whatever its interval.",
        discussion: """
            Waits for a failed destination are void as well. Without a `ferry run` nothing happens: use `ferry upload`.

            Example: ferry flush --spool /var/spool/ferry
            """)

    @OptionGroup var spoolOptions: SpoolOptions

    func change(_ control: inout SpoolControl, at now: Timestamp) { control.flushRequestedAt = now }
    func confirmation(_ path: String) -> String { "asked for everything in \(path) to be sent now" }

    func remark(on spool: Spool) -> String? {
        let uploader = (try? spool.uploaderMark()) ?? nil
        guard let uploader, uploader.isRunning else { return "but no ferry run looks after it: ferry upload sends it" }
        if let control = try? spool.control(), control.stopsSending {
            return control.isDisabled ? "but it is disabled: ferry enable" : "but it is paused: ferry resume"
        }
        guard let blocked = uploader.mark.blocked else { return nil }
        return "but its ferry run sends nothing now: \(blocked.text)"
    }
}
