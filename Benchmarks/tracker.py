#!/usr/bin/env python3
"""Tracking beside swift-log into a file, SQLite and the kernel's own limit, in one run.

    Benchmarks/tracker.py [ROUNDS]

Builds Benchmarks/Tracker (which needs SQLite's header), then lets each subject store events with eight properties in turn; medians of
the rounds. ROUNDS=1 TEN_MILLION=1 also stores ten million and watches the memory.
"""
import json, os, shutil, statistics, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
rounds = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ROUNDS", 5))
package = os.path.join(here, "Tracker")
subprocess.run(["swift", "build", "-c", "release", "--package-path", package], check=True, stdout=subprocess.DEVNULL)
bench = os.path.join(package, ".build/release/tracker-bench")


def run(subject, events, threads=1):
    folder = tempfile.mkdtemp(prefix="ferry-tracker-bench-", dir=os.environ.get("BENCH_DIR"))
    try:
        done = subprocess.run([bench, subject, folder, str(events), str(threads)], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)
    finally:
        shutil.rmtree(folder)


subjects = [("ferry", 1), ("ferry", 2), ("log", 1), ("sqlite", 1), ("write", 1)]
names = {
    ("ferry", 1): "Ferry", ("ferry", 2): "Ferry, two threads", ("log", 1): "swift-log into a file",
    ("sqlite", 1): "SQLite, an insert an event", ("write", 1): "write(2) of the same bytes: the limit",
}
events = {"sqlite": 200_000}
results = {subject: [] for subject in subjects}
for _ in range(rounds):
    for subject in subjects:
        results[subject].append(run(subject[0], events.get(subject[0], 1_000_000), subject[1]))


def median(subject, field):
    return statistics.median(result[field] for result in results[subject])


ferry = median(("ferry", 1), "rate")
print(f"events with eight properties, medians of {rounds}\n")
print(f"{'':40}{'events/s':>10}{'Ferry is':>10}{'p50 us':>8}{'p99 us':>8}{'peak MB':>9}")
for subject in subjects:
    rate = median(subject, "rate")
    print(
        f"{names[subject]:40}{rate:>10,.0f}{ferry / rate:>9.2f}x{median(subject, 'p50'):>8.1f}{median(subject, 'p99'):>8.1f}"
        f"{median(subject, 'peakMB'):>9.0f}"
    )
disk = [run("ferry-disk", 2000), run("ferry-disk", 2000, 4)]
print(f"\nwith durability .disk: {disk[0]['rate']:,.0f} events/s from one thread, {disk[1]['rate']:,.0f} from four")
if os.environ.get("TEN_MILLION"):
    one, ten = run("ferry", 1_000_000), run("ferry", 10_000_000)
    print(f"ten million events: {ten['rate']:,.0f}/s, {ten['peakMB']:.1f} MB at most; one million: {one['peakMB']:.1f} MB")
