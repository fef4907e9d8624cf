"""Writers: ferry write from a file, from a pipe, under a size limit; a tracker."""

import os
import re
import subprocess

from common import machine, spools

from .scenario import Scenario

TOTAL = 3000


def safe_line(result):
    """Up to which line the input is safe, as the command says; None when it does not say."""
    for pattern, less in ((r"tail -n \+(\d+)", 1), (r"safe up to (?:and including )?line (\d+)", 0), (r"[Tt]he (\d+) events before it are published", 0),
                          (r"What comes before it is published: (\d+) event", 0)):
        found = re.search(pattern, result.errors)
        if found:
            return int(found.group(1)) - less
    if re.search(r"All \d+ events are stored, to line \d+", result.errors) or "the events are in the spool" in result.errors:
        return TOTAL
    if re.search(r"nothing (was|is) (stored|written|taken)", result.errors):
        return 0
    return None


class WriteFile(Scenario):
    name = "write"

    def prepare(self, place):
        os.mkdir(place("spool"))
        spools.put(place.root, "in.jsonl", spools.lines(range(1, TOTAL + 1), padding=40))

    def input(self, place):
        return [place("in.jsonl")], None

    def play(self, place, environment, fault):
        files, data = self.input(place)
        result = self.disturb(place, environment, fault, "write", "--create", "--spool", place("spool"), "--roll-events", "400", *files, data=data)
        rest = 0
        if result.status == 0:
            # Before anything else runs: what is said to be written is published.
            place.expect(place.contents("spool").count(place.contents("spool").pending), range(1, TOTAL + 1), "in what write published with status 0")
            rest = TOTAL
        elif result.status and result.status > 0:
            rest = safe_line(result)
        # The next writer finishes what this one left.
        place.undisturbed("write", "--create", "--spool", place("spool"), data=b"")
        found = place.contents("spool").count(place.contents("spool").pending)
        if result.status is not None and result.status < 0:
            # Killed: the lines that are there are the first ones, each once.
            rest = len(found)
        elif rest is None:
            if found:
                place.problem(f"failed without saying up to which line its input is safe, {len(found)} are stored: {result}")
            rest = len(found)
        place.expect(found, range(1, rest + 1), f"of the {rest} lines that are said to be safe")
        data = b"".join(spools.read(place("in.jsonl")).splitlines(keepends=True)[rest:])
        place.undisturbed("write", "--create", "--spool", place("spool"), data=data)
        after = place.contents("spool")
        place.expect(after.count(after.pending), range(1, TOTAL + 1), "after going on behind the last safe line")
        if after.journals:
            place.problem(f"journals are left: {sorted(after.journals)[:2]}")
        place.expect_sound("spool")


class WritePipe(WriteFile):
    name = "write-pipe"

    def input(self, place):
        return [], spools.read(place("in.jsonl"))


class WriteLimit(Scenario):
    """Room is made by dropping older segments."""

    name = "write-limit"

    def prepare(self, place):
        for index in range(8):
            spools.put(place("spool"), spools.segment_name(index, priority=9), spools.member(spools.lines(range(index * 10, index * 10 + 10), 100)))

    def play(self, place, environment, fault):
        before = place.contents("spool").pending
        data = spools.lines(range(1000, 1040), 100)
        result = self.disturb(
            place, environment, fault, "write", "--create", "--spool", place("spool"), "--roll-events", "10", "--max-spool-bytes", "7KB", data=data)
        place.undisturbed("write", "--create", "--spool", place("spool"), data=b"")
        place.expect_known(before, "spool")
        now = place.contents("spool")
        written = {number: count for number, count in now.count(now.pending).items() if number >= 1000}
        if result.status == 0:
            outcomes = spools.ledger(place("spool"))
            dropped = sum(10 for name, outcome in outcomes.items() if outcome & {"evicted"} and name not in before)
            if len(written) + dropped < 40:
                place.problem(f"status 0, but only {len(written)} of 40 events are stored and {dropped} dropped")
        if any(count > 1 for count in written.values()):
            place.problem("doubled events")
        if not fault or not fault.startswith("kill"):
            place.expect_whole_logs("spool")


class Tracker(Scenario):
    """A program with Ferry's library: what track() returned for survives."""

    name = "tracker"

    def can_run(self, options):
        return bool(options.tracker_host) and os.access(options.tracker_host, os.X_OK)

    def prepare(self, place):
        os.mkdir(place("spool"))

    EVENT = re.compile(r'"event":(\d+)')

    def play(self, place, environment, fault):
        result = place.note(machine.run([place.tracker_host, "count", place("spool"), "120", "1"], environment))
        kills = bool(fault) and fault.startswith("kill")
        if not result.hangs and result.status < 0 and not (kills and result.status == -9):
            # An uncaught error of the constructor ends this host by a trap; it is the host's, and says so.
            if "Error raised at top level" not in result.errors and "Fatal error: Error" not in result.errors:
                place.problem(f"crash: {result}")
        told = {int(line.split()[2]) for line in result.output.splitlines() if re.fullmatch(r"\d+ \d+ \d+", line)}
        place.undisturbed("write", "--create", "--spool", place("spool"), data=b"")
        texts = [
            spools.inflate(spools.read(place("spool", name)))[0].decode() for name in place.contents("spool").pending]
        stored = [int(found) for text in texts for found in self.EVENT.findall(text)]
        lost = told - set(stored)
        if lost:
            place.problem(f"lost {len(lost)} of {len(told)} events for which track returned: {sorted(lost)[:8]}")
        if len(stored) != len(set(stored)):
            place.problem(f"doubled {len(stored) - len(set(stored))} events")
        if result.status == 0 and len(told) == 120 and place.contents("spool").journals:
            place.problem("journals are left after close")


SCENARIOS = [WriteFile(), WritePipe(), WriteLimit(), Tracker()]
