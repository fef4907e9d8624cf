import ArgumentParser
import FerrySpool
import FerryUpload

/// How long a pass may take.
struct TimeLimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("End after this time; what is under way then stays pending.", valueName: "duration"))
    var timeLimit: Duration?

    @Option(
        help: ArgumentHelp(
            "Start no request when less than this is left of --time-limit. Default: 30s, but no more than a quarter of it.",
            valueName: "duration"))
    var timeLimitMargin: Duration?

    @Option(help: .hidden)
    var deadline: Duration?

    @Option(help: .hidden)
    var deadlineMargin: Duration?

    func validate() throws {
        if timeLimit != nil, deadline != nil { throw ValidationError("--deadline is --time-limit now: give one of them") }
        if timeLimitMargin != nil, deadlineMargin != nil {
            throw ValidationError("--deadline-margin is --time-limit-margin now: give one of them")
        }
        let limit = timeLimit ?? deadline
        if let limit, limit <= .zero { throw ValidationError("--time-limit must be longer than 0") }
        if timeLimitMargin ?? deadlineMargin != nil, limit == nil {
            throw ValidationError("--time-limit-margin needs --time-limit")
        }
    }

    func apply(to settings: inout UploadSettings, _ log: Log) {
        if deadline != nil { log.warn("--deadline is --time-limit now; the old name still works") }
        if deadlineMargin != nil { log.warn("--deadline-margin is --time-limit-margin now; the old name still works") }
        settings.timeLimit = timeLimit ?? deadline
        settings.timeLimitMargin = timeLimitMargin ?? deadlineMargin
    }
}
