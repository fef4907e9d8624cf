import CClock
package import Glibc

/// The kernel's clocks.
package enum KernelClock {
    /// Reads a clock of the kernel, in nanoseconds.
    ///
    /// - Parameter clock: `CLOCK_REALTIME`, `CLOCK_MONOTONIC` or `CLOCK_BOOTTIME`.
    package static func nanoseconds(_ clock: clockid_t) -> Int64 { ferry_clock(clock) }
}

extension timespec {
    /// Since 1970 for the times of files, in any range.
    package var seconds: Int64 { withUnsafePointer(to: self) { ferry_seconds($0) } }

    /// The rest, below a second in what a sound kernel says.
    package var nanoseconds: Int64 { withUnsafePointer(to: self) { ferry_nanoseconds($0) } }
}
