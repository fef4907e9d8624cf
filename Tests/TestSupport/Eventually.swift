/// Waits until a condition holds, for half a minute at most.
///
/// - Throws: ``InVain`` when it never did.
public func eventually(_ what: String, _ condition: () throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
        if try condition() { return }
        try await Task.sleep(for: .milliseconds(5))
    }
    throw InVain(what: what)
}

public struct InVain: Error {
    let what: String
}
