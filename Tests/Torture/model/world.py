"""The world of one history: its folders, its events, and the programs that run in it."""

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from . import reading


class Violation(Exception):
    """Something happened that Ferry promises never to happen."""


@dataclasses.dataclass
class Result:
    status: int
    output: str
    errors: str
    was_killed: bool = False


class World:
    """Sources send over a faulty link to a hub, which may relay to a second one. Sticks carry bundles between them."""

    #: A command that takes longer hangs. Fresh files from other tools cost 5 s, a slow link some more.
    PATIENCE = 120

    def __init__(self, folder, profile, tools):
        self.folder = pathlib.Path(folder)
        self.profile = profile
        self.tools = tools
        self.ferry_path = tools.ferry
        self.log = []
        self.violations = []
        self.next_event = 1
        #: What is known of each event: `must` (safe: told to its producer), `may` (unknown), `never` (told to be in no file).
        self.events = {}
        #: The events of each segment by its file name, as far as they were ever seen.
        self.contents = {}
        self.background = []
        self.bundles = []
        #: Files that are being copied in by a tool that writes for long.
        self.copies = []
        #: Lines that `ferry write` did not store, and for which spool.
        self.unwritten = []
        #: The latest time in a name that `ferry write` gave, by spool.
        self.last_created = {}
        self.filler = None
        self.run_process = {}
        (self.folder / "disk").mkdir(parents=True)
        if profile.disk:
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={profile.disk}", "none", str(self.folder / "disk")], check=True)
        self.sources = [self.folder / "disk" / name for name in ("a", "b")]
        self.hub_folder = self.folder / "hub"
        self.relay_folder = self.folder / "relay"
        self.sticks = self.folder / "sticks"
        self.sticks.mkdir()
        (self.folder / "tmp").mkdir()
        for source in self.sources:
            # A spool: an empty folder may be the place of a file system that is missing.
            for folder in (source, source / ".ferry"):
                folder.mkdir(mode=0o755 if profile.user else 0o700)
        if profile.user:
            for path in [self.folder, self.folder / "disk", self.sticks, self.folder / "tmp", *self.sources, *(source / ".ferry" for source in self.sources)]:
                os.chown(path, profile.user, profile.user)
            for parent in self.folder.parents:
                if not os.stat(parent).st_mode & 0o001:
                    os.chmod(parent, os.stat(parent).st_mode | 0o011)

    # Events

    def take_events(self, count, size, rng):
        """Returns so many new lines, each an event with its number and about `size` bytes that do not compress."""
        numbers = range(self.next_event, self.next_event + count)
        self.next_event += count
        for number in numbers:
            self.events[number] = "never"
        return {number: json.dumps({"e": number, "p": rng.randbytes(max(1, size // 2)).hex()}) + "\n" for number in numbers}

    def mark(self, numbers, state):
        for number in numbers:
            self.events[number] = state

    def saw(self, name, numbers):
        """Remembers what a segment holds, for when its name stands in the ledger."""
        self.contents.setdefault(name, set()).update(numbers)

    def look(self):
        """Remembers what all pending segments hold."""
        for source in self.sources:
            for name, numbers, _ in reading.read_segments(source):
                self.saw(name, numbers)
            for name, numbers in reading.read_journals(source):
                self.saw(name, numbers)

    # Programs

    def note(self, text):
        # A wait is the same lines again and again.
        if text not in self.log[-4:]:
            self.log.append(text)

    def violate(self, text):
        self.violations.append(text)
        self.note(f"VIOLATION: {text}")

    def own(self, path):
        """Gives a file that this process made to the user who runs Ferry."""
        if self.profile.user:
            os.chown(path, self.profile.user, self.profile.user, follow_symlinks=False)

    def environment(self):
        home = self.folder / "tmp"
        return {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", "TMPDIR": str(home)}

    def start(self, arguments, stdin=subprocess.DEVNULL, name="command", is_user=True):
        """Starts a program; what it says goes to files."""
        log = self.folder / "tmp" / f"{name}-{time.monotonic_ns()}"
        output, errors = open(f"{log}.out", "wb"), open(f"{log}.err", "wb")
        who = {}
        if self.profile.user and is_user:
            who = dict(user=self.profile.user, group=self.profile.user, extra_groups=[])
        process = subprocess.Popen(
            [str(argument) for argument in arguments], stdin=stdin, stdout=output, stderr=errors,
            env=self.environment(), cwd=self.folder, start_new_session=True, **who)
        output.close()
        errors.close()
        process.log = log
        return process

    def end(self, process, text, sent=None, patience=None):
        """Waits for a program's end and judges how it ended.

        `sent` is the signal that it was sent. SIGTERM may end it before it handles it: nothing is begun then.
        """
        text = text.replace(f"{self.folder}/", "")
        try:
            status = process.wait(patience or self.PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Violation(f"{text} did not end within {patience or self.PATIENCE} s")
        result = Result(status, reading.read_text(f"{process.log}.out"), reading.read_text(f"{process.log}.err"), sent is not None and status == -sent)
        for suffix in (".out", ".err"):
            os.unlink(f"{process.log}{suffix}")
        self.note(f"  {text}: {status} {' | '.join(result.errors.strip().splitlines()[:3])[:300]}")
        if status < 0 and not result.was_killed:
            raise Violation(f"{text} died of signal {-status}: {result.errors.strip()[-600:]}")
        return result

    def ferry(self, *arguments, kill_after=None, stop_after=None, stdin=subprocess.DEVNULL, allowed=None, patience=None):
        """Runs a ferry command to its end, or kills or stops it after some seconds."""
        text = "ferry " + " ".join(str(argument) for argument in arguments)
        process = self.start([self.ferry_path, *arguments], stdin=stdin)
        sent = signal.SIGKILL if kill_after is not None else signal.SIGTERM if stop_after is not None else None
        delay = kill_after if kill_after is not None else stop_after
        if delay is not None:
            try:
                process.wait(delay)
            except subprocess.TimeoutExpired:
                process.send_signal(sent)
        result = self.end(process, text, sent, patience)
        if allowed is not None and not result.was_killed and result.status not in allowed:
            text = text.replace(f"{self.folder}/", "")
            self.violate(f"{text} ended with {result.status}: {result.errors.strip()[-400:]}")
        return result

    def is_quiet(self, source):
        """Whether nothing of Ferry's runs on a spool."""
        return source not in self.run_process and all(spool != source for spool, _, _ in self.background)

    def close(self):
        """Ends everything that this world started."""
        for process in [*self.run_process.values(), *(process for _, process, _ in self.background)]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if self.profile.disk:
            subprocess.run(["umount", "-l", str(self.folder / "disk")])
        shutil.rmtree(self.folder, ignore_errors=True)
