"""Several ways into one hub at once: two receivers and imports share a spool, bring the same segments, are killed, and find the disk full."""

import concurrent.futures
import os
import pathlib
import shutil
import tempfile
import time

from common.options import Outcome

from .history import History


def run(options):
    outcome = Outcome(counts={"histories": 0, "rounds": 0, "kills": 0, "full disks": 0})
    folder = tempfile.mkdtemp(prefix="ferry-arrivals-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        if options.case:
            report(outcome, options, play(folder, options, int(options.case)))
        else:
            play_many(outcome, options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def play_many(outcome, options, folder):
    end = time.monotonic() + options.seconds
    seed = options.seed
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = set()
        while time.monotonic() < end or waiting:
            while time.monotonic() < end and len(waiting) < options.jobs:
                waiting.add(pool.submit(play, folder, options, seed))
                seed += 1
            done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                report(outcome, options, future.result())


def play(folder, options, seed):
    history = History(tempfile.mkdtemp(prefix=f"{seed}-", dir=folder), options.ferry, seed)
    history.play()
    if history.problems and options.keep:
        shutil.copytree(history.root, pathlib.Path(options.keep) / f"arrivals-{seed}", symlinks=True, dirs_exist_ok=True)
    history.remove()
    return history


def report(outcome, options, history):
    for what, count in history.counts.items():
        outcome.counts[what] += count
    if not history.problems:
        return
    text = "\n    ".join([f"scripts/torture --only arrivals --case {history.seed}", *history.problems[:5], *history.history[-40:]])
    print(f"FAILED: seed {history.seed}: {history.problems[0]}\n{text}", flush=True)
    outcome.failures.append(text)
    if options.keep:
        (pathlib.Path(options.keep) / f"arrivals-{history.seed}.txt").write_text(text)
