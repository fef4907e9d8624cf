"""Plays histories until the time is over, several at once, and shrinks those that fail."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from common.options import Outcome

from . import tools as toolbox
from .plan import profile_of, steps_of

#: A history that takes longer than this hangs.
PATIENCE = 600


def run(options):
    outcome = Outcome(counts={"histories": 0, "steps": 0})
    folder = tempfile.mkdtemp(prefix="ferry-model-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    os.chmod(folder, 0o755)
    try:
        tools = toolbox.find(options.ferry, options.ferry_old, folder)
        if options.case:
            seed, _, steps = options.case.partition(":")
            report(outcome, options, int(seed), play(folder, tools, int(seed), parse(steps)), folder, tools, shrinks=False)
        else:
            play_many(outcome, options, folder, tools)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def parse(steps):
    return [int(step) for step in steps.split(",")] if steps else None


def play_many(outcome, options, folder, tools):
    end = time.monotonic() + options.seconds
    seed = options.seed
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {}
        while time.monotonic() < end or waiting:
            while time.monotonic() < end and len(waiting) < options.jobs:
                waiting[pool.submit(play, folder, tools, seed, None)] = seed
                seed += 1
            done, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                report(outcome, options, waiting.pop(future), future.result(), folder, tools, shrinks=True)


def play(folder, tools, seed, steps):
    """Plays a history in a process of its own, with mounts of its own. Returns its verdict."""
    place = tempfile.mkdtemp(prefix=f"{seed}-", dir=folder)
    os.chmod(place, 0o755)
    task = json.dumps({"folder": place + "/world", "seed": seed, "steps": steps, "tools": vars(tools)})
    command = [sys.executable, "-B", "-m", "model.play"]
    if tools.can_mount:
        command = ["unshare", "-m", "--propagation", "private", *command]
    try:
        done = subprocess.run(
            command, input=task, capture_output=True, text=True, timeout=PATIENCE,
            cwd=pathlib.Path(__file__).resolve().parents[1])
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"violations": [f"the history did not end within {PATIENCE} s"], "log": [], "steps": 0}
    except (ValueError, IndexError):
        return {"violations": [f"the harness: {done.stderr[-2000:]}"], "log": [], "steps": 0}
    finally:
        shutil.rmtree(place, ignore_errors=True)


def report(outcome, options, seed, verdict, folder, tools, shrinks):
    outcome.counts["histories"] += 1
    outcome.counts["steps"] += verdict["steps"]
    if not verdict["violations"]:
        return
    print(f"FAILED: seed {seed}: {verdict['violations'][0]}", flush=True)
    steps = None
    if shrinks and not verdict["violations"][0].startswith("the harness"):
        steps, verdict = shrink(folder, tools, seed, verdict, seconds=min(120, options.seconds))
    case = f"{seed}:{','.join(map(str, steps))}" if steps else str(seed)
    # One cause makes many violations.
    more = len(verdict["violations"]) - 5
    violations = verdict["violations"][:5] + ([f"and {more} more"] if more > 0 else [])
    log = [line for line in verdict["log"] if not line.startswith("VIOLATION")]
    text = "\n".join(["", *violations, *log]).replace("\n", "\n    ")
    text = f"scripts/torture --only model --case {case}{text}"
    print(text, flush=True)
    outcome.failures.append(text)
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
        (pathlib.Path(options.keep) / f"model-{seed}.txt").write_text(text)


def kind(verdict):
    """What sort of failure it is: its text without names and numbers."""
    return [word for word in verdict["violations"][0].split() if word.isalpha()][:6]


def shrink(folder, tools, seed, verdict, seconds):
    """Leaves out steps for as long as the rest still fails. A failure that needs luck may be lost on the way; then more is left."""
    steps = list(range(len(steps_of(seed, profile_of(seed, tools)))))
    end = time.monotonic() + seconds
    size = len(steps) // 2
    while size >= 1 and time.monotonic() < end:
        start, has_shrunk = 0, False
        while start < len(steps) and time.monotonic() < end:
            rest = steps[:start] + steps[start + size:]
            found = play(folder, tools, seed, rest)
            if found["violations"] and kind(found) == kind(verdict):
                steps, verdict, has_shrunk = rest, found, True
            else:
                start += size
        if not has_shrunk or size > len(steps):
            size //= 2
    return steps, verdict
