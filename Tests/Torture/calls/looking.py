"""Commands that only look: status, list, cat, verify, upload --dry-run. They change nothing, whatever fails."""

import os

from common import spools

from .scenario import Scenario


class Look(Scenario):
    def __init__(self, name, *arguments):
        self.name = name
        self.arguments = arguments

    def prepare(self, place):
        for index in range(3):
            spools.put(place("spool"), spools.segment_name(index), spools.member(spools.lines(range(index * 10, index * 10 + 10), 50)))
        spools.put(place("spool", "sent", "2026-11-02"), spools.segment_name(20), spools.member(spools.lines(range(5))))
        spools.put(place("spool", "rejected"), spools.segment_name(21), b"no gzip")
        journal = spools.segment_name(22).removesuffix(".jsonl.gz")
        spools.put(place("spool"), f".{journal}.open", spools.lines(range(90, 95)) + b'{"n":99')
        spools.put(place("spool"), "events.json", b"{}\n")
        place.run("pause", "--spool", place("spool"))

    def play(self, place, environment, fault):
        before = tree(place("spool"))
        result = self.disturb(place, environment, fault, *self.arguments, "--spool", place("spool"))
        after = tree(place("spool"))
        changed = sorted(name for name in {**before, **after} if before.get(name) != after.get(name))
        if changed:
            place.problem(f"reading changed {changed[:3]}")
        if fault is None and result.status not in (0, 1, 65, 73, 75):
            place.problem(f"undisturbed: {result}")
        if self.name == "cat" and result.status == 0 and result.output.count('"n":') < 30:
            place.problem(f"status 0, but only {result.output.count(chr(34) + 'n' + chr(34) + ':')} of 30 events are told")


def tree(root):
    """Every name with what a change of it would change."""
    found = {}
    for base, folders, names in os.walk(root):
        for name in [*folders, *names, ""]:
            path = os.path.join(base, name) if name else base
            status = os.lstat(path)
            found[os.path.relpath(path, root)] = (status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns, status.st_ctime_ns)
    return found


SCENARIOS = [
    Look("status", "status"), Look("list", "list"), Look("cat", "cat"), Look("verify", "verify"),
    Look("dry-run", "upload", "--dry-run", "--to", "http://127.0.0.1:9/")]
