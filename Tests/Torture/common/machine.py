"""Runs programs with an end to every wait, and finds out how they ended."""

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass

# On a machine with much else to do.
PATIENCE = 40.0


@dataclass
class Result:
    arguments: list[str]
    # The exit status, or minus the signal that ended it; None: it did not end.
    status: int | None
    output: str
    errors: str

    @property
    def hangs(self):
        return self.status is None

    def __str__(self):
        end = "does not end" if self.hangs else f"status {self.status}"
        text = (self.errors.strip() or self.output.strip()).splitlines()
        return f"{os.path.basename(self.arguments[0])} {' '.join(self.arguments[1:3])}…: {end}" + (
            f": {text[-1][:300]}" if text else "")


def run(arguments, environment=None, data=None, patience=PATIENCE, folder=None):
    process = Process(arguments, environment, stdin=subprocess.PIPE if data is not None else subprocess.DEVNULL, folder=folder)
    return process.end(patience, data)


class Process:
    """A program that is running."""

    def __init__(self, arguments, environment=None, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, folder=None):
        self.arguments = [str(argument) for argument in arguments]
        self.process = subprocess.Popen(
            self.arguments, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True, cwd=folder,
            env={**os.environ, "TZ": "UTC", **(environment or {})})

    @property
    def is_running(self):
        return self.process.poll() is None

    def send(self, number):
        if self.is_running:
            self.process.send_signal(number)

    def end(self, patience=PATIENCE, data=None):
        try:
            output, errors = self.process.communicate(data, timeout=patience)
            status = self.process.returncode
        except subprocess.TimeoutExpired:
            stuck = self.threads()
            self.kill()
            output, errors = self.process.communicate()
            errors += stuck.encode()
            status = None
        return Result(self.arguments, status, text(output), text(errors))

    def threads(self):
        """What each thread is waiting for, as the kernel tells it, and as a debugger does where there is one."""
        pid = self.process.pid
        found = []
        for task in sorted(os.listdir(f"/proc/{pid}/task")):
            try:
                with open(f"/proc/{pid}/task/{task}/syscall") as call, open(f"/proc/{pid}/task/{task}/comm") as name:
                    found.append(f"{name.read().strip()}: {call.read().strip()}")
            except OSError:
                continue
        if shutil.which("gdb"):
            trace = subprocess.run(
                ["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                timeout=60, check=False)
            found += [line for line in text(trace.stdout).splitlines() if line.startswith(("#", "Thread"))]
        return "\n".join(found)

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def text(data):
    return (data or b"").decode("utf-8", "replace")


def eventually(condition, patience=PATIENCE, step=0.01):
    """Whether a condition comes true in time."""
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(step)
    return True
