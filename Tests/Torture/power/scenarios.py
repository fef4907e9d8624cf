"""What is done while the power fails, and what must be true when it is back."""

import os
import re
import signal

from calls import carrying, keeping, replaying, sending, writing
from common import machine, spools
from common.servers import KeyServer, free_port


class Power:
    name = ""
    # How old a state must be before it is gone on with: files with foreign names rest for 5 s.
    age = 0.0

    def can_run(self, options):
        return True

    def prepare(self, place):
        """Fills the folder."""

    def act(self, place, environment):
        """Does the work, traced. Returns what `look` needs to know of the rest of the world."""

    def told(self, calls, text):
        """Whether the command had said something when the power failed."""
        return any(call.name == "net" and text in call.data for call in calls)

    def look(self, place, calls, world):
        """Goes on from what is left, and notes problems. `calls` are those before the cut."""


class Write(Power):
    name = "write"
    total = 900

    def prepare(self, place):
        os.mkdir(place("spool"))

    def act(self, place, environment):
        data = spools.lines(range(self.total), 60)
        place.note(machine.run([place.ferry, "write", "--create", "--spool", place("spool"), "--roll-events", "300"], environment, data))

    def look(self, place, calls, world):
        # Cut off before anything was in the folder, it is no spool yet.
        place.undisturbed("write", "--create", "--spool", place("spool"), data=b"")
        server = KeyServer()
        try:
            place.drain(server.url, accepted=(0,))
        finally:
            server.stop()
        spool = place.contents("spool")
        if spool.rejected or spool.pending or spool.journals:
            place.problem(f"left: rejected {list(spool.rejected)[:2]}, pending {list(spool.pending)[:2]}, journals {list(spool.journals)[:2]}")
        if self.told(calls, b"wrote "):
            place.expect(server.events, range(self.total), "events that write had said to be written")
        elif any(count > 1 or number >= self.total for number, count in server.events.items()):
            place.problem("events came twice")


class Tracker(Power):
    name = "tracker"

    def can_run(self, options):
        return bool(options.tracker_host)

    def prepare(self, place):
        os.mkdir(place("spool"))

    def act(self, place, environment):
        result = place.note(machine.run([place.tracker_host, "count", place("spool"), "60", "1"], environment))
        if result.status != 0:
            place.problem(f"undisturbed: {result}")

    def look(self, place, calls, world):
        place.undisturbed("write", "--create", "--spool", place("spool"), data=b"")
        stored = []
        contents = place.contents("spool")
        for name in contents.pending:
            stored += [int(found) for found in writing.Tracker.EVENT.findall(spools.inflate(spools.read(place("spool", name)))[0].decode())]
        if contents.damaged:
            place.problem(f"published and damaged: {sorted(contents.damaged)[:2]}")
        if len(stored) != len(set(stored)):
            place.problem("events are stored twice")
        if any(call.name == "the end" for call in calls) and set(stored) != set(range(60)):
            place.problem(f"{60 - len(set(stored))} events are lost after close")


class Upload(Power):
    """What a sender remembers, with everything that can lie in a spool."""

    source = sending.Upload()
    name = "upload"
    age = 6.0
    limit = None

    def prepare(self, place):
        self.source.prepare(place)

    def answer(self):
        if self.limit is None:
            return None
        return lambda key, names, size: 413 if size > self.limit else None

    def act(self, place, environment):
        before = place.contents("spool").pending
        server = KeyServer(self.answer())
        try:
            self.send(place, server.url, environment)
        finally:
            server.stop()
        place.expect(server.events, self.source.wanted(), "at the receiver")
        return server.taken, before

    def send(self, place, url, environment):
        place.run(*self.source.command(place, url), "--retry-now", environment=environment)

    def look(self, place, calls, world):
        taken, before = world
        # What the receiver had when the power failed.
        known = {key: value for key, value in taken.items() if value[2] <= calls[-1].time}
        self.look_at_rest(place, before, known)
        server = KeyServer(self.answer(), known)
        try:
            place.drain(server.url, "spool", *self.source.arguments)
        finally:
            server.stop()
        place.expect(server.events, self.source.wanted(), "at the receiver")
        if server.conflicts:
            place.problem(f"a key came with other bytes: {server.conflicts[:2]}")
        spool = place.contents("spool")
        if spool.pending or spool.journals or set(spool.rejected) - self.source.damaged:
            place.problem(f"left: pending {list(spool.pending)[:2]}, journals {list(spool.journals)[:2]}, rejected {list(spool.rejected)[:2]}")
        place.expect_known(before, "spool")
        place.expect_sound("spool")

    def look_at_rest(self, place, before, known):
        """Before anything goes on: what is not pending any more has arrived, is kept, and has its line in the ledger."""
        now = place.contents("spool")
        ledger = spools.ledger(place("spool"))
        arrived = set(spools.Contents.count({key: numbers for key, (_, numbers, _) in known.items()}))
        for name, numbers in before.items():
            if name in now.pending or name in self.source.damaged:
                continue
            if not ledger.get(name):
                place.problem(f"not pending, and without a line in the ledger: {name}")
            halves = [half for half in [*now.pending, *now.sent] if half.startswith(name[:30])]
            if name not in now.sent and not halves and self.source.keeps and not {"split", "renamed"} & ledger.get(name, set()):
                place.problem(f"neither pending nor in sent/: {name}")
            stored = set(numbers) & set(now.count(now.pending, now.sent))
            if set(numbers) - arrived - stored:
                place.problem(f"lost: {name} is not pending, and has not arrived")


class UploadSplit(Upload):
    name = "upload-split"
    source = sending.UploadSplit()
    limit = 3000


class UploadJoined(Upload):
    name = "upload-joined"
    source = sending.UploadJoined()
    age = 0.0


class UploadDeleting(Upload):
    name = "upload-deleting"
    source = sending.UploadParallel()
    age = 0.0


class UploadUnwell(Upload):
    """Sidecars and the destination's state."""

    name = "upload-unwell"
    source = sending.UploadUnwell()
    age = 0.0

    def answer(self):
        seen = set()

        def answer(key, names, size):
            if key in seen:
                return None
            seen.add(key)
            return 503 if len(seen) % 2 else 500

        return answer

    def send(self, place, url, environment):
        # One process, so that there is one log: the first half fails, the second is sent.
        run = machine.Process([place.ferry, *sending.Run().command(place, url)], environment)
        machine.eventually(lambda: not any(map(spools.is_segment, os.listdir(place("spool")))), 60)
        run.send(signal.SIGTERM)
        place.note(run.end())


class Receive(Power):
    """What a receiver answered 200 for is there."""

    name = "receive"
    source = sending.Receive()
    gathering = ()

    def prepare(self, place):
        for index in range(6):
            spools.put(place("spool"), spools.segment_name(index), spools.member(spools.lines(range(index * 10, index * 10 + 10), 100)))
        os.mkdir(place("hub"))

    arguments = ["--parallel", "1"]

    def act(self, place, environment):
        names = sorted(place.contents("spool").pending)
        hub = place.hub(port=free_port(), environment=environment, more=self.gathering)
        hub.wait()
        place.run("upload", "--spool", place("spool"), "--to", hub.url, *self.arguments)
        place.note(hub.stop())
        stored = place.contents("hub")
        place.expect(stored.count(stored.pending), range(60), "at the receiver")
        return names

    def answered(self, calls, names):
        return names[:sum(call.data.count(b"HTTP/1.1 200") for call in calls if call.name == "net")]

    def look(self, place, calls, names):
        answered = set(self.answered(calls, names))
        # The sender is another machine: it sends what was not answered; some answers did not reach it.
        for index, name in enumerate(names):
            if name not in answered or (len(calls) + index) % 3 == 0:
                spools.put(place("again"), name, spools.member(spools.lines(range(index * 10, index * 10 + 10), 100)))
        os.makedirs(place("again"), exist_ok=True)
        hub = place.hub()
        try:
            place.drain(hub.url, "again", accepted=(0,))
        finally:
            hub.stop()
        stored = place.contents("hub")
        place.expect(stored.count(stored.pending), range(60), "at the receiver")
        hidden = [name for name in stored.hidden if name.endswith(".ferry-in")]
        if hidden:
            place.problem(f"hidden arrivals are left: {hidden[:2]}")
        place.expect_sound("hub")


class ReceiveJoined(Receive):
    """One request with all of them."""

    name = "receive-joined"
    arguments = ["--parallel", "1", "--coalesce", "64KiB"]

    def answered(self, calls, names):
        return names if any(call.name == "net" and b"HTTP/1.1 200" in call.data for call in calls) else []


class ReceiveGathered(Receive):
    """Small segments become a part of larger ones."""

    name = "receive-gathered"
    gathering = ("--gather", "4KiB", "--gather-after", "50ms")


class Carrying(Power):
    """A bundle on its way; the power of one machine fails, the stick in it."""

    step = "export"
    scenario = carrying.Export()

    def prepare(self, place):
        self.scenario.prepare(place)

    def act(self, place, environment):
        before = place.contents("spool").pending
        result = place.run(*self.command(place), environment=environment)
        if result.status != 0:
            place.problem(f"undisturbed: {result}")
        return before

    def look(self, place, calls, before):
        if self.told(calls, b"exported ") and not self.scenario.bundles(place):
            place.problem("export had said that it was done, and there is no bundle")
        self.scenario.finish(place, "kill", before)  # As after a kill: a line may be torn.


class Export(Carrying):
    name = "export"

    def command(self, place):
        return self.scenario.export_arguments(place)


class ExportTar(Export):
    name = "export-tar"
    scenario = carrying.ExportTar()


class Import(Carrying):
    name = "import"
    scenario = carrying.Import()

    def command(self, place):
        return self.scenario.import_arguments(place)

    def act(self, place, environment):
        # The source has marks, and all of its segments.
        super().act(place, environment)
        return place.contents("spool").pending

    def look(self, place, calls, before):
        receipts = self.scenario.receipts(place)
        if self.told(calls, b"took ") and not receipts:
            place.problem("import had said that it was done, and there is no receipt")
        if receipts:
            # 65: a receipt that is cut off. The bundle is still there then.
            place.run(*self.scenario.acknowledge_arguments(place))
            place.run("write", "--create", "--spool", place("hub"), data=b"")
            stored, spool = place.contents("hub"), place.contents("spool")
            lost = spool.count(spool.sent) - stored.count(stored.pending)
            if lost:
                place.problem(f"lost {len(lost)} events that a receipt vouched for")
        self.scenario.finish(place, "kill", before)  # As after a kill: a line may be torn.


class Acknowledge(Carrying):
    name = "acknowledge"
    scenario = carrying.Acknowledge()

    def command(self, place):
        return self.scenario.acknowledge_arguments(place)

    def look(self, place, calls, before):
        now = place.contents("spool")
        ledger = spools.ledger(place("spool"))
        for name in before:
            if name not in now.pending and (name not in now.sent or not ledger.get(name)):
                place.problem(f"not pending, and not in sent/ with a line in the ledger: {name}")
        self.scenario.finish(place, "kill", before)  # As after a kill: a line may be torn.


class Replay(Power):
    name = "replay"
    scenario = replaying.Replay()

    def prepare(self, place):
        self.scenario.prepare(place)
        os.mkdir(place("state"))

    def act(self, place, environment):
        # The run remembers its address.
        server = KeyServer()
        try:
            result = self.begin(place, server, environment)
        finally:
            server.stop()
        if result.status != 0:
            place.problem(f"undisturbed: {result}")
        return server.taken, server.port

    def begin(self, place, server, environment=None):
        return place.run(
            "replay", place("archive"), place("archive", "plain.jsonl"), "--to", server.url, "--state", place("state"), "--parallel", "1",
            *self.scenario.arguments, environment=environment)

    def look(self, place, calls, world):
        taken, port = world
        known = {key: value for key, value in taken.items() if value[2] <= calls[-1].time}
        arrived = spools.Contents.count({key: numbers for key, (_, numbers, _) in known.items()})
        runs = self.scenario.runs(place)
        server = KeyServer(None, known, port)
        try:
            if runs:
                result = place.run("replay", "--resume", runs[0], "--state", place("state"))
                if result.status != 0:
                    place.problem(f"a run that has begun cannot be gone on with: {result}")
            elif not known:
                self.begin(place, server)
            elif len(arrived) < 70:
                place.problem("something was sent, and there is no run to go on with")
                return
        finally:
            server.stop()
        place.expect(server.events, range(70), "at the receiver")


class Retry(Power):
    name = "retry"
    scenario = keeping.Retry()

    def prepare(self, place):
        self.scenario.prepare(place)

    def command(self, place):
        return ["retry", "--all", "--spool", place("spool"), *self.scenario.arguments]

    def act(self, place, environment):
        result = place.run(*self.command(place), environment=environment)
        if result.status != 0:
            place.problem(f"undisturbed: {result}")

    def look(self, place, calls, world):
        place.undisturbed(*self.command(place), accepted=(0, 65))
        server = KeyServer()
        try:
            place.drain(server.url)
        finally:
            server.stop()
        place.expect(server.events, self.scenario.wanted(), "at the receiver")
        place.expect_sound("spool")


class Salvage(Retry):
    name = "salvage"
    scenario = keeping.Salvage()


class Prune(Power):
    name = "prune"
    scenario = keeping.Prune()

    def prepare(self, place):
        self.scenario.prepare(place)

    def act(self, place, environment):
        before = place.contents("spool").pending
        place.run("prune", "--spool", place("spool"), "--max-spool-bytes", "6KB", "--max-sent-age", "1d", environment=environment)
        return before

    def look(self, place, calls, before):
        place.expect_known(before, "spool")
        place.undisturbed("prune", "--spool", place("spool"), "--max-spool-bytes", "6KB")
        place.expect_known(before, "spool")
        place.expect_sound("spool")


class Pause(Power):
    name = "pause"
    scenario = keeping.Pause()

    def prepare(self, place):
        self.scenario.prepare(place)

    def act(self, place, environment):
        place.run("pause", "--spool", place("spool"), environment=environment)

    def look(self, place, calls, world):
        server = KeyServer()
        try:
            place.run("upload", "--spool", place("spool"), "--to", server.url)
            if any(call.name == "the end" for call in calls) and server.events:
                place.problem("a spool that was paused sends")
            place.undisturbed("resume", "--spool", place("spool"))
            place.drain(server.url)
        finally:
            server.stop()
        place.expect(server.events, range(10), "at the receiver")


class Forget(Carrying):
    name = "forget"
    scenario = carrying.Forget()

    def look(self, place, calls, before):
        marks = os.listdir(place("spool", ".ferry", "exports"))
        if any(name.endswith(".jsonl") for name in marks):
            if calls[-1].name == "the end":
                place.problem("a bundle that was given up is waited for")
            place.undisturbed(*self.command(place))
        super().look(place, calls, before)

    def command(self, place):
        return self.scenario.command(place)


class Init(Power):
    name = "init"
    can_run = keeping.Init.can_run

    def act(self, place, environment):
        place.run("init", place("spool"), environment=environment)

    def look(self, place, calls, world):
        if calls[-1].name == "the end" and not os.path.isdir(place("spool")):
            place.problem("init had said that there is a spool, and there is none")
        place.undisturbed("init", place("spool"))
        place.undisturbed("write", "--create", "--spool", place("spool"), data=spools.lines(range(10)))
        place.expect(place.contents("spool").stored, range(10), "in the new spool")


SCENARIOS = [
    Write(), Tracker(), Upload(), UploadSplit(), UploadJoined(), UploadDeleting(), UploadUnwell(), Receive(), ReceiveJoined(), ReceiveGathered(), Export(), ExportTar(), Import(),
    Acknowledge(), Forget(), Init(), Replay(), Retry(), Salvage(), Prune(), Pause()]
