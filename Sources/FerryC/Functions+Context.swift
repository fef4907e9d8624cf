// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are C's.

import CFerry
import FerrySpool
import FerryTracker

// What each function does is in ferry.h. Here: sessions, identity, properties, timers, and the control of the spool.

/// Notes that the program comes before a person.
@c @implementation
public func ferry_foreground(_ handle: OpaquePointer?) { _ = with(handle) { $0.tracker.enterForeground() } }

/// Notes that the program leaves the person: everything is published, and is to be sent.
@c @implementation
public func ferry_background(_ handle: OpaquePointer?) { _ = with(handle) { $0.tracker.enterBackground() } }

/// Begins a session.
@c @implementation
public func ferry_start_session(_ handle: OpaquePointer?) { _ = with(handle) { $0.tracker.startSession() } }

/// Returns the current session's ID, a UUID; NULL when there is none. The text is valid until the thread's next call.
@c @implementation
public func ferry_session_id(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? { text(of: handle) { $0.sessionID } }

/// Sets the user of events from now on; NULL: none.
@c @implementation
public func ferry_login(_ handle: OpaquePointer?, _ user: UnsafePointer<CChar>?) -> CInt {
    with(handle) {
        if user == nil { try $0.tracker.logout() } else { try $0.tracker.login(InvalidArgumentError.text(user, "the user")) }
    }
}

/// Returns the user; NULL when there is none. The text is valid until the thread's next call.
@c @implementation
public func ferry_user(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? { text(of: handle) { $0.userID } }

/// Returns the random ID that the spool was given at its first start.
@c @implementation
public func ferry_anonymous_id(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? { text(of: handle) { $0.anonymousID } }

/// Sets the country of events: two letters, A-Z; NULL: none.
@c @implementation
public func ferry_set_country(_ handle: OpaquePointer?, _ country: UnsafePointer<CChar>?) -> CInt {
    with(handle) {
        try $0.tracker.setCountryCode(country == nil ? nil : InvalidArgumentError.text(country, "the country"))
    }
}

/// Adds properties, a JSON object, to every event from now on; NULL removes all of them.
@c @implementation
public func ferry_set_super_properties(_ handle: OpaquePointer?, _ properties: UnsafePointer<CChar>?) -> CInt {
    with(handle) {
        guard properties != nil else { return $0.tracker.removeAllSuperProperties() }
        $0.tracker.setSuperProperties(try InvalidArgumentError.properties(properties))
    }
}

/// Removes a super property.
@c @implementation
public func ferry_remove_super_property(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { $0.tracker.removeSuperProperty(try InvalidArgumentError.text(name, "the name")) }
}

/// Starts to time an event.
@c @implementation
public func ferry_timer_start(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { $0.tracker.startTimer(try InvalidArgumentError.text(name, "the name")) }
}

/// Pauses a timer; `FERRY_INVALID` when there is none of the name.
@c @implementation
public func ferry_timer_pause(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { try $0.tracker.pauseTimer(InvalidArgumentError.text(name, "the name")) }
}

/// Resumes a paused timer; `FERRY_INVALID` when there is none of the name.
@c @implementation
public func ferry_timer_resume(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { try $0.tracker.resumeTimer(InvalidArgumentError.text(name, "the name")) }
}

/// Tracks an event of the timer's name, with its time as `$event_duration` in seconds.
@c @implementation
public func ferry_timer_end(
    _ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ properties: UnsafePointer<CChar>?, _ priority: CInt
) -> CInt {
    with(handle) {
        try $0.tracker.endTimer(
            InvalidArgumentError.text(name, "the name"), properties: InvalidArgumentError.properties(properties),
            priority: InvalidArgumentError.priority(priority))
    }
}

/// Forgets a timer without an event; NULL: all of them.
@c @implementation
public func ferry_timer_remove(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) {
        guard name != nil else { return $0.tracker.removeAllTimers() }
        $0.tracker.removeTimer(try InvalidArgumentError.text(name, "the name"))
    }
}

/// Sets whether events are stored, for all programs of the spool.
@c @implementation
public func ferry_set_enabled(_ handle: OpaquePointer?, _ enabled: CInt) -> CInt {
    with(handle) { try $0.tracker.setEnabled(enabled != 0) }
}

/// Returns 1 if events are stored, else 0.
@c @implementation
public func ferry_is_enabled(_ handle: OpaquePointer?) -> CInt { flag(of: handle) { $0.isEnabled } }

/// Sets whether what is stored waits, for all programs of the spool.
@c @implementation
public func ferry_set_paused(_ handle: OpaquePointer?, _ paused: CInt) -> CInt {
    with(handle) { try $0.tracker.setPaused(paused != 0) }
}

/// Returns 1 if what is stored waits, else 0.
@c @implementation
public func ferry_is_paused(_ handle: OpaquePointer?) -> CInt { flag(of: handle) { $0.isPaused } }

/// Stores nothing from now on, and deletes what waits in the spool.
@c @implementation
public func ferry_disable_and_delete(_ handle: OpaquePointer?) -> CInt {
    with(handle) { try $0.tracker.setEnabled(false, deletingStored: true) }
}
