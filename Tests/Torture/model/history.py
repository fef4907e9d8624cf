"""Runs one history: its steps, then an end without disturbances, then the account."""

import json
import os
import random
import time
import traceback

from common.servers import free_port

from . import account, carry, deliver, disturb, files, produce, reading
from .hub import Hub
from .link import Link
from .plan import profile_of, steps_of
from .steps import STEPS
from .world import Violation, World


class History(World):
    """A world with its hub, its link, and what is known of them."""

    def __init__(self, folder, seed, tools):
        super().__init__(folder, profile_of(seed, tools), tools)
        self.seed = seed
        self._ports = random.Random(f"ports {seed} {os.getpid()}")
        self.hub = self.make_hub("hub")
        self.link = Link(self.hub.port, f"link {seed}", self.profile.largest)
        self.url = f"http://127.0.0.1:{self.link.port}/v1/segments"
        self.second = self.make_hub("relay") if self.profile.has_relay else None
        self.relay_url = f"http://127.0.0.1:{self.second.port}/v1/segments" if self.second else None

    @property
    def is_newest(self):
        """This step is not one of an older Ferry, before the upgrade."""
        return self.ferry_path == self.tools.ferry

    @property
    def keeps_whole(self):
        """The Ferry of this step has to be told that it must not split; an older one never did by itself."""
        return self.tools.can_keep_whole and not self.profile.may_split and self.is_newest

    @property
    def no_splitting(self):
        return ["--split-broken", "off"] if self.keeps_whole else []

    @property
    def no_splitting_settings(self):
        return ["split-broken=off"] if self.keeps_whole else []

    def make_hub(self, name):
        name = name if name != "mirror" else f"mirror-{time.monotonic_ns()}"
        folder = self.folder / name
        folder.mkdir()
        self.own(folder)
        return Hub(self, folder, free_port(self._ports), name)

    def marks(self, source):
        """The bundles whose receipts a source waits for, with the names in them."""
        marks = {}
        try:
            names = os.listdir(source / ".ferry" / "exports")
        except FileNotFoundError:
            return marks
        for name in names:
            if name.endswith(".jsonl") and not name.startswith("."):
                lines = (source / ".ferry" / "exports" / name).read_text().splitlines()[1:]
                marks[name[:-len(".jsonl")]] = {json.loads(line)["name"] for line in lines}
        return marks

    def travelling(self, source):
        return set().union(*self.marks(source).values())

    def waiting_for_hands(self, source):
        """The pending segments that travel, with the halves of what travels, and what such halves are of: they have the same events."""
        def id_of(name):
            return name.split("-")[2].split(".")[0] if name.count("-") >= 2 else name

        def is_half(half, whole):
            return half.startswith(whole) and not half[len(whole):].strip("01")

        ids = [id_of(name) for name in self.travelling(source)]

        def is_kin(name):
            return any(is_half(id_of(name), id) or is_half(id, id_of(name)) for id in ids)

        pending = [name for name in os.listdir(source) if not name.startswith(".") and name.endswith(".jsonl.gz")]
        return [name for name in pending if is_kin(name)]

    def due_names(self, source):
        """The pending segments that nothing keeps from leaving."""
        result = self.ferry("list", "--json", "--spool", source, allowed=(0,))
        names = set()
        for line in result.output.splitlines():
            segment = json.loads(line)
            if segment.get("state", segment.get("waits", "due")) == "due":
                names.add(segment.get("segment", segment.get("name")))
        return names

    def trace(self, number):
        """Where an event is, for whoever looks into a failure."""
        places = [sorted(name for name, numbers in self.contents.items() if number in numbers)]
        for spool in [*self.sources, self.hub_folder]:
            for place, folder in account.places_of(spool, ("pending", "sent", "rejected")):
                for name, numbers, _ in reading.read_segments(folder, account.is_kept):
                    if number in numbers and not name.endswith(".retry.json"):
                        places.append(f"{spool.name}/{place}/{name}")
        return places

    def play(self, steps):
        """Does the steps that are given by their places in the history."""
        self.hub.start()
        if self.second:
            self.second.start()
        names = steps_of(self.seed, self.profile)
        for index, name in enumerate(names):
            if index not in steps:
                continue
            self.ferry_path = self.tools.old if index < self.profile.old_steps else self.tools.ferry
            self.note(f"{index} {name}")
            STEPS[name].run(self, random.Random(f"step {self.seed} {index}"))
            if self.violations:
                return
        self.ferry_path = self.tools.ferry
        self.drain()
        if not self.violations:
            account.judge(self)

    def drain(self):
        """Ends what is under way, mends what is broken, and sends everything."""
        self.note("the end")
        disturb.free(self)
        for copy in self.copies:
            files.finish_copy(self, copy)
        self.copies = []
        disturb.give_back(self)
        self.link.be_well()
        self.hub.start()
        for source, process in sorted(self.run_process.items()):
            deliver.stop_run(self, source, process)
        self.run_process = {}
        for source, process, _ in self.background:
            self.end(process, f"ferry upload beside of {source.name}")
        self.background = []
        rng = random.Random(f"drain {self.seed}")
        for source in self.sources:
            for word in ("enable", "resume"):
                self.ferry(word, "--spool", source, "--quiet", allowed=(0,))
        while self.unwritten:
            produce.go_on_writing(self, rng)
        for bundle in self.bundles:
            # What has come to the hub is acknowledged or given up; some bundles travel on.
            if rng.random() < 0.5 and bundle.path.exists():
                carry.take_bundle(self, bundle)
            if bundle.receipt and rng.random() < 0.7:
                carry.acknowledge(self, bundle)
        for source in self.sources:
            for bundle in self.marks(source):
                is_known = any(bundle == known.name for known in self.bundles)
                splits = self.profile.may_split and any(known.name == bundle and known.was_imported for known in self.bundles)
                if not splits and (not is_known or rng.random() < 0.8):
                    self.ferry("export", "--forget", bundle, "--spool", source, allowed=(0, 64))
            self.ferry("retry", "--all", "--spool", source, "--quiet", allowed=(0, 65))
            files.rename_misnamed(self, source)
            self.send_all(source)
        self.look()
        self.hub.stop()
        if self.second:
            self.second.stop()
            self.ferry("verify", "--all", "--spool", self.relay_folder, allowed=(0,))
        # Opening the spool finishes what a killed receiver left.
        self.hub.start()
        self.hub.stop()
        self.ferry("verify", "--all", "--spool", self.hub_folder, allowed=(0,))

    def send_all(self, source):
        """Uploads until nothing is left but what travels; files that were just copied in need some seconds."""
        end = time.monotonic() + 90
        while True:
            result = self.ferry(
                "upload", "--spool", source, "--to", self.url, "--retry-now", "--quiet", allowed=(0, 65, 75))
            status = self.ferry("status", "--json", "--spool", source, allowed=(0, 1))
            try:
                left = json.loads(status.output)["pending"]["segments"]
            except (ValueError, KeyError):
                return self.violate(f"ferry status of {source.name} says {status.output[:200]} {status.errors[:200]}")
            waits = len(self.waiting_for_hands(source))
            if left <= waits and result.status in (0, 65):
                return
            if left <= waits and time.monotonic() > end - 60:
                return self.violate(f"upload of {source.name} ends with {result.status} though nothing is left to send")
            if time.monotonic() > end:
                names = sorted(name for name in os.listdir(source) if not name.startswith("."))
                return self.violate(f"{left} segments of {source.name} do not leave, {waits} travel: {names[:6]} {result.errors[-300:]}")
            time.sleep(0.3)


def play(folder, seed, steps, tools):
    """Plays a history, or what is left of it. Returns what was wrong, and its log."""
    history = History(folder, seed, tools)
    chosen = range(len(steps_of(seed, history.profile))) if steps is None else steps
    try:
        history.play(set(chosen))
    except Violation as violation:
        history.violate(str(violation))
    except Exception:
        history.violate("the harness: " + traceback.format_exc())
    finally:
        try:
            history.link.turn_off()
            for hub in [history.hub, history.second]:
                if hub:
                    hub.kill()
        finally:
            history.close()
    return history.violations, history.log
