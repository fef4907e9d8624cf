// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are C's.

import CFerry
import FerrySpool
import FerryTracker

// What each function does is in ferry.h. Here: sessions, identity, properties, timers, and the control of the spool.

@c @implementation
public func ferry_foreground(_ handle: OpaquePointer?) { _ = with(handle) { $0.tracker.enterForeground() } }

@c @implementation
public func ferry_background(_ handle: OpaquePointer?) { _ = with(handle) { $0.tracker.enterBackground() } }

@c @implementation
public func ferry_start_session(_ handle: OpaquePointer?) { _ = with(handle) { $0.tracker.startSession() } }

@c @implementation
public func ferry_session_id(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? { text(of: handle) { $0.sessionID } }

@c @implementation
public func ferry_login(_ handle: OpaquePointer?, _ user: UnsafePointer<CChar>?) -> CInt {
    with(handle) {
        if user == nil { try $0.tracker.logout() } else { try $0.tracker.login(InvalidArgumentError.text(user, "the user")) }
    }
}

@c @implementation
public func ferry_user(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? { text(of: handle) { $0.userID } }

@c @implementation
public func ferry_anonymous_id(_ handle: OpaquePointer?) -> UnsafePointer<CChar>? { text(of: handle) { $0.anonymousID } }

@c @implementation
public func ferry_set_country(_ handle: OpaquePointer?, _ country: UnsafePointer<CChar>?) -> CInt {
    with(handle) {
        try $0.tracker.setCountryCode(country == nil ? nil : InvalidArgumentError.text(country, "the country"))
    }
}

@c @implementation
public func ferry_set_super_properties(_ handle: OpaquePointer?, _ properties: UnsafePointer<CChar>?) -> CInt {
    with(handle) {
        guard properties != nil else { return $0.tracker.removeAllSuperProperties() }
        $0.tracker.setSuperProperties(try InvalidArgumentError.properties(properties))
    }
}

@c @implementation
public func ferry_remove_super_property(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { $0.tracker.removeSuperProperty(try InvalidArgumentError.text(name, "the name")) }
}

@c @implementation
public func ferry_timer_start(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { $0.tracker.startTimer(try InvalidArgumentError.text(name, "the name")) }
}

@c @implementation
public func ferry_timer_pause(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { try $0.tracker.pauseTimer(InvalidArgumentError.text(name, "the name")) }
}

@c @implementation
public func ferry_timer_resume(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) { try $0.tracker.resumeTimer(InvalidArgumentError.text(name, "the name")) }
}

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

@c @implementation
public func ferry_timer_remove(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> CInt {
    with(handle) {
        guard name != nil else { return $0.tracker.removeAllTimers() }
        $0.tracker.removeTimer(try InvalidArgumentError.text(name, "the name"))
    }
}

@c @implementation
public func ferry_set_enabled(_ handle: OpaquePointer?, _ enabled: CInt) -> CInt {
    with(handle) { try $0.tracker.setEnabled(enabled != 0) }
}

@c @implementation
public func ferry_is_enabled(_ handle: OpaquePointer?) -> CInt { flag(of: handle) { $0.isEnabled } }

@c @implementation
public func ferry_set_paused(_ handle: OpaquePointer?, _ paused: CInt) -> CInt {
    with(handle) { try $0.tracker.setPaused(paused != 0) }
}

@c @implementation
public func ferry_is_paused(_ handle: OpaquePointer?) -> CInt { flag(of: handle) { $0.isPaused } }

@c @implementation
public func ferry_disable_and_delete(_ handle: OpaquePointer?) -> CInt {
    with(handle) { try $0.tracker.setEnabled(false, deletingStored: true) }
}
