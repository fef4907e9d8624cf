import FerrySpool
import Glibc

/// A call of the kernel that failed while a segment was put into a folder.
struct FileFailure {
    /// What was tried.
    enum Step: CaseIterable, Sendable {
        /// To open the folder that must be there.
        case base
        /// To open or make a folder below it.
        case folder
        /// To look whether something has the segment's name.
        case look
        /// To read what has it.
        case compare
        case create
        case write
        case force
        /// To give a file that is complete its name.
        case name
        /// To read the segment.
        case source
    }

    /// What else would fail with it.
    enum Reach: Sendable {
        /// All segments: the folder is the one for all of them.
        case all
        /// Segments have folders of their own below the one that must be there.
        case folder(isBaseOpen: Bool)
    }

    let step: Step
    let error: FileError
    var reach = Reach.all

    /// What it means, by its number (errno(3)) and by what was tried.
    ///
    /// | number | means |
    /// |---|---|
    /// | `EROFS`, `EACCES`, `EPERM` | who may do what: misconfigured, unless it is about one file, or one of several folders |
    /// | `ENOSPC`, `EDQUOT` | no room: the folder waits |
    /// | `EFBIG` | the largest file (FAT: 4 GiB): split |
    /// | `ENAMETOOLONG`, `EINVAL`, `EILSEQ` of a name, `ELOOP`, `ENOTDIR` below the base | this segment's name, or all: another one tells |
    /// | any of the base | not mounted, not answering: the folder waits |
    /// | those of disks, links and servers | the folder waits |
    /// | all others | another segment tells |
    var verdict: Verdict {
        switch (error.code, step) {
        case (_, .source): Verdict(.fileChanged)
        case (EACCES, .compare), (EPERM, .compare):
            .doubtful(reason("; a file of that name is there: to compare it, it must be readable"))
        case (EROFS, _), (EACCES, _), (EPERM, _): denied
        case (ENOSPC, _), (EDQUOT, _): .unavailable(reason(kind: "full"), retryAfter: nil)
        case (ENOENT, .base), (ENOTDIR, .base):
            .unavailable(
                Verdict.Reason(
                    kind: "connect",
                    message:
                        "cannot \(error.operation) \(error.path): \(error.reason); Ferry never makes it: mount it, or make it"),
                retryAfter: nil)
        case (_, .base): .unavailable(reason(kind: "connect"), retryAfter: nil)
        case (EFBIG, _): .tooLarge(reason())
        case (ELOOP, .folder), (ENOTDIR, .folder): .doubtful(reason("; a link or a file lies where a folder belongs"))
        case let (code, _) where Self.ofDestination.contains(code): .unavailable(reason(), retryAfter: nil)
        default: .doubtful(reason())
        }
    }

    /// What it means that something may not be written.
    private var denied: Verdict {
        switch (step, reach) {
        case (.base, _), (_, .all): .misconfigured(reason())
        case (_, .folder(isBaseOpen: true)): .circling(reason("; segments that belong into other folders go on"))
        // Those folders may be there, and be open.
        case (_, .folder(isBaseOpen: false)): .doubtful(reason())
        }
    }

    /// What a disk, its link or its server fails with, or this machine: it is so for any segment.
    private static let ofDestination: Set<Int32> = [
        ENOENT, ESTALE, EIO, ENODEV, ENXIO, ENOMEDIUM, EREMOTEIO, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH,
        ENOTCONN, ECONNREFUSED, ECONNRESET, ECONNABORTED, ESHUTDOWN, ENOLINK, ECOMM, ENOMEM, EBUSY, EAGAIN,
    ]

    private func reason(_ hint: String = "", kind: String = "file") -> Verdict.Reason {
        Verdict.Reason(kind: kind, message: "\(error)\(hint)")
    }
}

extension Verdict {
    static func notMounted(_ folder: String) -> Verdict {
        .unavailable(Reason(kind: "connect", message: "nothing is mounted on \(folder)"), retryAfter: nil)
    }

    static func inSpool(_ folder: String) -> Verdict {
        .misconfigured(
            Reason(kind: "file", message: "\(folder) lies in the spool, which would send what arrives there; name another folder")
        )
    }

    static func noName(_ target: String) -> Verdict {
        .misconfigured(
            Reason(kind: "file", message: "\(target) is no path; give this machine a name without '/'"))
    }

    static func hangs(_ folder: String) -> Verdict {
        .unavailable(Reason(kind: "connect", message: "\(folder) does not answer; see to its server or disk"), retryAfter: nil)
    }

    /// Something else has the segment's name.
    static func isTaken(_ path: String, _ what: String) -> Verdict {
        .refused(
            Reason(
                kind: "exists",
                message:
                    "another file has that name: \(path): \(what); move one of the two, or let {machine} or {key} tell them apart in the path"
            ), body: "")
    }

    static func wasTaken(_ path: String) -> Verdict {
        .doubtful(Reason(kind: "file", message: "a file of that name was there, and is gone: \(path)"))
    }
}
