"""The folder of one case, and what cases do in it."""

import collections
import os
import shutil

from . import machine, spools
from .servers import Hub

# What README.md lists; anything else says that an error was not understood.
EXIT_CODES = {0, 64, 65, 69, 73, 74, 75, 77, 78, 130}


class Place:
    def __init__(self, root, ferry, tracker_host=None):
        self.root = root
        self.ferry = ferry
        self.tracker_host = tracker_host
        self.problems = []
        # What the commands said, for whoever looks at a failure.
        self.history = []

    def __call__(self, *parts):
        return os.path.join(self.root, *parts)

    def copy(self, root):
        # copytree loses holes only; times, modes and links stay.
        shutil.copytree(self.root, root, symlinks=True)
        return Place(root, self.ferry, self.tracker_host)

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def problem(self, text):
        self.problems.append(text)

    def note(self, result):
        self.history.append(str(result))
        if result.hangs:
            self.problem(f"hangs: {' '.join(map(os.path.basename, result.arguments[:2]))}: {result.errors}")
        return result

    # --- Running commands ---

    def run(self, *arguments, environment=None, data=None, patience=machine.PATIENCE):
        return self.note(machine.run([self.ferry, *arguments], environment, data, patience))

    def undisturbed(self, *arguments, accepted=(0,), data=None):
        """A command that has nothing to fear: any other status is a problem."""
        result = self.run(*arguments, data=data)
        if result.status not in accepted and not result.hangs:
            self.problem(f"undisturbed: {result}")
        return result

    def judge_end(self, result, may_be_killed):
        """Whether a disturbed program ended as programs should."""
        if result.hangs:
            return
        if result.status < 0 and not (may_be_killed and result.status == -9):
            self.problem(f"crash: {result}")
        elif result.status == 1 and result.arguments[1] == "status":
            # Something waits for a person.
            return
        elif result.status >= 0 and result.status not in EXIT_CODES:
            self.problem(f"undocumented exit status: {result}")

    # --- Things that many cases do ---

    def hub(self, spool="hub", port=0, environment=None, more=()):
        hub = Hub(self.ferry, self(spool), port, environment, more)
        if environment is None and not hub.wait():
            self.problem(f"undisturbed: ferry receive does not listen: {hub.lines[-1:]}")
        return hub

    def drain(self, url, spool="spool", *more, accepted=(0, 65)):
        """Uploads until nothing is left that is due."""
        result = None
        for _ in range(6):
            result = self.run("upload", "--spool", self(spool), "--to", url, "--retry-now", *more)
            if result.status in accepted or result.hangs:
                return result
        self.problem(f"undisturbed: never done: {result}")
        return result

    def contents(self, spool):
        return spools.Contents(self(spool))

    # --- What must hold ---

    def expect(self, found, wanted, where):
        """Each of the wanted numbers once, and nothing else."""
        wanted = collections.Counter(wanted)
        lost, extra = wanted - found, found - wanted
        if lost:
            self.problem(f"lost {sum(lost.values())} of {sum(wanted.values())} {where}: {shown(lost)}")
        if extra:
            self.problem(f"doubled {sum(extra.values())} {where}: {shown(extra)}")

    def expect_known(self, before, spool, ledger_names=None):
        """Every segment that was pending ended with a line in the ledger, or is pending still."""
        now = self.contents(spool)
        ledger = spools.ledger(self(spool))
        for name in before:
            if name not in now.pending and not ledger.get(name):
                self.problem(f"ended without a line in the ledger: {name}")

    def expect_whole_logs(self, spool):
        for prefix in ("ledger", "received"):
            torn = spools.log_lines(self(spool), prefix)[1]
            if torn:
                self.problem(f"{prefix} of {spool} has a line that is no JSON: {torn[0][:60]!r}")

    def expect_sound(self, spool):
        """Readers get along with what is there."""
        if os.path.isdir(self(spool)):
            # 1: something in it waits for a person.
            self.undisturbed("status", "--json", "--spool", self(spool), accepted=(0, 1))


def shown(counter):
    some = sorted(counter)
    return ", ".join(map(str, some[:8])) + (", …" if len(some) > 8 else "")
