"""Times Ferry beside its peers, in turn, and prints medians and ratios. Called by scripts/bench with Ferry's path."""
import os, shutil, signal, socket, statistics, subprocess, sys, tempfile, time
from member import member

#: With FERRY_OLD another Ferry, one of before a change, is timed in turn with this one.
old = os.environ.get("FERRY_OLD")
ferry, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
work = tempfile.mkdtemp(prefix="ferry-bench-")


def path(*parts):
    return os.path.join(work, *parts)


def compile(name, *flags):
    subprocess.run(["cc", "-O2", "-w", *flags, "-o", path(name), f"{here}/{name}.c"], check=True)


def measure(command, prepare=None, codes=(0,)):
    """Seconds, CPU seconds and megabytes at the peak of one run."""
    if prepare:
        prepare()
    os.sync()
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        sys.exit(f"{command} failed with {process.returncode}: {errors.decode()}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(title, ours, peers, rounds=ROUNDS):
    """Each a name and a way to measure once; printed with ratios to ours."""
    runs = {name: [] for name, _ in [ours, *peers]}
    for _ in range(rounds):
        for name, once in [ours, *peers]:
            runs[name].append(once())
    print(f"\n{title}")
    medians = {name: [statistics.median(column) for column in zip(*figures)] for name, figures in runs.items()}
    for name, (seconds, cpu, megabytes) in medians.items():
        ratio = "" if name == ours[0] else f"   ferry is {seconds / medians[ours[0]][0]:.2f}x as fast"
        low, high = min(f[0] for f in runs[name]), max(f[0] for f in runs[name])
        print(f"  {name:24} {seconds:7.3f} s ({low:.3f} to {high:.3f})  {cpu:6.2f} cpu s  {megabytes:6.0f} MB{ratio}")


def rates(title, text, ours, peers, rounds=ROUNDS):
    """As compare(), of work on so many bytes of JSON, with what a CPU second does of it."""
    runs = {name: [] for name, _ in [ours, *peers]}
    for _ in range(rounds):
        for name, once in [ours, *peers]:
            runs[name].append(once())
    print(f"\n{title}")
    medians = {name: [statistics.median(column) for column in zip(*figures)] for name, figures in runs.items()}
    for name, (seconds, cpu, megabytes) in medians.items():
        ratio = "" if name == ours[0] else f"   ferry does {cpu / medians[ours[0]][1]:.2f}x as much in a cpu second"
        print(f"  {name:24} {seconds:7.3f} s  {cpu:6.2f} cpu s  {megabytes:6.0f} MB  {text / 1e6 / cpu:6.0f} MB of JSON a cpu second{ratio}")


def receiving(program, url, upload):
    """Seconds of an upload, and CPU seconds and megabytes of the receiver that takes it."""
    subprocess.run([ferry, "init", "--quiet", path("received")], check=True)
    receiver = subprocess.Popen(
        [program, "receive", "--quiet", "--listen", url.split("/")[2], "--spool", path("received")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", int(url.split("/")[2].split(":")[1]))) == 0:
                break
        time.sleep(0.05)
    seconds, _, _ = measure(upload)
    receiver.send_signal(signal.SIGTERM)
    _, _, usage = os.wait4(receiver.pid, 0)
    receiver.returncode = 0
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def size(folder):
    return sum(entry.stat().st_size for entry in os.scandir(folder) if entry.name.endswith(".gz"))


def before(*arguments, prepare=None):
    """A row for FERRY_OLD, if there is one."""
    return [("ferry before", lambda: measure([old, *arguments], prepare))] if old else []


def fill(data):
    def copy():
        for name in ("spool", "out"):
            shutil.rmtree(path(name), ignore_errors=True)
        shutil.copytree(path("data", data), path("spool"))
        os.mkdir(path("out"))

    return copy


def main():
    for name in ("sink", "listing"):
        compile(name)
    compile("rawput", "-pthread")
    print("making data", flush=True)
    subprocess.run([sys.executable, f"{here}/gen.py"], cwd=work, check=True)
    port = 18787
    sink = subprocess.Popen([path("sink"), str(port)], stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    url = f"http://127.0.0.1:{port}/v1/segments"
    try:
        compare("--help (limit 30 ms)", ("ferry --help", lambda: measure([ferry, "--help"])), before("--help"), rounds=20)

        upload = ["upload", "--quiet", "--spool", path("spool"), "--to", url, "--parallel", "3"]
        raw = [path("rawput"), str(port), path("spool"), "3", path("out")]
        with open(path("curl"), "w") as config:
            for number, name in enumerate(sorted(os.listdir(path("data", "d1")))):
                config.write("next\n" if number else "")
                config.write(f'url = "{url}"\ndata-binary = "@{path("data", "d1", name)}"\noutput = /dev/null\n')
        curl = ["curl", "-s", "-Z", "--parallel-max", "3", "-K", path("curl")]
        compare(
            "10,000 segments of 4 KB, claim, ledger and rename included (goal: 1.5x curl)",
            ("ferry upload", lambda: measure([ferry, *upload], fill("d1"))),
            [*before(*upload, prepare=fill("d1")), ("curl -Z", lambda: measure(curl)), ("limit: rawput + rename", lambda: measure(raw, fill("d1")))])
        for data, title in (("d2", "200 x 0.9 MB"), ("d3", "40 x 7 MB")):
            compare(
                f"{title}, --verify never (goal: 0.7x the limit, at most 40 MB)",
                ("ferry upload", lambda: measure([ferry, *upload, "--verify", "never"], fill(data))),
                [*before(*upload, "--verify", "never", prepare=fill(data)), ("limit: rawput + rename", lambda: measure(raw, fill(data)))])

        big = path("data", "big.jsonl")
        write = ["--quiet", "--spool", path("spool"), big]
        def clean():
            shutil.rmtree(path("spool"), ignore_errors=True)
        sizes = {}
        def sized(name, place, once):
            def run():
                result = once()
                sizes[name] = size(place) if os.path.isdir(place) else os.path.getsize(place)
                return result
            return name, run
        def written(program, *options):
            return lambda: measure([program, "write", "--create", *options, *write], clean)
        def gzipped(level):
            return lambda: measure(["sh", "-c", f"gzip -{level} -c {big} > {path('big.gz')}"])
        compare(
            "512 MB of JSON lines (goal: 5x gzip -6, no larger than gzip -1's, at most 64 MB)",
            sized("ferry write", path("spool"), written(ferry)),
            [*([sized("ferry before", path("spool"), written(old))] if old else []),
             sized("ferry write --level fast", path("spool"), written(ferry, "--level", "fast")),
             sized("ferry write --level 6", path("spool"), written(ferry, "--level", "6")),
             sized("gzip -6", path("big.gz"), gzipped(6)), sized("gzip -1", path("big.gz"), gzipped(1))], rounds=min(ROUNDS, 2))
        print("  " + ", ".join(f"{name}: {bytes / 1e6:.1f} MB" for name, bytes in sizes.items()))

        fill("d3")()
        segments = path("data", "d3")
        text = int(subprocess.check_output(["sh", "-c", f"cat {segments}/*.gz | zcat | wc -c"]))
        zcat = ("zcat", lambda: measure(["sh", "-c", f"zcat {segments}/*.gz > /dev/null"]))
        verify = ["verify", "--quiet", "--spool", path("spool")]
        rates(
            "40 x 7 MB, checked deeply (goal: 450 MB of JSON a cpu second)", text,
            ("ferry verify", lambda: measure([ferry, *verify])), [*before(*verify), zcat], rounds=min(ROUNDS, 3))
        def received(program):
            def run():
                fill("d3")()
                shutil.rmtree(path("received"), ignore_errors=True)
                return receiving(program, f"http://127.0.0.1:{port + 1}/v1/segments",
                                 [ferry, "upload", "--quiet", "--spool", path("spool"), "--to", f"http://127.0.0.1:{port + 1}/v1/segments", "--parallel", "3"])
            return run
        rates(
            "40 x 7 MB, received (goal: 400 MB of JSON a cpu second)", text,
            ("ferry receive", received(ferry)), [*([("ferry before", received(old))] if old else []), zcat], rounds=min(ROUNDS, 3))

        shutil.rmtree(path("spool"), ignore_errors=True)
        os.mkdir(path("spool"))
        names = (f"{i % 3}-20261121T{i // 3600 % 24:02d}{i // 60 % 60:02d}{i % 60:02d}.{i % 1000:03d}Z-{i * 2654435761 % 2**64:016x}.jsonl.gz"
                 for i in range(1_000_000))
        folder = os.open(path("spool"), os.O_RDONLY)
        content = member(b'{"n":1}\n')
        for name in names:
            file = os.open(name, os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=folder)
            os.write(file, content)
            os.close(file)
        limit = ("limit: list+sort+stat", lambda: measure([path("listing"), path("spool")]))
        status, first = ["status", "--spool", path("spool")], [*upload, "--dry-run", "--limit", "1"]
        compare(
            "1,000,000 pending segments (goal: at most 2x the limit's time, 300 MB)",
            ("ferry status", lambda: measure([ferry, *status])), [*before(*status), limit], rounds=min(ROUNDS, 3))
        compare(
            "the same, first segment",
            ("upload --dry-run", lambda: measure([ferry, *first])), [*before(*first), limit], rounds=min(ROUNDS, 3))
    finally:
        sink.send_signal(signal.SIGTERM)
        subprocess.run(["rm", "-rf", work])


main()
