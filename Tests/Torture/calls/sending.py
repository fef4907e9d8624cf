"""Senders: ferry upload with what can happen to it, ferry run, and the receiver at the other end."""

import os
import pathlib
import signal
import time

from common import machine, spools
from common.servers import KeyServer, free_port

from .scenario import Scenario, tears


class Sending(Scenario):
    """Puts segments into `spool`, sends them to a receiver, and wants each event there once."""

    arguments: list[str] = []
    hub_arguments: list[str] = []
    padding = 0
    # Segments that no receiver takes: they end in rejected/.
    damaged: set[str] = set()
    # How delivered segments end: kept, or deleted.
    keeps = True

    def prepare(self, place):
        os.makedirs(place("spool"))
        for index in range(8):
            data = spools.lines(range(index * 10, index * 10 + 10), self.padding)
            # Without notes they rest for as long as files with foreign names.
            spools.put(place("spool"), spools.segment_name(index, priority=index % 3 + 4), spools.member(data, self.age == 0 or index % 2 == 0))

    def wanted(self):
        return range(80)

    def command(self, place, url):
        return ["upload", "--spool", place("spool"), "--to", url, "--parallel", "1", *self.arguments]

    def server(self, place):
        return place.hub(more=self.hub_arguments)

    def arrived(self, place, server):
        hub = place.contents("hub")
        return hub.count(hub.pending)

    def play(self, place, environment, fault):
        before = place.contents("spool").pending
        server = self.server(place)
        try:
            self.send(place, environment, fault, server.url)
            place.drain(server.url, "spool", *self.arguments)
        finally:
            server.stop()
        self.look(place, fault, server, before)

    def send(self, place, environment, fault, url):
        result = self.disturb(place, environment, fault, *self.command(place, url))
        left = place.contents("spool")
        if result.status == 0 and (left.pending or left.journals):
            place.problem(f"status 0 with {len(left.pending)} pending segments and {len(left.journals)} journals: {result}")

    def look(self, place, fault, server, before):
        place.expect(self.arrived(place, server), self.wanted(), "at the receiver")
        spool = place.contents("spool")
        if spool.pending or spool.journals:
            place.problem(f"left pending: {sorted(spool.pending)[:2]} {sorted(spool.journals)[:2]}")
        if set(spool.rejected) - self.damaged:
            place.problem(f"rejected: {sorted(spool.rejected)[:2]}")
        place.expect_known(before, "spool")
        if not tears(fault):
            place.expect_whole_logs("spool")
            place.expect_whole_logs("hub")
        for sidecar in sorted(os.listdir(place("spool"))):
            if sidecar.endswith(".retry.json"):
                place.problem(f"a sidecar is left: {sidecar}")
        place.expect_sound("spool")
        place.expect_sound("hub")


class Upload(Sending):
    """Everything that can lie in a spool: segments, a journal whose writer died, a sidecar, a foreign file, a damaged one."""

    name = "upload"
    age = 6.0
    damaged = {spools.segment_name(90)}

    def prepare(self, place):
        super().prepare(place)
        name = spools.segment_name(3, priority=4)
        spools.put(place("spool"), f"{name}.retry.json", (
            b'{"attempts":1,"failures":1,"firstAttemptAt":"2026-11-01T03:15:02.123Z","lastAttemptAt":"2026-11-01T03:25:02.123Z","lastError":'
            b'{"kind":"status","message":"HTTP 500","scope":"segment","status":500},"nextAttemptAt":"2026-11-01T03:26:00.000Z","version":1}\n'))
        spools.put(place("spool"), "export.jsonl.gz", spools.member(spools.lines(range(80, 90)), with_note=False))
        journal = spools.segment_name(91).removesuffix(".jsonl.gz")
        spools.put(place("spool"), f".{journal}.open", spools.lines(range(90, 95)) + b'{"n":99')
        spools.put(place("spool"), spools.segment_name(90), spools.member(spools.lines(range(200, 220)))[:-9] + b"123456789")

    def wanted(self):
        return range(95)

    def look(self, place, fault, server, before):
        super().look(place, fault, server, before)
        name = spools.segment_name(90)
        if name not in place.contents("spool").rejected:
            place.problem("the damaged segment is not in rejected/")
        elif not os.path.exists(place("spool", "rejected", f"{name}.reason.json")):
            # On a full disk the ledger has the reason alone.
            lines = "".join(path.read_text() for path in pathlib.Path(place("spool", ".ferry")).glob("ledger-*.jsonl"))
            if fault != "full" or f'"segment":"{name}","outcome":"rejected"' not in lines:
                place.problem("the damaged segment has no reason")


class UploadSplit(Sending):
    """Segments that are too large for the receiver, one of them with a foreign name."""

    name = "upload-split"
    age = 6.0
    hub_arguments = ["--max-body", "3KB"]

    def prepare(self, place):
        for index in range(2):
            spools.put(place("spool"), spools.segment_name(index), spools.member(spools.lines(range(index * 30, index * 30 + 30), 300)))
        spools.put(place("spool"), "export.jsonl.gz", spools.member(spools.lines(range(60, 80), 300), with_note=False))


class UploadJoined(Sending):
    name = "upload-joined"
    arguments = ["--coalesce", "64KiB"]


class UploadParallel(Sending):
    """Three at once, deleted when delivered."""

    name = "upload-parallel"
    keeps = False

    def command(self, place, url):
        return ["upload", "--spool", place("spool"), "--to", url, "--parallel", "3", "--delete-sent"]


class UploadUnwell(Sending):
    """A server that refuses each segment once: sidecars and the destination's own state are written."""

    name = "upload-unwell"

    def server(self, place):
        seen = set()

        def answer(key, names, size):
            if key in seen:
                return None
            seen.add(key)
            return 503 if len(seen) % 2 else 500

        return KeyServer(answer)

    def send(self, place, environment, fault, url):
        for _ in range(2):
            result = self.disturb(place, environment, fault, *self.command(place, url), "--retry-now")
        left = place.contents("spool")
        if result.status == 0 and left.pending:
            place.problem(f"status 0 with {len(left.pending)} pending segments")

    def arrived(self, place, server):
        return server.events


class Run(Sending):
    """ferry run: when one call has failed once, it goes on by itself."""

    name = "run"

    def command(self, place, url):
        return ["run", "--spool", place("spool"), "--to", url, "--set", "back-off.intervals=50ms", "--set", "network.watch=false"]

    def send(self, place, environment, fault, url):
        process = machine.Process([place.ferry, *self.command(place, url)], environment)
        spool = place("spool")
        lasts = bool(fault) and (fault in ("dead", "full", "nfs") or fault.endswith("+") or fault.startswith("kill"))

        def empties(patience):
            return machine.eventually(
                lambda: not process.is_running or not any(map(spools.is_segment, os.listdir(spool))), patience)

        is_empty = empties(3)
        if not is_empty and not lasts:
            # What could not be opened waits for a minute, or for somebody to ask.
            process.send(signal.SIGUSR1)
            is_empty = empties(20)
        if is_empty and process.is_running:
            # One that appears while it runs.
            spools.put(place.root, "later", spools.member(spools.lines(range(80, 85))))
            os.rename(place("later"), place("spool", spools.segment_name(100)))
            is_empty = empties(3)
            if not is_empty and not lasts:
                process.send(signal.SIGUSR1)
                is_empty = empties(20)
        else:
            spools.put(place("spool"), spools.segment_name(100), spools.member(spools.lines(range(80, 85))))
        has_ended = not process.is_running
        if not lasts and not is_empty and not has_ended:
            place.problem(f"ferry run does not go on after one failed call: {len(place.contents('spool').pending)} pending")
        process.send(signal.SIGTERM)
        began = time.monotonic()
        result = place.note(process.end())
        place.judge_end(result, may_be_killed=bool(fault) and fault.startswith("kill"))
        # A start that fails says so and is repeated by whoever started it; what runs goes on.
        if not lasts and has_ended and not (result.status in (74, 78) and not place.contents("spool").sent):
            place.problem(f"ferry run ended after one failed call: {result}")
        if not result.hangs and time.monotonic() - began > 15:
            place.problem("SIGTERM took more than 15 s")

    def wanted(self):
        return range(85)


class Receive(Sending):
    """The receiver is disturbed, and started again."""

    name = "receive"
    gathering = ()

    def play(self, place, environment, fault):
        before = place.contents("spool").pending
        port = free_port()
        hub = place.hub(port=port, environment=environment, more=self.gathering)
        hub.wait()
        place.run(*self.command(place, f"http://127.0.0.1:{port}/v1/segments"))
        result = place.note(hub.stop())
        place.judge_end(result, may_be_killed=bool(fault) and fault.startswith("kill"))
        # What it answered 200 for it has: the source has moved it to sent/.
        answered = place.contents("spool")
        hub = place.hub(port=port)
        try:
            place.drain(hub.url)
        finally:
            hub.stop()
        self.look(place, fault, hub, before)
        stored = place.contents("hub")
        lost = answered.count(answered.sent) - stored.count(stored.pending)
        if lost:
            place.problem(f"lost {len(lost)} events that were answered with 200")
        hidden = [name for name in stored.hidden if name.endswith(".ferry-in")]
        if hidden:
            place.problem(f"hidden arrivals are left: {hidden[:2]}")

    def command(self, place, url):
        return ["upload", "--spool", place("spool"), "--to", url, "--parallel", "2", "--retry-now", "--timeout", "10s"]


class ReceiveJoined(Receive):
    name = "receive-joined"

    def command(self, place, url):
        return ["upload", "--spool", place("spool"), "--to", url, "--parallel", "1", "--coalesce", "64KiB", "--retry-now", "--timeout", "10s"]


class ReceiveGathered(ReceiveJoined):
    name = "receive-gathered"
    gathering = ("--gather", "4KiB", "--gather-after", "100ms")


SCENARIOS = [Upload(), UploadSplit(), UploadJoined(), UploadParallel(), UploadUnwell(), Run(), Receive(), ReceiveJoined(), ReceiveGathered()]
