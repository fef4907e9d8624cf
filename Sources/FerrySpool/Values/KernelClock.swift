public import Glibc

/// The kernel's clocks.
public enum KernelClock {
    /// - Parameter clock: `CLOCK_REALTIME`, `CLOCK_MONOTONIC` or `CLOCK_BOOTTIME`.
    public static func nanoseconds(_ clock: clockid_t) -> Int64 {
        // As two words: which module the members of `timespec` belong to depends on what the compiler happens to load first.
        var words: (seconds: Int, nanoseconds: Int) = (0, 0)
        withUnsafeMutablePointer(to: &words) { words in
            _ = words.withMemoryRebound(to: timespec.self, capacity: 1) { clock_gettime(clock, $0) }
        }
        return Int64(words.seconds) * 1_000_000_000 + Int64(words.nanoseconds)
    }
}
