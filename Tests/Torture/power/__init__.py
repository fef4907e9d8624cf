"""Power cuts: the file calls of each command are played into a model of a disk; from every state that the disk may hold, Ferry goes on, and
what was acknowledged must be there."""

import copy
import math
import os
import random
import re
import shutil
import threading
import time

from calls import ENOUGH, LISTING, working_folder
from common.options import Outcome
from common.place import Place
from common.shim import Call, Shim, read_log

from . import disk
from .scenarios import SCENARIOS

# How often each is drawn at each cut.
VARIANTS = {"strict": 1, "names": 1, "zeros": 1, "mix": 3, "all": 1}
# States that are made before their turn: those of some scenarios must be of some age.
AHEAD = 25

END = Call("the end", math.inf, 0, 0, 0, 0, 0, 0, 0, "", "", b"")


def run(options):
    return Power(options).run()


class Traced:
    """One scenario: what happened while its command ran, and the states that are still to be looked at."""

    def __init__(self, scenario):
        self.scenario = scenario
        self.calls, self.cuts, self.cases, self.staged = [], [], [], []
        self.start = self.world = None
        self.is_busy = False


class Power:
    def __init__(self, options):
        self.options = options
        self.root = working_folder()
        self.shim = Shim(self.root)
        self.outcome = Outcome()
        self.lock = threading.Lock()
        self.began = time.monotonic()
        self.told, self.seen = {}, set()
        self.states = self.same = 0

    def run(self):
        try:
            wanted = [
                scenario for scenario in SCENARIOS
                if self.options.case is None or scenario.name in self.options.case.split(":")[0].split(",")]
            for scenario in [scenario for scenario in wanted if not scenario.can_run(self.options)]:
                wanted.remove(scenario)
                print(f"  NOT TESTED: {scenario.name}: the program for it is not there", flush=True)
            traced = [Traced(scenario) for scenario in wanted]
            random.Random(self.options.seed).shuffle(traced)
            for item in traced:
                self.prepare(item)
            self.in_parallel(traced, self.trace)
            left_out = len(traced)
            traced = [item for item in traced if item.start is not None]
            left_out -= len(traced)
            end = max(self.began + self.options.seconds, time.monotonic() + 10)
            threads = [threading.Thread(target=self.work, args=(traced, end)) for _ in range(self.options.jobs)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.outcome.counts = {
                "scenarios": len(traced), "left out for want of time": left_out, "calls": sum(len(item.calls) for item in traced), "cuts": sum(len(item.cuts) for item in traced),
                "states": self.states, "that were seen before": self.same}
        finally:
            shutil.rmtree(self.root, ignore_errors=True)
        for text, count in self.told.items():
            if count > ENOUGH:
                print(f"  {count} times in all: {text}", flush=True)
        return self.outcome

    def in_parallel(self, items, body):
        left = list(items)

        def work():
            while True:
                with self.lock:
                    if not left:
                        return
                    item = left.pop(0)
                body(item)

        threads = [threading.Thread(target=work) for _ in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def place(self, item):
        # Always the same path: some of what Ferry remembers has paths in it.
        return Place(os.path.join(self.root, item.scenario.name), self.options.ferry, self.options.tracker_host)

    def prepare(self, item):
        place = self.place(item)
        os.mkdir(place.root)
        item.scenario.prepare(place)
        item.prepared = time.monotonic()

    def trace(self, item):
        # A short run takes some of them, chosen by the seed.
        if time.monotonic() > self.began + LISTING * self.options.seconds and self.options.case is None:
            return
        place = self.place(item)
        time.sleep(max(0, item.prepared + item.scenario.age - time.monotonic()))
        item.start = disk.Disk(place.root)
        log = f"{place.root}.log"
        item.world = item.scenario.act(place, self.shim.tracing(place.root, log, with_data=True))
        item.calls = [*read_log(log), END]
        self.tell(item, "undisturbed", place)
        place.remove()
        # Only calls that change something make another state.
        play = copy.deepcopy(item.start)
        item.cuts = [0] + [
            index + 1 for index, call in enumerate(item.calls) if play.apply(call) or call.name in ("net", "the end")]
        for text in sorted(set(play.unmodelled)):
            print(f"  NOT MODELLED: {item.scenario.name}: {text}", flush=True)
        item.cases = [
            (cut, variant, draw) for cut in range(len(item.cuts)) for variant, draws in VARIANTS.items() for draw in range(draws)]
        random.Random(f"{self.options.seed} {item.scenario.name}").shuffle(item.cases)
        if self.options.case and self.options.case.count(":") == 3:
            _, cut, variant, draw = self.options.case.split(":")
            item.cases = [(int(cut), variant, int(draw))]

    # --- States ---

    def stage(self, item):
        """Makes the next state that was not seen yet, beside the others."""
        while item.cases:
            cut, variant, draw = item.cases.pop()
            calls = item.calls[:item.cuts[cut]]
            model = copy.deepcopy(item.start)
            for call in calls:
                model.apply(call)
            state = model.state(variant, random.Random(f"{item.scenario.name}:{cut}:{variant}:{draw}"))
            mark = (item.scenario.name, disk.digest(state), sum(call.name in ("net", "the end") for call in calls))
            if mark in self.seen:
                self.same += 1
                continue
            self.seen.add(mark)
            folder = os.path.join(self.root, f"{item.scenario.name}.{cut}.{variant}.{draw}")
            disk.write(state, folder)
            item.staged.append((f"{cut}:{variant}:{draw}", folder, calls or [self.before(item)], time.monotonic()))
            return

    @staticmethod
    def before(item):
        """A cut before the first call."""
        first = copy.copy(END)
        first.name, first.time = "the beginning", item.calls[0].time - 1 if item.calls[0] is not END else 0
        return first

    def work(self, items, end):
        while time.monotonic() < end:
            with self.lock:
                item = self.next_item(items)
            if item is None:
                if not any(other.cases or other.staged or other.is_busy for other in items):
                    return
                time.sleep(0.02)
                continue
            try:
                self.play(item)
            finally:
                with self.lock:
                    item.is_busy = False

    def next_item(self, items):
        """One that no other worker is at and that has a state of the right age; the one that was looked at the least recently."""
        for item in sorted(items, key=lambda item: item.turn if hasattr(item, "turn") else 0):
            if item.is_busy:
                continue
            while item.cases and len(item.staged) < (AHEAD if item.scenario.age else 1):
                self.stage(item)
            if item.staged and time.monotonic() - item.staged[0][3] >= item.scenario.age:
                item.is_busy = True
                item.turn = time.monotonic()
                return item
        return None

    def play(self, item):
        case, folder, calls, _ = item.staged.pop(0)
        place = self.place(item)
        os.rename(folder, place.root)
        if self.options.keep and self.options.case:
            shutil.copytree(place.root, os.path.join(self.options.keep, "before"), symlinks=True, dirs_exist_ok=True)
        try:
            item.scenario.look(place, calls, item.world)
        except Exception as error:  # noqa: BLE001: a state that cannot be judged is a failure to look into
            place.problem(f"the harness failed: {type(error).__name__}: {error}")
        with self.lock:
            self.states += 1
        last = next((call for call in reversed(calls)), END)
        self.tell(item, case, place, f"{last.name} {last.path2 or last.path}".replace(place.root + "/", ""))
        place.remove()

    def tell(self, item, case, place, where=""):
        if not place.problems:
            return
        text = f"{item.scenario.name}:{case}" if case != "undisturbed" else item.scenario.name
        with self.lock:
            kind = f"{item.scenario.name}: {re.sub(r'[0-9][0-9a-z.]*', 'N', place.problems[0])[:110]}"
            self.told[kind] = self.told.get(kind, 0) + 1
            message = f"FAILED {text} (cut after {where})\n" + "".join(f"    {problem[:20000 if problem.startswith('hangs') else 400]}\n" for problem in place.problems)
            message += f"    again: scripts/torture --only power --case {text}"
            self.outcome.failures.append(message)
            if self.told[kind] <= ENOUGH:
                print(message, flush=True)
                if self.options.case:
                    print("".join(f"    ran: {line}\n" for line in place.history), flush=True)
            if self.options.keep and self.told[kind] <= ENOUGH:
                shutil.copytree(place.root, os.path.join(self.options.keep, text.replace(":", "-")), symlinks=True, dirs_exist_ok=True)
