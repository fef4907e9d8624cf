import FerryReceiver

/// Prints a token before the list knows it: where it finds no room, as in a file on a full disk, nothing is changed.
func show(_ token: MachineToken) throws {
    // Also where standard output was closed, as some supervisors start programs.
    guard !StandardOutput.isNullDevice else {
        throw CommandError(.usage, "standard output is closed, or /dev/null: nothing is changed, for the token would be lost")
    }
    do {
        try StandardOutput.print(token.text)
        try StandardOutput.flush()
    } catch let failure as CommandError {
        throw CommandError(failure.status, "\(failure.message): nothing is changed, for the token would be lost")
    }
}

/// Has the list know a token that was shown.
func admit(_ token: MachineToken?, _ change: () throws -> Void) throws {
    do { try change() } catch let failure as CommandError where token != nil {
        throw CommandError(failure.status, "\(failure.message); what was printed is no token that counts")
    }
}

/// Returns a token that was not handed out yet.
func newToken() -> MachineToken {
    var generator = SystemRandomNumberGenerator()
    return MachineToken(using: &generator)
}
