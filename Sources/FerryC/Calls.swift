import CFerry
import CForks
import FerryTracker

/// As ``TrackerError/forked`` says it.
private var forkedMessage: StaticString { "the process was forked: open a tracker in the new one" }

/// Does something with the tracker behind a handle, and returns what came of it.
///
/// In a fork's child, locks of the language's runtime may be held for ever by threads that are not there: no error is thrown, no reference
/// is counted and no text is made on the way to the answer.
///
/// - Parameter holdsForks: A fork waits for it (`ferry_begin_work`).
func with(_ pointer: OpaquePointer?, holdsForks: Bool = true, _ body: (Handle) throws -> Void) -> CInt {
    if holdsForks { ferry_begin_work() }
    defer { if holdsForks { ferry_end_work() } }
    if let pointer, Handle.isForked(pointer) {
        forkedMessage.utf8Start.withMemoryRebound(to: CChar.self, capacity: forkedMessage.utf8CodeUnitCount + 1) {
            ferry_set_error($0)
        }
        return CInt(FERRY_FORKED)
    }
    return outcome {
        guard let pointer else { throw InvalidArgumentError(description: "the tracker is NULL") }
        try body(Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue())
    }
}

/// Returns a text of a tracker's, which lasts until the thread's next call; `nil` for none.
func text(of pointer: OpaquePointer?, _ body: (EventTracker) -> String?) -> UnsafePointer<CChar>? {
    var kept: UnsafePointer<CChar>?
    _ = with(pointer) { kept = body($0.tracker)?.withCString { ferry_keep_text($0) } }
    return kept
}

/// Returns 1 if something is so, and 0 if not, if there is no tracker, and in a fork's child.
func flag(of pointer: OpaquePointer?, _ body: (EventTracker) -> Bool) -> CInt {
    var isSo = false
    _ = with(pointer) { isSo = body($0.tracker) }
    return isSo ? 1 : 0
}

/// Does something while a fork waits (`ferry_begin_work`), and says what came of it as ferry.h's numbers do.
func answer(_ body: () throws -> Void) -> CInt {
    ferry_begin_work()
    defer { ferry_end_work() }
    return outcome(body)
}

/// Does something, and says what came of it as ferry.h's numbers do.
func outcome(_ body: () throws -> Void) -> CInt {
    do {
        try body()
        return CInt(FERRY_OK)
    } catch {
        ferry_set_error("\(error)")
        return CInt(code(of: error))
    }
}

private func code(of error: any Error) -> Int {
    if error is SendingForkError { return FERRY_FORKED }
    guard let failure = error as? TrackerError else { return FERRY_INVALID }
    return switch failure {
    case .limit: FERRY_LIMIT
    case .disabled: FERRY_DISABLED
    case .spoolFull: FERRY_FULL
    case .file: FERRY_FILE
    case .forked: FERRY_FORKED
    case .noName, .closed, .intervalIsFixed, .interval, .userID, .country, .noTimer, .stream: FERRY_INVALID
    }
}
