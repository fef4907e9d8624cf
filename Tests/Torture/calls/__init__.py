"""Calls that fail: every command, with each file call that touches its folders failing once, and with a kill at each; then an undisturbed
run; then what went in is compared with what came out."""

import concurrent.futures
import os
import random
import re
import shutil
import tempfile
import threading
import time

from common.options import Outcome
from common.place import Place
from common.shim import Shim, read_log

from . import carrying, faults, keeping, looking, replaying, sending, writing

SCENARIOS = [
    scenario for module in (writing, sending, carrying, keeping, replaying, looking) for scenario in module.SCENARIOS]

# The part of the time in which calls are listed.
LISTING = 0.35
# So many failures of one kind are told in full.
ENOUGH = 3


def run(options):
    return Calls(options).run()


def working_folder():
    """In memory where possible: forced writes are many, and nothing here needs a disk."""
    return tempfile.mkdtemp(prefix="ferry-torture-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)


class Calls:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.root = working_folder()
        self.shim = Shim(self.root)
        self.outcome = Outcome()
        self.lock = threading.Lock()
        self.began = time.monotonic()
        self.told = {}
        self.runs = self.missed = 0
        self.templates = {}

    def run(self):
        try:
            scenarios = [scenario for scenario in SCENARIOS if self.is_wanted(scenario)]
            with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as workers:
                self.random.shuffle(scenarios)
                for scenario in scenarios:
                    self.prepare(scenario)
                # Undisturbed first: it lists the calls, and shows that nothing is wrong with the scenario itself.
                traces = {
                    scenario: calls for scenario, calls in zip(scenarios, workers.map(self.trace, scenarios)) if calls is not None}
                cases = self.choose(traces)
                sites = sum(len({(call.name, call.number) for call in calls}) for calls in traces.values())
                self.play_all(workers, cases)
            self.outcome.counts = {
                "scenarios": len(traces), "left out for want of time": len(scenarios) - len(traces), "calls": sites, "cases that fit": sum(1 for calls in traces.values() for _ in faults.cases(calls)),
                "runs": self.runs, "that met no fault": self.missed}
        finally:
            shutil.rmtree(self.root, ignore_errors=True)
        for text, count in self.told.items():
            if count > ENOUGH:
                print(f"  {count} times in all: {text}", flush=True)
        return self.outcome

    def is_wanted(self, scenario):
        if not scenario.can_run(self.options):
            print(f"  NOT TESTED: {scenario.name}: the program for it is not there", flush=True)
            return False
        return self.options.case is None or scenario.name in self.options.case.split(":")[0].split(",")

    def prepare(self, scenario):
        place = Place(os.path.join(self.root, f"{scenario.name}.template"), self.options.ferry, self.options.tracker_host)
        os.mkdir(place.root)
        scenario.prepare(place)
        self.templates[scenario] = place

    def trace(self, scenario):
        # A short run takes some of them, chosen by the seed.
        if time.monotonic() > self.began + LISTING * self.options.seconds and self.options.case is None:
            return None
        place = self.templates[scenario].copy(os.path.join(self.root, f"{scenario.name}.traced"))
        time.sleep(scenario.age)
        log = f"{place.root}.log"
        try:
            scenario.play(place, self.shim.tracing(place.root, log), None)
            self.tell(scenario, "undisturbed", place)
            return read_log(log)
        finally:
            place.remove()

    # --- Choosing ---

    def choose(self, traces):
        """All cases, in an order in which each kind of fault at each kind of call comes early."""
        if self.options.case and self.options.case.count(":") == 3:
            _, name, number, kind = self.options.case.split(":")
            return [(scenario, name, int(number), kind) for scenario in traces]
        groups = {}
        for scenario, calls in traces.items():
            for name, number, kind in faults.cases(calls):
                groups.setdefault((scenario.name, name, kind), []).append((scenario, name, number, kind))
        queues = list(groups.values())
        self.random.shuffle(queues)
        for queue in queues:
            self.random.shuffle(queue)
        cases = []
        while queues:
            cases += [queue.pop() for queue in queues]
            queues = [queue for queue in queues if queue]
        return cases

    # --- Playing ---

    # Folders are prepared so many cases ahead, so that those that must be of some age need not be waited for.
    AHEAD = 60

    def play_all(self, workers, cases):
        end = max(self.began + self.options.seconds, time.monotonic() + 10)
        ready, running = [], set()
        position = 0
        while position < len(cases) or ready:
            while position < len(cases) and len(ready) < self.AHEAD:
                ready.append((cases[position], self.stage(cases[position][0], position), time.monotonic()))
                position += 1
            if time.monotonic() > end:
                break
            if len(running) >= self.options.jobs:
                _, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                continue
            # The first one that is old enough.
            now = time.monotonic()
            index = next((index for index, (case, _, staged) in enumerate(ready) if now - staged >= case[0].age), None)
            if index is None:
                time.sleep(0.05)
                continue
            case, place, _ = ready.pop(index)
            running.add(workers.submit(self.play, case, place))
        done, _ = concurrent.futures.wait(running)
        for future in done:
            future.result()

    def stage(self, scenario, position):
        return self.templates[scenario].copy(os.path.join(self.root, f"{scenario.name}.{position}"))

    def play(self, case, place):
        scenario, name, number, kind = case
        fired = f"{place.root}.fired"
        try:
            scenario.play(place, self.shim.failing(place.root, f"{name}:{number}:{kind}", fired), kind)
        except Exception as error:  # noqa: BLE001: a case that cannot be judged is a failure to look into
            place.problem(f"the harness failed: {type(error).__name__}: {error}")
        where = ""
        if os.path.exists(fired):
            with open(fired) as file:
                where = file.readline().strip().replace(place.root + "/", "")
            os.remove(fired)
        with self.lock:
            self.runs += 1
            self.missed += not where
        self.tell(scenario, f"{name}:{number}:{kind}", place, where)
        place.remove()

    # --- Telling ---

    def tell(self, scenario, case, place, where=""):
        if not place.problems:
            return
        text = f"{scenario.name}:{case}" if case != "undisturbed" else scenario.name
        with self.lock:
            # One cause shows at many calls; a few of them are enough to find it.
            kind = f"{scenario.name}: {re.sub(r'[0-9][0-9a-z.]*', 'N', place.problems[0])[:110]}"
            self.told[kind] = self.told.get(kind, 0) + 1
            message = f"FAILED {text} (at {where or 'nothing'})\n" + "".join(f"    {problem[:20000 if problem.startswith('hangs') else 400]}\n" for problem in place.problems)
            message += f"    again: scripts/torture --only calls --case {text}"
            self.outcome.failures.append(message)
            if self.told[kind] <= ENOUGH:
                print(message, flush=True)
                if self.options.case:
                    print("".join(f"    ran: {line}\n" for line in place.history), flush=True)
            if self.options.keep and self.told[kind] <= ENOUGH:
                kept = os.path.join(self.options.keep, text.replace(":", "-"))
                shutil.copytree(place.root, kept, symlinks=True, dirs_exist_ok=True)
