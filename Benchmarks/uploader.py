"""Times `ferry run`, a link of 50 ms round trips and an idle uploader. Called by scripts/bench with Ferry's path."""
import os, shutil, signal, statistics, subprocess, sys, tempfile, threading, time
import queue, socket

#: With FERRY_OLD another Ferry, one of before a change, is timed after this one. This one writes the segments of both.
ferry, old = sys.argv[1], os.environ.get("FERRY_OLD")
ferries = {"ferry": ferry, **({"before": old} if old else {})}
work = tempfile.mkdtemp(prefix="ferry-bench-")


def path(*parts):
    return os.path.join(work, *parts)


class Link:
    """A proxy that hands every chunk on after a delay, and notes when answers come back."""

    def __init__(self, port, to, delay):
        self.to, self.delay, self.answers = to, delay, queue.Queue()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.to))
            for s in (near, far):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.pump(near, far, None)
            self.pump(far, near, self.answers)

    def pump(self, source, target, notes):
        chunks = queue.Queue()

        def read():
            while data := source.recv(1 << 18):
                now = time.monotonic()
                if notes is not None:
                    notes.put(now)
                chunks.put((now + self.delay, data))
            chunks.put((0, b""))

        def write():
            while True:
                due, data = chunks.get()
                if not data:
                    try:
                        target.shutdown(socket.SHUT_WR)
                    except OSError:
                        pass
                    return
                time.sleep(max(0, due - time.monotonic()))
                try:
                    target.sendall(data)
                except OSError:
                    return

        threading.Thread(target=read, daemon=True).start()
        threading.Thread(target=write, daemon=True).start()


def start(*command):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def hub(binary, port):
    shutil.rmtree(path("hub"), ignore_errors=True)
    process = start(binary, "receive", "--quiet", "--listen", f"127.0.0.1:{port}", "--spool", path("hub"))
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process
        except OSError:
            time.sleep(0.02)


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.wait()


def over_the_link(binary):
    count = 1500
    receiver, _ = hub(binary, 18901), Link(18902, 18901, 0.025)
    print(f"\n{count} segments of 4 KB to ferry receive over a link of 50 ms round trips, 3 connections (goal: 20x)")
    seconds = {}
    for name, more in (("one request a segment", ["--coalesce", "off"]), ("joined by itself", [])):
        shutil.rmtree(path("spool"), ignore_errors=True)
        os.mkdir(path("spool"))
        for number in range(count):
            # Noise, so that a segment of 4 KB is one on the wire.
            line = '{"n":"' + os.urandom(2000).hex() + '"}\n'
            subprocess.run([ferry, "write", "--create", "--quiet", "--spool", path("spool")], input=line, text=True, check=True)
        begin = time.monotonic()
        subprocess.run(
            [binary, "upload", "--quiet", "--spool", path("spool"), "--to", "http://127.0.0.1:18902/v1/segments",
             "--parallel", "3", "--delete-sent", *more], check=True)
        seconds[name] = time.monotonic() - begin
        print(f"  {name:24} {count / seconds[name]:8.0f} segments/s")
    slow, fast = seconds.values()
    print(f"  ratio                    {slow / fast:8.1f}x")
    stop(receiver)


def from_rename_to_answer(binary):
    receiver, link = hub(binary, 18911), Link(18912, 18911, 0)
    shutil.rmtree(path("spool"), ignore_errors=True)
    # An empty folder may be one whose file system is missing: it is looked at now and then only.
    subprocess.run([binary, "init", path("spool")], check=True, stdout=subprocess.DEVNULL)
    run = start(binary, "run", "--quiet", "--spool", path("spool"), "--to", "http://127.0.0.1:18912/v1/segments")
    time.sleep(1)
    subprocess.run([ferry, "write", "--create", "--quiet", "--spool", path("other")], input='{"n":1}\n', text=True, check=True)
    content = open(path("other", next(n for n in os.listdir(path("other")) if n.endswith(".gz"))), "rb").read()
    times = []
    for number in range(200):
        name = f"5-20261121T030000.{number:03d}Z-{number:016d}.jsonl.gz"
        with open(path("spool", ".new"), "wb") as file:
            file.write(content)
        begin = time.monotonic()
        os.rename(path("spool", ".new"), path("spool", name))
        times.append(link.answers.get(timeout=10) - begin)
        time.sleep(0.02)
    times.sort()
    print("\nfrom a segment's rename to the receiver's 200 on loopback, through a noting proxy (goal: median under 10 ms)")
    print(f"  median {statistics.median(times) * 1000:.1f} ms, 95% {times[189] * 1000:.1f} ms, worst {times[-1] * 1000:.1f} ms")
    stop(run)
    stop(receiver)


def idle(binary):
    shutil.rmtree(path("spool"), ignore_errors=True)
    os.mkdir(path("spool"))
    folder = os.open(path("spool"), os.O_RDONLY)
    for i in range(100_000):
        name = f"5-20261121T{i // 3600 % 24:02d}{i // 60 % 60:02d}{i % 60:02d}.{i % 1000:03d}Z-{i * 2654435761 % 2**64:016x}.jsonl.gz"
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=folder))
    # Sound enough for the first tries; nobody answers.
    run = start(binary, "run", "--quiet", "--spool", path("spool"), "--to", "http://127.0.0.1:9/v1", "--set", "verify=never")
    time.sleep(5)

    def ticks():
        fields = open(f"/proc/{run.pid}/stat").read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    before = ticks()
    time.sleep(60)
    used = (ticks() - before) / os.sysconf("SC_CLK_TCK")
    peak = next(line.split()[1] for line in open(f"/proc/{run.pid}/status") if line.startswith("VmHWM"))
    print("\nidle for a minute with 100,000 pending segments and a dead destination (goal: under 0.1 % CPU, 60 MB)")
    print(f"  {used / 60 * 100:.3f} % CPU, {int(peak) / 1024:.0f} MB")
    stop(run)


try:
    for name, binary in ferries.items():
        print(f"\n{name}")
        over_the_link(binary)
        from_rename_to_answer(binary)
        idle(binary)
finally:
    shutil.rmtree(work, ignore_errors=True)
