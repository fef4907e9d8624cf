"""Times export, import and replay beside cp, sha256sum and upload. Called by scripts/bench with Ferry's path."""
import json, os, random, shutil, statistics, subprocess, sys, tempfile, time

from member import member

#: With FERRY_OLD another Ferry, one of before a change, is timed in turn with this one.
old = os.environ.get("FERRY_OLD")
ferries = {"ferry": sys.argv[1], **({"before:": old} if old else {})}
ferry, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
work = tempfile.mkdtemp(prefix="ferry-bench-")
os.chdir(work)


def measure(*command, before=lambda: None):
    before()
    os.sync()
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed")
    return time.monotonic() - start, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def fresh(*names):
    for name in names:
        shutil.rmtree(name, ignore_errors=True)
        os.mkdir(name)


def by_hand(count, size):
    fresh("spool")
    for i in range(count):
        with open(f"spool/5-20261121T{i // 3600:02d}{i // 60 % 60:02d}{i % 60:02d}.000Z-{i:016d}.jsonl.gz", "wb") as file:
            # Hexadecimal noise deflates to little more than half.
            file.write(member(b'{"n":"' + os.urandom(size).hex()[: int(size * 1.75)].encode() + b'"}\n'))
    both = "cp -r spool/. copy/ && sync -f copy && cd copy && find . -name '*.gz' | xargs sha256sum > ../sums"
    runs = {"cp, sync, sha256sum": []}
    for _ in range(ROUNDS):
        runs["cp, sync, sha256sum"].append(measure("sh", "-c", both, before=lambda: fresh("copy")))
        for name, binary in ferries.items():
            shutil.rmtree("spool/.ferry", ignore_errors=True)
            runs.setdefault(f"{name} export", []).append(
                measure(binary, "export", "stick", "--spool", "spool", before=lambda: fresh("stick", "copy")))
            runs.setdefault(f"{name} import", []).append(
                measure(binary, "import", "stick", "--spool", "hub", before=lambda: fresh("hub")))
    print(f"\n{count} segments of {size / 1000:.0f} kB by hand, all forced to the disk (goal: 0.8x, at most 40 MB)")
    peer = statistics.median(run[0] for run in runs["cp, sync, sha256sum"])
    for name, figures in runs.items():
        seconds = statistics.median(run[0] for run in figures)
        spread = f"({min(f[0] for f in figures):.2f} to {max(f[0] for f in figures):.2f})"
        ratio = "" if name.startswith("cp") else f"  {peer / seconds:.2f}x, {max(f[1] for f in figures):.0f} MB"
        print(f"  {name:24} {seconds:6.2f} s {spread}{ratio}")


def replay():
    subprocess.run(["cc", "-O2", "-w", "-o", "sink", f"{here}/sink.c"], check=True)
    sink = subprocess.Popen(["./sink", "18790"], stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    url, state = "http://127.0.0.1:18790/v1/segments", f"{work}/state"
    try:
        runs = {name: ([], []) for name in ferries}
        for _ in range(ROUNDS):
            for name, binary in ferries.items():
                uploads, replays = runs[name]
                uploads.append(measure(binary, "upload", "--quiet", "--spool", "copy", "--to", url, "--delete-sent", "--verify", "never",
                                       before=lambda: (fresh("copy"), shutil.copytree("spool", "copy", dirs_exist_ok=True,
                                                       ignore=shutil.ignore_patterns(".ferry"))))[0])
                shutil.rmtree("spool/.ferry", ignore_errors=True)
                replays.append(measure(binary, "replay", "--quiet", "spool", "--to", url, "--state", state)[0])
        print("\nreplay of 10,000 segments of 4 KB as they are, beside upload of the same (goal: 1x)")
        for name, figures in runs.items():
            peer, ours = (statistics.median(column) for column in figures)
            print(f"  {name + ' replay':24} {ours:6.2f} s, upload {peer:.2f} s: {peer / ours:.2f}x")
        pick, raw = random.Random(1), 0
        fresh("archive")
        for i in range(40):
            lines = "".join(
                json.dumps({"time": f"2026-11-21T03:{j // 60 % 60:02d}:{j % 60:02d}Z", "name": pick.choice(["Purchase", "View", "Click"]),
                            "id": f"{pick.getrandbits(128):032x}",
                            "properties": {"total": pick.randrange(1000), "page": "/home/index.html", "list": [1, 2, 3]}}) + "\n"
                for j in range(20000))
            raw += len(lines)
            with open(f"archive/5-20261121T03{i:02d}00.000Z-{i:016d}.jsonl.gz", "wb") as file:
                file.write(member(lines.encode()))
        condition = 'name == "Purchase" && properties.total > 990'
        print(f"\nreplay --where '{condition}' (goal: 150 MB of JSON a CPU second)")
        runs = {name: [] for name in ferries}
        for _ in range(ROUNDS):
            for name, binary in ferries.items():
                runs[name].append(measure(binary, "replay", "--quiet", "archive", "--to", url, "--state", state, "--where", condition))
        for name, figures in runs.items():
            print(f"  {name:24} {raw / 1e6 / statistics.median(f[2] for f in figures):.0f} MB a CPU second, {max(f[1] for f in figures):.0f} MB")
    finally:
        sink.kill()


try:
    by_hand(60, 7_000_000)
    by_hand(10_000, 4_000)
    replay()
finally:
    shutil.rmtree(work, ignore_errors=True)
