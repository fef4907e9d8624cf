// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are C's.

public import CFerry
import CForks
import FerrySpool
import FerryTracker
import Glibc

// What each function does is in ferry.h. Here: opening, closing, events, and what happened.

/// Opens a spool, and makes it when there is none; NULL when that fails.
@c @implementation
public func ferry_open(_ spool: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?) -> OpaquePointer? {
    ferry_open_with(spool, options, nil)
}

/// Opens a spool with callbacks, which may be NULL and are copied.
@c @implementation
public func ferry_open_with(
    _ spool: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?, _ callbacks: UnsafePointer<ferry_callbacks>?
) -> OpaquePointer? {
    var handle: OpaquePointer?
    _ = answer {
        let options = try InvalidArgumentError.json(options, or: nil as TrackerOptions?, "the options")
        var configuration = options?.configuration ?? TrackerConfiguration()
        if let callbacks { Callbacks(callbacks.pointee).install(in: &configuration) }
        let made = Handle(try EventTracker(spool: InvalidArgumentError.text(spool, "the spool"), configuration: configuration))
        handle = OpaquePointer(Unmanaged.passRetained(made).toOpaque())
    }
    return handle
}

/// Publishes everything, waits for it, and frees the tracker. In a fork's child it frees nothing.
@c @implementation
public func ferry_close(_ handle: OpaquePointer?) -> CInt {
    // Until the handle is released.
    ferry_begin_work()
    defer { ferry_end_work() }
    let result = with(handle) {
        $0.stopSending()
        try $0.tracker.close()
    }
    // In a fork's child, what the tracker holds is its parent's, and is left alone.
    if let handle, result != FERRY_FORKED { Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(handle)).release() }
    return result
}

/// Stores an event with properties in JSON and a priority from 0 (critical) to 9.
@c @implementation
public func ferry_track(
    _ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ properties: UnsafePointer<CChar>?, _ priority: CInt
) -> CInt {
    with(handle, holdsForks: ferry_is_early_call() != 0) {
        try $0.tracker.track(
            InvalidArgumentError.text(name, "the name"), properties: InvalidArgumentError.properties(properties),
            priority: InvalidArgumentError.priority(priority))
    }
}

/// Publishes everything, waits for it, and asks the uploader of the spool to send it now.
@c @implementation
public func ferry_flush(_ handle: OpaquePointer?) -> CInt { with(handle) { try $0.tracker.flushAndWait() } }

/// Sets the interval in seconds, after a flush; 0 or less: published by a flush only.
@c @implementation
public func ferry_set_interval(_ handle: OpaquePointer?, _ seconds: Double) -> CInt {
    with(handle) { try $0.tracker.setIntervalAndWait(InvalidArgumentError.seconds(seconds, "the interval")) }
}

/// Returns the interval in seconds.
@c @implementation
public func ferry_interval(_ handle: OpaquePointer?) -> Double {
    var seconds = 0.0
    _ = with(handle) { seconds = $0.tracker.interval / .seconds(1) }
    return seconds
}

/// Writes the counts of stored, failed and truncated events to `statistics`.
@c @implementation
public func ferry_get_statistics(_ handle: OpaquePointer?, _ statistics: UnsafeMutablePointer<ferry_statistics>?) -> CInt {
    with(handle) {
        guard let statistics else { throw InvalidArgumentError(description: "the statistics are NULL") }
        let found = $0.tracker.statistics
        statistics.pointee = ferry_statistics(
            stored: UInt64(clamping: found.stored), failed: UInt64(clamping: found.failed),
            truncated: UInt64(clamping: found.truncated))
    }
}

/// For as long as the process lives. Unsafe in name only: it is never changed or freed.
nonisolated(unsafe) private let version = FerryVersion.current.withCString { strdup($0) }

/// Returns the version, such as `0.1.0`.
@c @implementation
public func ferry_version() -> UnsafePointer<CChar>? { UnsafePointer(version) }
