"""Publishes what a program records, event by event, without a library: SPOOL=folder roll.py

What event() was called with survives the death of the program, but not a power cut, until roll() returns; then it survives both. An open journal
becomes a segment after the program's death by the next ferry upload, run or write. For one thread.
"""
import datetime, errno, fcntl, gzip, json, os, secrets, sys, time

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


class Spool:
    def __init__(self, path, events=1000, seconds=60):
        self.path, self.events, self.seconds, self.journal, self.again = path, events, seconds, None, 0

    def event(self, value):
        """Stores an event. A program that records seldom calls due() as well."""
        # NaN and Infinity are no JSON, though json.dumps writes them unless it is told not to.
        line = json.dumps(value, allow_nan=False, separators=(",", ":")) + "\n"
        if self.journal is None:
            self.open()
        # One write of whole lines: a part of one at the end is cut off by the program that seals the journal.
        bytes, size = line.encode(), os.fstat(self.journal).st_size
        if os.write(self.journal, bytes) < len(bytes):
            os.ftruncate(self.journal, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.count += 1
        self.due()

    def open(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        stamp = now.strftime("%Y%m%dT%H%M%S.") + f"{now.microsecond // 1000:03d}Z"
        while self.journal is None:
            self.name = f"5-{stamp}-" + "".join(secrets.choice(ALPHABET) for _ in range(16))
            path = f"{self.path}/.{self.name}.open"
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                # Another program may have taken it for one that was left behind, before it was locked.
                if os.path.samestat(os.fstat(file), os.stat(path)):
                    self.journal = file
            except FileNotFoundError:
                pass
            if self.journal is None:
                os.close(file)
        self.count, self.ends = 0, time.monotonic() + self.seconds

    def due(self):
        """Publishes what is there if it is enough or old enough."""
        now = time.monotonic()
        if self.journal is not None and (self.count >= self.events or now >= self.ends) and now >= self.again:
            try:
                self.roll()
            except OSError:
                # It is in the journal. On a full disk there may be room later.
                self.again = now + 1

    def roll(self):
        """Publishes what is there."""
        if self.journal is None:
            return
        path, hidden, segment = (f"{self.path}/{name}" for name in (f".{self.name}.open", f".{self.name}.ferry-tmp", f"{self.name}.jsonl.gz"))
        try:
            with open(path, "rb") as lines, open(hidden, "xb", opener=private) as file:
                file.write(gzip.compress(lines.read()))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            os.remove(hidden)
            raise
        os.rename(hidden, segment)
        sync(self.path)
        # In this order: a segment is not sent while its journal is there.
        os.remove(path)
        os.close(self.journal)
        self.journal = None


def private(path, flags):
    return os.open(path, flags, 0o600)


def sync(folder):
    file = os.open(folder, os.O_RDONLY)
    os.fsync(file)
    os.close(file)


if __name__ == "__main__":
    spool = Spool(os.environ["SPOOL"])
    for line in sys.stdin:
        spool.event({"text": line.rstrip("\n")})
    spool.roll()
