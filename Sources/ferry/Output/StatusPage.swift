import FerrySpool

/// What `ferry status` shows at one moment.
struct StatusPage: Sendable {
    /// Escaped, with colours.
    let lines: [String]
    /// Whether something cannot be read.
    let isUnreadable: Bool
    /// Whether something waits for a person.
    let needsPerson: Bool

    /// Prints all of it and ends with what it comes to.
    func print() throws {
        for line in lines { try StandardOutput.printEscaped(line) }
        try StandardOutput.flush()
        if isUnreadable { throw ExitStatus.localFailure.code }
        if needsPerson { throw ExitStatus.needsPerson.code }
    }
}
