// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are C's.

public import CFerry
import FerryTracker
import FerryTrackerUpload
import FerryUpload

// What each function does is in ferry.h. Here: sending from the tracker's process.

/// Begins to send what is stored, by options in JSON; `to` is required.
@c @implementation
public func ferry_start_sending(_ handle: OpaquePointer?, _ options: UnsafePointer<CChar>?) -> CInt {
    with(handle) {
        guard let options = try InvalidArgumentError.json(options, or: nil as SendingOptions?, "the options") else {
            throw InvalidArgumentError(description: "the options are NULL, and must say where 'to' send")
        }
        try $0.startSending(options.upload($0.tracker.configuration.profile))
    }
}

/// Finishes what is under way, and waits for it.
@c @implementation
public func ferry_stop_sending(_ handle: OpaquePointer?) -> CInt { with(handle) { $0.stopSending() } }

/// Sends everything that was tracked, and waits for it: at most `seconds`, or without an end if that is 0 or less.
@c @implementation
public func ferry_dispatch(
    _ handle: OpaquePointer?, _ seconds: Double, _ result: UnsafeMutablePointer<ferry_dispatched>?
) -> CInt {
    with(handle) {
        let deadline = try InvalidArgumentError.seconds(seconds, "the time")
        let outcome = try $0.dispatch(deadline: deadline > .zero ? deadline : nil)
        result?.pointee =
            switch outcome {
            case .noData: FERRY_NO_DATA
            case .sent(more: false): FERRY_SENT
            case .sent(more: true): FERRY_MORE
            case .failed: FERRY_NOT_SENT
            }
    }
}
