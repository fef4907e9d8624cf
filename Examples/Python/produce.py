"""Publishes the JSON lines of standard input as one segment, without a library: SPOOL=folder produce.py
When it ends with 0 the segment is on the disk, whole, and counts after a power cut; otherwise there is none."""
import datetime, gzip, os, secrets, sys
spool, now = os.environ["SPOOL"], datetime.datetime.now(datetime.timezone.utc)
stamp = now.strftime("%Y%m%dT%H%M%S.") + f"{now.microsecond // 1000:03d}Z"
id = "".join(secrets.choice("0123456789abcdefghijklmnopqrstuvwxyz") for _ in range(16))
name = f"5-{stamp}-{id}.jsonl.gz"
os.umask(0o007 if os.stat(spool).st_mode & 0o020 else 0o077)  # another user of the group may be the one who sends
with open(f"{spool}/.{name}.ferry-tmp", "xb") as file:
    file.write(gzip.compress(sys.stdin.buffer.read()))
    file.flush(); os.fsync(file.fileno())
os.rename(f"{spool}/.{name}.ferry-tmp", f"{spool}/{name}")
folder = os.open(spool, os.O_RDONLY)
os.fsync(folder); os.close(folder)
