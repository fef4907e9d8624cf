"""Times uploads into an object store, a folder and two destinations beside rclone, aws, cp and one destination. Called by scripts/bench with Ferry's path.

An object store is measured where AWS_ENDPOINT_URL names one, with credentials in the environment; a bucket of its own is made there.
"""
import itertools, os, shutil, statistics, subprocess, sys, tempfile, time

from member import member

ferry, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
work = tempfile.mkdtemp(prefix="ferry-bench-")
os.chdir(work)
# The store is asked without TLS, and rclone cannot take a bundle of authorities.
os.environ.pop("AWS_CA_BUNDLE", None)
bucket = f"ferry-bench-{os.getpid()}"


def measure(*command, before=lambda: None):
    before()
    os.sync()
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed: {said.decode()[-500:]}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def fresh(*names):
    for name in names:
        shutil.rmtree(name, ignore_errors=True)
        os.mkdir(name)


def write(count, size):
    # In a process of its own: what this one has held in memory would be counted for the commands that it starts.
    if child := os.fork():
        if os.waitpid(child, 0)[1]:
            sys.exit("the segments cannot be made")
        return
    fresh("spool")
    for i in range(count):
        with open(f"spool/5-20261121T{i // 3600:02d}{i // 60 % 60:02d}{i % 60:02d}.000Z-{i:016d}.jsonl.gz", "wb") as file:
            # Hexadecimal noise deflates to little more than half.
            file.write(member(b'{"n":"' + os.urandom(size).hex()[: int(size * 1.75)].encode() + b'"}\n'))
    os._exit(0)


def again():
    shutil.rmtree("copy", ignore_errors=True)
    shutil.copytree("spool", "copy", ignore=shutil.ignore_patterns(".ferry", "sent", "to", ".rsync-filter"))


def second():
    fresh("second")
    shutil.copytree("copy", "second/copy")


def table(title, commands):
    runs = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, (command, before) in commands.items():
            runs[name].append(measure(*command, before=before))
    print(f"\n{title}")
    ours = statistics.median(run[0] for run in runs["ferry"])
    for name, figures in runs.items():
        seconds = statistics.median(run[0] for run in figures)
        spread = f"({min(f[0] for f in figures):.2f} to {max(f[0] for f in figures):.2f})"
        ratio = "" if name == "ferry" else f"  ferry is {seconds / ours:.2f}x as fast"
        print(f"  {name:24} {seconds:7.2f} s {spread}, {max(f[1] for f in figures):.0f} MB{ratio}", flush=True)


places = itertools.count()


def into_store(count, size, label):
    write(count, size)

    # Each run puts into a folder of its own of the bucket: what is there already would be no work.
    commands = {
        "ferry": (["sh", "-c", f"{ferry} upload --quiet --delete-sent --spool copy --to s3://{bucket}/$(cat place)"], None)
    }
    if shutil.which("rclone"):
        commands["rclone copy"] = (
            ["sh", "-c", "RCLONE_S3_PROVIDER=Other RCLONE_S3_ENV_AUTH=true RCLONE_S3_ENDPOINT=$AWS_ENDPOINT_URL "
             f"rclone copy --transfers 3 copy :s3:{bucket}/$(cat place)"], None)
    if shutil.which("aws"):
        commands["aws s3 cp"] = (["sh", "-c", f"aws s3 cp --only-show-errors --recursive copy s3://{bucket}/$(cat place)"], None)

    def prepare():
        again()
        with open("place", "w") as file:
            file.write(f"p{next(places)}")

    table(f"{count} segments of {label} into an object store (goal: small 3x, large 1x, under 40 MB)",
          {name: (command, prepare) for name, (command, _) in commands.items()})


def into_folder(count, size, label):
    write(count, size)
    table(f"{count} segments of {label} into a folder, forced to the disk (goal: 0.8x)", {
        "ferry": ([ferry, "upload", "--quiet", "--delete-sent", "--spool", "copy", "--to", f"file://{work}/share"],
                  lambda: (again(), fresh("share"))),
        "cp, sync": (["sh", "-c", "cp -r copy/. share/ && sync -f share"], lambda: (again(), fresh("share"))),
    })


def into_two(count, size, label):
    subprocess.run(["cc", "-O2", "-w", "-o", "sink", f"{here}/sink.c"], check=True)
    sinks = [subprocess.Popen(["./sink", str(port)], stderr=subprocess.DEVNULL) for port in (18791, 18792)]
    time.sleep(0.3)
    one, other = (f"http://127.0.0.1:{port}/v1/segments" for port in (18791, 18792))
    write(count, size)
    base = [ferry, "upload", "--quiet", "--delete-sent", "--coalesce", "off", "--spool", "copy"]
    try:
        table(f"{count} segments of {label} to two destinations at once, and one after the other", {
            "ferry": (base + ["--to", f"a={one}", "--to", f"b={other}"], again),
            "ferry, one, then the other": (["sh", "-c", " ".join(base + ["--to", one]) + "; cd second; "
                                            + " ".join(base + ["--to", other])], lambda: (again(), second())),
            "ferry, one of the two": (base + ["--to", one], again),
        })
    finally:
        for sink in sinks:
            sink.kill()


def table_server():
    """Starts a ClickHouse server of its own; returns its process."""
    fresh("data", "tmp")
    place = "<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>"
    with open("users.xml", "w") as file:
        file.write(f"<yandex><profiles><default/></profiles><users><default><password></password>{place}</default></users>"
                   "<quotas><default/></quotas></yandex>")
    with open("config.xml", "w") as file:
        file.write(f"<yandex><logger><level>none</level></logger><http_port>18795</http_port><tcp_port>18796</tcp_port>"
                   f"<listen_host>127.0.0.1</listen_host><path>{work}/data/</path><tmp_path>{work}/tmp/</tmp_path>"
                   "<users_config>users.xml</users_config><default_profile>default</default_profile>"
                   "<default_database>default</default_database><mark_cache_size>67108864</mark_cache_size></yandex>")
    server = subprocess.Popen(["clickhouse-server", f"--config-file={work}/config.xml"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    for _ in range(300):
        if subprocess.run(["curl", "-s", "-o", os.devnull, "http://127.0.0.1:18795/ping"]).returncode == 0:
            return server
        time.sleep(0.1)
    sys.exit("clickhouse-server does not answer")


def into_table(count):
    server = table_server()
    address = "http://127.0.0.1:18795/"

    def query(text):
        return subprocess.run(["curl", "-sS", "--fail-with-body", "--data-binary", text, address], check=True, capture_output=True,
                              text=True).stdout.strip()

    try:
        write(count, 400)
        # Each row is an insert: a table of MergeTree's kind would put off what comes faster than it can merge.
        query("CREATE TABLE events (n String) ENGINE = Log")
        names = sorted(name for name in os.listdir("spool") if name.endswith(".gz"))
        with open("requests", "w") as file:
            insert = f'url = "{address}?query=INSERT%20INTO%20default.events%20FORMAT%20JSONEachRow"\nheader = "Content-Encoding: gzip"\n'
            file.write("next\n".join(f'{insert}data-binary = "@spool/{name}"\noutput = "/dev/null"\n' for name in names))

        def prepare():
            again()
            query("DROP TABLE events")
            query("CREATE TABLE events (n String) ENGINE = Log")

        def rows():
            found = int(query("SELECT count() FROM events"))
            if found != count:
                sys.exit(f"{found} of {count} rows are there")

        base = [ferry, "upload", "--quiet", "--delete-sent", "--spool", "copy", "--to", "clickhouse://127.0.0.1:18795/default.events"]
        table(f"{count} segments into a table of ClickHouse, an INSERT each (goal: 1.2x; joined 10x)", {
            "ferry": (base + ["--coalesce", "off"], prepare),
            "curl -Z": (["curl", "-sS", "-Z", "--parallel-max", "3", "-K", "requests"], lambda: (rows(), prepare())),
            "ferry, joined": (base + ["--coalesce", "1MiB"], lambda: (rows(), prepare())),
        })
        rows()
    finally:
        server.kill()


try:
    if shutil.which("clickhouse-server"):
        into_table(int(os.environ.get("SMALL", "10000")))
    else:
        print("\nno table is measured: clickhouse-server is missing")
    if os.environ.get("AWS_ENDPOINT_URL") and shutil.which("aws"):
        subprocess.run(["aws", "s3", "mb", f"s3://{bucket}"], check=True, stdout=subprocess.DEVNULL)
        into_store(int(os.environ.get("SMALL", "10000")), 4000, "4 KB")
        into_store(40, 7_000_000, "7 MB")
    else:
        print("\nno object store is measured: AWS_ENDPOINT_URL names none")
    into_folder(10000, 4000, "4 KB")
    into_folder(40, 7_000_000, "7 MB")
    into_two(10000, 4000, "4 KB")
    into_two(40, 7_000_000, "7 MB")
finally:
    os.chdir("/")
    shutil.rmtree(work)
