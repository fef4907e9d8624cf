"""Times `ferry receive` beside the limit of storing durably and rsync to a daemon, and lets a thousand machines send at once. Called by
scripts/bench with Ferry's path."""
import os, shutil, signal, socket, statistics, subprocess, sys, tempfile, time, zlib

#: With FERRY_OLD another Ferry, one of before a change, is timed in turn with this one.
ferry, old = sys.argv[1], os.environ.get("FERRY_OLD")
here = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
MACHINES = int(os.environ.get("MACHINES", "1000"))
work = tempfile.mkdtemp(prefix="ferry-bench-")


def path(*parts):
    return os.path.join(work, *parts)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server under measurement: its CPU seconds and memory are known when it has ended."""

    def __init__(self, *command, port):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(400):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                time.sleep(0.025)
        sys.exit(f"{command} does not listen")

    def end(self):
        """CPU seconds, megabytes at the peak."""
        self.process.send_signal(signal.SIGTERM)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def received(program, data, *options, gather=()):
    """Seconds of `ferry upload` into `program receive`, and the receiver's CPU seconds and megabytes."""
    fresh()
    shutil.copytree(path("data", data), path("spool"))
    os.sync()
    port = free_port()
    server = Server(program, "receive", "--listen", f"127.0.0.1:{port}", "--spool", path("hub"), *gather, port=port)
    start = time.monotonic()
    upload = [ferry, "upload", "--quiet", "--spool", path("spool"), "--to", f"http://127.0.0.1:{port}/v1/segments", "--parallel", "3"]
    subprocess.run([*upload, *options], check=True, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    figures = server.end()
    names = [name for name in os.listdir(path("hub")) if name.endswith(".jsonl.gz")]
    if not names:
        sys.exit("nothing was received")
    return seconds, *figures


def durable(size, count, threads, batch):
    """The limit: so many files stored durably. Seconds, and no figures of a server."""
    fresh()
    os.sync()
    start = time.monotonic()
    subprocess.run([path("durable"), path("stored"), str(count), str(size), str(threads), str(batch)], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start, 0, 0


def rsync(data):
    """rsync to a daemon that is asked to force each file. Seconds, and no figures of the daemon, which forks."""
    fresh()
    os.mkdir(path("stored"))
    os.sync()
    port = free_port()
    with open(path("rsyncd.conf"), "w") as file:
        file.write(f"use chroot = no\n[hub]\npath = {path('stored')}\nread only = no\nuid = {os.getuid()}\ngid = {os.getgid()}\n")
    server = Server("rsync", "--daemon", "--no-detach", f"--port={port}", "--address=127.0.0.1", f"--config={path('rsyncd.conf')}", port=port)
    start = time.monotonic()
    subprocess.run(["rsync", "-a", "--fsync", path("data", data) + "/", f"rsync://127.0.0.1:{port}/hub/"], check=True)
    seconds = time.monotonic() - start
    server.end()
    return seconds, 0, 0


def fresh():
    for name in ("spool", "hub", "stored"):
        shutil.rmtree(path(name), ignore_errors=True)


def compare(title, ours, others):
    """Each a name and a way to measure once; printed with ratios to ours."""
    runs = {name: [] for name, _ in [ours, *others]}
    for _ in range(ROUNDS):
        for name, once in [ours, *others]:
            runs[name].append(once())
    print(f"\n{title}", flush=True)
    medians = {name: [statistics.median(column) for column in zip(*figures)] for name, figures in runs.items()}
    for name, (seconds, cpu, megabytes) in medians.items():
        ratio = "" if name == ours[0] else f"   ferry takes {medians[ours[0]][0] / seconds:.2f}x as long"
        low, high = min(f[0] for f in runs[name]), max(f[0] for f in runs[name])
        server = f"  {cpu:6.2f} cpu s  {megabytes:6.0f} MB" if cpu else " " * 23
        print(f"  {name:36} {seconds:7.3f} s ({low:.3f} to {high:.3f}){server}{ratio}", flush=True)
    return medians


def swarm(machines, count):
    """What the load generator prints of so many machines, and the receiver's CPU seconds and megabytes."""
    fresh()
    tokens = []
    for number in range(machines):
        add = subprocess.run(
            [ferry, "machine", "add", f"m{number}", "--machines", path("hub")], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        tokens.append(add.stdout.strip())
    with open(path("tokens"), "w") as file:
        file.write("\n".join(tokens) + "\n")
    os.sync()
    port = free_port()
    server = Server(
        ferry, "receive", "--listen", f"127.0.0.1:{port}", "--machines", path("hub"), "--max-connections", str(4 * machines + 100), port=port)
    segment = path("data", "d1", sorted(os.listdir(path("data", "d1")))[0])
    line = subprocess.run([path("swarm"), str(port), path("tokens"), segment, str(count)], stdout=subprocess.PIPE, text=True).stdout.strip()
    cpu, megabytes = server.end()
    print(f"  {line}; receiver {cpu:.2f} cpu s, {megabytes:.0f} MB", flush=True)


def main():
    for name in ("durable", "swarm"):
        subprocess.run(["cc", "-O2", "-w", "-pthread", "-o", path(name), f"{here}/{name}.c"], check=True)
    print("making data", flush=True)
    subprocess.run([sys.executable, f"{here}/gen.py"], cwd=work, check=True)
    os.remove(path("data", "big.jsonl"))
    try:
        before = lambda data, *options: [("ferry before", lambda: received(old, data, *options))] if old else []
        size = os.path.getsize(path("data", "d1", os.listdir(path("data", "d1"))[0]))
        limits = [
            ("limit: stored durably, 3 threads", lambda: durable(size, 10_000, 3, 1)),
            ("limit: the same, 16 a forced folder", lambda: durable(size, 10_000, 3, 16)),
        ]
        gathered = lambda *options: ("with --gather 8MiB", lambda: received(ferry, "d1", *options, gather=("--gather", "8MiB")))
        peers = [("rsync --fsync to a daemon", lambda: rsync("d1"))] if shutil.which("rsync") else []
        compare(
            "10,000 segments of 4 KB over 3 connections, not joined (goal: 2x the first limit, 1.8 cpu s)",
            ("ferry receive", lambda: received(ferry, "d1", "--coalesce", "off")), [gathered("--coalesce", "off"), *before("d1", "--coalesce", "off"), *limits, *peers])
        compare(
            "the same, as by default: joined (goal: 1x the second limit)",
            ("ferry receive", lambda: received(ferry, "d1")), [gathered(), *before("d1"), *limits[1:]])
        json = sum(len(zlib.decompress(open(path("data", "d3", name), "rb").read(), 31)) for name in os.listdir(path("data", "d3")))
        large = compare("40 segments of 7 MB (goal: 400 MB of JSON a cpu second)", ("ferry receive", lambda: received(ferry, "d3")), before("d3"))
        for name, (_, cpu, _) in large.items():
            print(f"  {name}: {json / 1e6 / cpu:.0f} MB of JSON a cpu second")
        print(f"\n{MACHINES} machines at once, 20 segments of 4 KB each; beside it 3 machines (goal: half their rate, 99 % under 1 s, 150 MB)", flush=True)
        for machines, count in ((MACHINES, 20), (3, MACHINES * 20 // 3)):
            swarm(machines, count)
    finally:
        subprocess.run(["rm", "-rf", work])


main()
