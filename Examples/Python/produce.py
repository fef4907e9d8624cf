"""Publishes the JSON lines of standard input as one segment, without a library: SPOOL=folder produce.py"""
import datetime, gzip, os, secrets, sys
spool, now = os.environ["SPOOL"], datetime.datetime.now(datetime.timezone.utc)
stamp = now.strftime("%Y%m%dT%H%M%S.") + f"{now.microsecond // 1000:03d}Z"
id = "".join(secrets.choice("0123456789abcdefghijklmnopqrstuvwxyz") for _ in range(16))
name = f"5-{stamp}-{id}.jsonl.gz"
with open(f"{spool}/.{name}.tmp", "xb") as file:
    file.write(gzip.compress(sys.stdin.buffer.read()))
    file.flush(); os.fsync(file.fileno())
os.rename(f"{spool}/.{name}.tmp", f"{spool}/{name}")
os.fsync(os.open(spool, os.O_RDONLY))
