/// Waits until a condition holds, for a minute at most: a busy machine may have many tests.
///
/// - Throws: ``InVain`` when it never did.
package func eventually(_ what: @autoclosure () -> String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while true {
        // Seen before the condition is: this task may have had no turn for long.
        let isLast = ContinuousClock.now >= end
        if try await condition() { return }
        if isLast { throw InVain(what: what()) }
        try await Task.sleep(for: .milliseconds(5))
    }
}

package struct InVain: Error {
    let what: String

    package init(what: String) { self.what = what }
}
