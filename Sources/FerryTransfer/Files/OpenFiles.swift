import FerrySpool
import Glibc

/// How many files an import, or a receipt, has open at once.
enum OpenFiles {
    private static let wanted: rlim_t = 8192

    /// Raises the process's limit as far as it is allowed and useful.
    ///
    /// - Returns: How many arrivals may be open. What else the process has open needs files as well.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        if limit.rlim_cur < wanted {
            let allowed = limit.rlim_cur
            limit.rlim_cur = min(limit.rlim_max, wanted)
            if setrlimit(resource, &limit) != 0 { limit.rlim_cur = allowed }
        }
        return max(8, min(Int(clamping: limit.rlim_cur) / 4, 2048))
    }
}
