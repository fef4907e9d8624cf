import ArgumentParser

/// What the units are made for.
struct UnitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What they do: ferry run, ferry upload by a timer, or ferry receive. (default: run)", valueName: "role"))
    var role: ServiceRole?

    @Flag(help: .hidden)
    var timer = false

    @Option(
        help: ArgumentHelp("The user that it runs as.", discussion: "Default: the owner of the first spool.", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp(
            "With --role upload: how often, as systemd's OnCalendar has it. (default: *:0/5)", valueName: "calendar"))
    var every: String?

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "All options of the role's command, like --config, --spool, --to, --token-file, --ca, --bandwidth, --listen or --quiet.",
            discussion: """
                Without --config and --spool ferry run reads /etc/ferry/ferry.yaml; without --spool ferry upload sends from \
                /var/spool/ferry.
                """,
            valueName: "options"))
    var words: [String] = []

    func validate() throws {
        if timer, let role, role != .upload { throw ValidationError("--timer is --role upload now: give one of them") }
        guard every == nil || effectiveRole == .upload else { throw ValidationError("--every goes with --role upload") }
        for (option, text) in [("--user", user), ("--every", every)] {
            guard let text else { continue }
            guard !text.isEmpty, !text.contains(where: \.isNewline) else {
                throw ValidationError("\(option) '\(text)' must be one line")
            }
        }
        if let user, user.contains(where: \.isWhitespace) { throw ValidationError("--user '\(user)' is no user's name") }
        for word in words where word.contains(where: \.isNewline) { throw ValidationError("'\(word)' must be one line") }
    }

    var effectiveRole: ServiceRole { role ?? (timer ? .upload : .run) }

    /// Returns the units, and what keeps them from their work. Of a former name it is told what it is now.
    func plan(_ log: Log) throws -> UnitPlan {
        if timer { log.warn("--timer is --role upload now; the old name still works") }
        return try UnitPlan(effectiveRole, words, user: user, every: every ?? "*:0/5")
    }
}
