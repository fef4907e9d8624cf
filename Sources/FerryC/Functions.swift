// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are C's.

import CFerry
import FerrySpool
import FerryTracker
import Glibc

// What each function does is in ferry.h. The handle is a retained EventTracker.

@c @implementation
public func ferry_open(_ spool: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?) -> OpaquePointer? {
    var tracker: EventTracker?
    _ = answer {
        let options = try InvalidArgument.json(options, or: nil as Options?, "the options")
        tracker = try EventTracker(
            spool: InvalidArgument.text(spool, "the spool"), configuration: options?.configuration ?? TrackerConfiguration())
    }
    return tracker.map { OpaquePointer(Unmanaged.passRetained($0).toOpaque()) }
}

/// As ``TrackerFailure/forked`` says it.
private var forkedMessage: StaticString { "the process was forked: open a tracker in the new one" }

/// In a fork's child, locks of the language's runtime may be held for ever by threads that are not there: no error is thrown and no text is
/// made on the way to the answer.
private func isForked(_ handle: OpaquePointer) -> Bool {
    Unmanaged<EventTracker>.fromOpaque(UnsafeRawPointer(handle))._withUnsafeGuaranteedRef { $0.isForked }
}

/// Does something with the tracker behind a handle.
private func with(_ handle: OpaquePointer?, _ body: (EventTracker) throws -> Void) -> CInt {
    if let handle, isForked(handle) {
        forkedMessage.utf8Start.withMemoryRebound(to: CChar.self, capacity: forkedMessage.utf8CodeUnitCount + 1) {
            ferry_set_error($0)
        }
        return CInt(FERRY_FORKED)
    }
    return answer {
        guard let handle else { throw InvalidArgument(description: "the tracker is NULL") }
        let tracker = Unmanaged<EventTracker>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
        try body(tracker)
    }
}

@c @implementation
public func ferry_track(
    _ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ properties: UnsafePointer<CChar>?, _ priority: CInt
) -> CInt {
    with(handle) {
        try $0.track(
            InvalidArgument.text(name, "the name"), properties: InvalidArgument.json(properties, or: [:], "the properties"),
            priority: InvalidArgument.priority(priority))
    }
}

@c @implementation
public func ferry_flush(_ handle: OpaquePointer?) -> CInt { with(handle) { try $0.flushAndWait() } }

@c @implementation
public func ferry_close(_ handle: OpaquePointer?) -> CInt {
    let result = with(handle) { try $0.close() }
    // In a fork's child, what the tracker holds is its parent's, and is left alone.
    if let handle, result != FERRY_FORKED { Unmanaged<EventTracker>.fromOpaque(UnsafeRawPointer(handle)).release() }
    return result
}

@c @implementation
public func ferry_login(_ handle: OpaquePointer?, _ user: UnsafePointer<CChar>?) -> CInt {
    with(handle) { if user == nil { try $0.logout() } else { try $0.login(InvalidArgument.text(user, "the user")) } }
}

@c @implementation
public func ferry_set_super_properties(_ handle: OpaquePointer?, _ properties: UnsafePointer<CChar>?) -> CInt {
    with(handle) {
        guard properties != nil else { return $0.removeAllSuperProperties() }
        $0.setSuperProperties(try InvalidArgument.json(properties, or: [:], "the properties"))
    }
}

@c @implementation
public func ferry_set_enabled(_ handle: OpaquePointer?, _ enabled: CInt) -> CInt {
    with(handle) { try $0.setEnabled(enabled != 0) }
}

@c @implementation
public func ferry_is_enabled(_ handle: OpaquePointer?) -> CInt {
    var isEnabled = false
    _ = with(handle) { isEnabled = $0.isEnabled }
    return isEnabled ? 1 : 0
}

@c @implementation
public func ferry_set_paused(_ handle: OpaquePointer?, _ paused: CInt) -> CInt { with(handle) { try $0.setPaused(paused != 0) } }

@c @implementation
public func ferry_foreground(_ handle: OpaquePointer?) { _ = with(handle) { $0.enterForeground() } }

@c @implementation
public func ferry_background(_ handle: OpaquePointer?) { _ = with(handle) { $0.enterBackground() } }

@c @implementation
public func ferry_start_session(_ handle: OpaquePointer?) { _ = with(handle) { $0.startSession() } }

@c @implementation
public func ferry_timer_start(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { $0.startTimer(try InvalidArgument.text(name, "the name")) }
}

@c @implementation
public func ferry_timer_pause(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { try $0.pauseTimer(InvalidArgument.text(name, "the name")) }
}

@c @implementation
public func ferry_timer_resume(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { try $0.resumeTimer(InvalidArgument.text(name, "the name")) }
}

@c @implementation
public func ferry_timer_end(
    _ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ properties: UnsafePointer<CChar>?, _ priority: CInt
) -> CInt {
    with(handle) {
        try $0.endTimer(
            InvalidArgument.text(name, "the name"), properties: InvalidArgument.json(properties, or: [:], "the properties"),
            priority: InvalidArgument.priority(priority))
    }
}

/// For as long as the process lives. Unsafe in name only: nobody changes or frees it.
nonisolated(unsafe) private let version = FerryVersion.current.withCString { strdup($0) }

@c @implementation
public func ferry_version() -> UnsafePointer<CChar>? { UnsafePointer(version) }
