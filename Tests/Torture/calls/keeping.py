"""What people tell a spool: ferry retry, prune, pause, resume, init."""

import json
import os

from common import machine, spools

from .scenario import Scenario, tears


class Retry(Scenario):
    """Rejected segments come back, and are sent."""

    name = "retry"
    arguments: list[str] = []

    def prepare(self, place):
        os.makedirs(place("spool"))
        for index in range(4):
            name = spools.segment_name(index)
            spools.put(place("spool", "rejected"), name, self.content(range(index * 10, index * 10 + 10)))
            spools.put(place("spool", "rejected"), f"{name}.reason.json", json.dumps(
                {"version": 1, "at": "2026-11-01T03:15:02.123Z", "kind": "status", "status": 400, "message": "HTTP 400", "attempts": 1}).encode())

    def content(self, numbers):
        return spools.member(spools.lines(numbers, 100))

    def wanted(self):
        return range(40)

    def play(self, place, environment, fault):
        command = ["retry", "--all", "--spool", place("spool"), *self.arguments]
        result = self.disturb(place, environment, fault, *command)
        if result.status == 0:
            now = place.contents("spool")
            place.expect(now.count(now.pending), self.wanted(), "pending after a retry with status 0")
        # 65: there is nothing any more.
        place.undisturbed(*command, accepted=(0, 65))
        hub = place.hub()
        try:
            place.drain(hub.url)
            # Again: what is saved is saved.
            place.run(*command)
            place.drain(hub.url)
        finally:
            hub.stop()
        stored = place.contents("hub")
        place.expect(stored.count(stored.pending), self.wanted(), "at the receiver")
        if not tears(fault):
            place.expect_whole_logs("spool")
        place.expect_sound("spool")


class Salvage(Retry):
    """What comes before the damage, once, however often it is asked for."""

    name = "salvage"
    arguments = ["--salvage"]

    def content(self, numbers):
        # The trailer is cut off: all lines can be read.
        return spools.member(spools.lines(numbers, 100))[:-8]


class Prune(Scenario):
    """Limits on what is pending and on what was sent."""

    name = "prune"

    def prepare(self, place):
        for index in range(12):
            spools.put(place("spool"), spools.segment_name(index, priority=9 - index % 2), spools.member(spools.lines(range(index * 10, index * 10 + 10), 100)))
        for day in ("2026-10-01", "2026-10-02"):
            for index in range(3):
                spools.put(place("spool", "sent", day), spools.segment_name(50 + index), spools.member(spools.lines([index])))
        spools.settle_clock(place("spool"))

    def play(self, place, environment, fault):
        before = place.contents("spool").pending
        command = ["prune", "--spool", place("spool"), "--max-spool-bytes", "6KB", "--max-sent-age", "1d"]
        result = self.disturb(place, environment, fault, *command)
        place.expect_known(before, "spool")
        # A last look at the clock that cannot be read counts as none, which is told.
        if result.status == 0 and place.contents("spool").sent and "nothing goes by age" not in result.errors:
            place.problem("status 0, and sent/ has segments of old days")
        place.undisturbed(*command)
        place.expect_known(before, "spool")
        now = place.contents("spool")
        size = sum(os.path.getsize(place("spool", name)) for name in now.pending)
        if size > 6000:
            place.problem(f"{size} bytes are left, 6000 allowed")
        if size < 4500:
            place.problem(f"more was dropped than needed: {size} bytes are left, 6000 allowed")
        for name, outcomes in spools.ledger(place("spool")).items():
            if name in now.pending and not tears(fault) and fault not in ("EIO", "EACCES", "full"):
                place.problem(f"the ledger says {outcomes} of a pending segment")
        if not tears(fault):
            place.expect_whole_logs("spool")
        place.expect_sound("spool")


class Pause(Scenario):
    """What a person said holds, or the command says that it does not."""

    name = "pause"

    def prepare(self, place):
        spools.put(place("spool"), spools.segment_name(1), spools.member(spools.lines(range(10))))

    def play(self, place, environment, fault):
        paused = self.disturb(place, environment, fault, "pause", "--spool", place("spool"))
        hub = place.hub()
        try:
            place.run("upload", "--spool", place("spool"), "--to", hub.url, "--retry-now")
            if paused.status == 0 and not place.contents("spool").pending:
                place.problem("a spool that was paused with status 0 sends")
            place.undisturbed("pause", "--spool", place("spool"))
            resumed = self.disturb(place, environment, fault, "resume", "--spool", place("spool"))
            if resumed.status == 0 and place.contents("spool").pending:
                place.drain(hub.url)
                if place.contents("spool").pending:
                    place.problem("a spool that was resumed with status 0 sends nothing")
            place.undisturbed("resume", "--spool", place("spool"))
            place.drain(hub.url)
        finally:
            hub.stop()
        stored = place.contents("hub")
        place.expect(stored.count(stored.pending), range(10), "at the receiver")
        place.expect_sound("spool")


class Init(Scenario):
    name = "init"

    def can_run(self, options):
        return "USAGE: ferry init" in machine.run([options.ferry, "init", "--help"]).output

    def play(self, place, environment, fault):
        result = self.disturb(place, environment, fault, "init", place("spool"))
        if result.status == 0 and not os.path.isdir(place("spool")):
            place.problem("status 0, and there is no spool")
        place.undisturbed("init", place("spool"))
        place.undisturbed("write", "--create", "--spool", place("spool"), data=spools.lines(range(10)))
        place.expect(place.contents("spool").stored, range(10), "in the new spool")


SCENARIOS = [Retry(), Salvage(), Prune(), Pause(), Init()]
