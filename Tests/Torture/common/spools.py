"""Makes segments as spool/README.md tells, and reads what is in a spool without Ferry's help."""

import collections
import gzip
import hashlib
import json
import os
import re
import struct
import time
import zlib

EVENT = re.compile(rb'[{,]"n":(\d+)[,}]')


def line(number, padding=0):
    """One event. Padding is noise that does not compress away."""
    if not padding:
        return b'{"n":%d}\n' % number
    noise = b""
    while len(noise) < padding:
        noise += hashlib.sha256(b"%d %d" % (number, len(noise))).hexdigest().encode()
    return b'{"n":%d,"x":"%s"}\n' % (number, noise[:padding])


def lines(numbers, padding=0):
    return b"".join(line(number, padding) for number in numbers)


def member(data, with_note=True):
    """One gzip member, with Ferry's note about what it holds, or as other tools write it."""
    if not with_note:
        return gzip.compress(data, 6, mtime=0)
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = deflate.compress(data) + deflate.flush()
    extra = b"FY" + struct.pack("<H", 25)
    size = 10 + 2 + len(extra) + 25 + len(body) + 8
    extra += struct.pack("<BQQQ", 1, data.count(b"\n"), len(data), size)
    header = b"\x1f\x8b\x08\x04\0\0\0\0\0\x03" + struct.pack("<H", len(extra)) + extra
    return header + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def segment_name(index, priority=5, stream=None, suffix=""):
    stamp = f"20261101T{index // 3600 % 24:02}{index // 60 % 60:02}{index % 60:02}.000Z"
    identity = hashlib.sha256(b"%d" % index).hexdigest()[:16] + suffix
    return f"{priority}-{stamp}-{identity}{'.' + stream if stream else ''}.jsonl.gz"


def put(spool, name, data):
    os.makedirs(spool, exist_ok=True)
    path = os.path.join(spool, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def is_segment(name):
    return not name.startswith(".") and name.endswith((".jsonl.gz", ".ndjson.gz", ".json.gz"))


def inflate(data):
    """What a gzip file holds, as far as it can be read, and whether it is whole."""
    out = []
    rest = data
    try:
        while rest:
            inflater = zlib.decompressobj(31)
            out.append(inflater.decompress(rest))
            if not inflater.eof:
                return b"".join(out), False
            rest = inflater.unused_data
    except zlib.error:
        return b"".join(out), False
    return b"".join(out), bool(data)


def numbers(data):
    return [int(found) for found in EVENT.findall(data)]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def settle_clock(spool):
    """Has a spool trust this machine's clock, as after an hour of looks: what is over an age limit goes at once."""
    os.makedirs(os.path.join(spool, ".ferry"), exist_ok=True)
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().strip()
    clock = {
        "bootID": boot, "sinceBoot": time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000,
        "wall": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
    }
    with open(os.path.join(spool, ".ferry", "clock.json"), "w") as file:
        json.dump(clock, file)


class Contents:
    """What lies in one spool, counted by event numbers."""

    def __init__(self, spool):
        self.spool = spool
        # name: the numbers of its events
        self.pending, self.sent, self.rejected = {}, {}, {}
        self.damaged = set()
        self.journals = {}
        self.hidden = []
        if not os.path.isdir(spool):
            return
        for name in sorted(os.listdir(spool)):
            path = os.path.join(spool, name)
            if is_segment(name) and os.path.isfile(path):
                self._take(self.pending, name, path)
            elif name.startswith(".") and os.path.isfile(path) and name != ".rsync-filter":
                self.hidden.append(name)
                # An empty journal that was just made is left to its writer for a minute.
                if name.endswith(".open") and os.path.getsize(path) > 0:
                    self.journals[name] = numbers(read(path))
        for base, _, names in os.walk(os.path.join(spool, "sent")):
            for name in sorted(names):
                if ".jsonl.gz" in name or is_segment(name):
                    self._take(self.sent, name, os.path.join(base, name))
        rejected = os.path.join(spool, "rejected")
        for name in sorted(os.listdir(rejected)) if os.path.isdir(rejected) else []:
            if not name.startswith(".") and not name.endswith(".reason.json"):
                self._take(self.rejected, name, os.path.join(rejected, name))

    def _take(self, into, name, path):
        data, is_whole = inflate(read(path))
        # Two of one name can lie in folders of two days.
        into[name if name not in into else f"{name}@{path}"] = numbers(data)
        if not is_whole:
            self.damaged.add(name)

    @staticmethod
    def count(*parts):
        return collections.Counter(number for part in parts for found in part.values() for number in found)

    @property
    def stored(self):
        """What a reader would find: published and not refused."""
        return self.count(self.pending, self.sent)


def log_lines(spool, prefix):
    """The lines of the ledger or of the receiver's log, and what is no JSON among them."""
    state = os.path.join(spool, ".ferry")
    entries, torn = [], []
    for name in sorted(os.listdir(state)) if os.path.isdir(state) else []:
        if not (name.startswith(prefix + "-") and name.endswith(".jsonl")):
            continue
        for text in read(os.path.join(state, name)).split(b"\n"):
            if not text:
                continue
            try:
                entries.append(json.loads(text))
            except ValueError:
                torn.append(text)
    return entries, torn


def ledger(spool):
    """What became of each segment: name, then the set of its outcomes."""
    found = collections.defaultdict(set)
    for entry in log_lines(spool, "ledger")[0]:
        if isinstance(entry, dict):
            found[entry.get("segment")].add(entry.get("outcome"))
    return found
