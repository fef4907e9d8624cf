"""Which faults fit which call. KIND is what shim.c understands: an error once, `short`, `full` (half of a write, then no room for
anything), `dead` (every later call fails with EIO), `nfs` (locks want a writable descriptor), ERROR+ (every later call of that name),
`kill`, `killhalf` (half of a write, then a kill), `killafter`."""

DISK = ["EIO", "ENOSPC", "EDQUOT"]
KILLS = ["kill"]

FITTING = {
    "open": ["EIO", "EMFILE", "EACCES", "EINTR", "EMFILE+", "dead"],
    "create": DISK + ["EMFILE", "EACCES", "EINTR", "EROFS+", "full"] + KILLS,
    "close": ["EIO", "EINTR"],
    "stat": ["EIO", "EACCES", "ESTALE"],
    "access": ["EIO", "EACCES"],
    "statfs": ["EIO", "ENOSYS"],
    "opendir": ["EMFILE", "ENOMEM", "EIO"],
    "readdir": ["EIO"],
    "getxattr": ["EIO", "EOPNOTSUPP"],
    "setxattr": ["ENOSPC", "EIO", "EOPNOTSUPP"] + KILLS,
    "watch": ["ENOSPC", "EACCES"],
    "mmap": ["ENOMEM"],
    "mapwrite": ["ENOMEM"],
    "flock": ["ENOLCK", "EINTR", "EWOULDBLOCK", "EIO", "ENOLCK+", "nfs"],
    "read": ["EIO", "EINTR", "short", "dead"],
    "write": DISK + ["EINTR", "short", "full", "dead", "killhalf"] + KILLS,
    "sendfile": ["EIO", "EINTR", "short", "killhalf"],
    "sync": DISK + ["EINTR", "dead"] + KILLS,
    "syncfs": DISK + KILLS,
    "truncate": ["EIO", "EINTR", "EACCES"] + KILLS,
    "fallocate": ["ENOSPC", "EOPNOTSUPP"] + KILLS,
    "chmod": ["EIO", "EPERM"] + KILLS,
    "chown": ["EIO", "EPERM"] + KILLS,
    "utimes": ["EIO", "EPERM"] + KILLS,
    "mkdir": DISK + ["EACCES"] + KILLS,
    "rename": DISK + ["EACCES", "EINVAL+", "full", "dead"] + KILLS,
    "link": DISK + ["EACCES", "EPERM"] + KILLS,
    "unlink": ["EIO", "EACCES", "dead"] + KILLS,
    "net": ["kill", "killafter"],
}

# These mean the whole run, whichever call they are told of.
ONCE = {"nfs"}


def kills(kind):
    return kind.startswith("kill")


def cases(calls):
    """Every fault that fits a trace: (name, number, kind)."""
    counts = {}
    for call in calls:
        counts[call.name] = max(counts.get(call.name, 0), call.number)
    for name, count in sorted(counts.items()):
        for kind in FITTING.get(name, []):
            for number in range(1, (1 if kind in ONCE else count) + 1):
                yield name, number, kind
