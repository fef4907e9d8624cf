"""Times small requests over round trips of 50 ms: HTTP/2 beside HTTP/1.1, by requests under way at once, and Ferry beside both.

Needs nginx, which offers both by ALPN, and h2load (Debian's nghttp2-client), which speaks both. Called with Ferry's path.
"""
import asyncio, multiprocessing, os, re, shutil, socket, statistics, subprocess, sys, tempfile, time

from member import member

ferry, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
COUNT, BYTES, ONE_WAY = 1500, 4096, 0.025
SINK, SERVER, RELAY = 18791, 18443, 18444


async def relay():
    """Delivers what comes 25 ms later, in both directions, at any rate."""

    async def way(reader, writer):
        loop, queue = asyncio.get_running_loop(), asyncio.Queue()

        async def take():
            while True:
                data = await reader.read(1 << 18)
                await queue.put((loop.time() + ONE_WAY, data))
                if not data:
                    return

        async def give():
            while True:
                at, data = await queue.get()
                await asyncio.sleep(max(0, at - loop.time()))
                if not data:
                    return writer.close()
                writer.write(data)

        await asyncio.gather(take(), give(), return_exceptions=True)

    async def accept(reader, writer):
        # The handshake of TCP takes a round trip as well.
        await asyncio.sleep(2 * ONE_WAY)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", SERVER)
        await asyncio.gather(way(reader, far_writer), way(far_reader, writer), return_exceptions=True)

    server = await asyncio.start_server(accept, "127.0.0.1", RELAY)
    await server.serve_forever()


def configure():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
    paths = " ".join(f"{kind}_temp_path {os.getcwd()}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open("nginx.conf", "w") as file:
        file.write(f"""
            worker_processes 1; daemon off; pid {os.getcwd()}/pid; error_log stderr crit;
            events {{ worker_connections 1024; }}
            http {{ access_log off; keepalive_requests 1000000; http2_max_concurrent_streams 256; {paths} client_max_body_size 100m; client_body_buffer_size 2m;
                upstream sink {{ server 127.0.0.1:{SINK}; keepalive 64; }}
                server {{ listen 127.0.0.1:{SERVER} ssl http2; ssl_certificate cert.pem; ssl_certificate_key key.pem;
                    location / {{ proxy_pass http://sink; proxy_http_version 1.1; proxy_set_header Connection ""; }} }} }}""")


def wait_for(port):
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit(f"nothing listens on {port}")


def load(*arguments):
    said = subprocess.run(["h2load", "-n", str(COUNT), "-d", "body", *arguments, f"https://127.0.0.1:{RELAY}/x"], check=True,
                          capture_output=True, text=True).stdout
    value, unit = re.search(r"finished in ([\d.]+)(ms|s)", said).groups()
    return float(value) / (1000 if unit == "ms" else 1)


def upload(*arguments):
    shutil.rmtree("copy", ignore_errors=True)
    shutil.copytree("spool", "copy")
    start = time.monotonic()
    subprocess.run([ferry, "upload", "--quiet", "--delete-sent", "--ca", "cert.pem", "--spool", "copy", *arguments, "--to",
                    f"https://127.0.0.1:{RELAY}/v1/segments"], check=True)
    return time.monotonic() - start


def main():
    if not all(shutil.which(name) for name in ("nginx", "h2load", "openssl")):
        sys.exit("\nround trips are not measured: nginx, h2load (nghttp2-client) and openssl are needed")
    work = tempfile.mkdtemp(prefix="ferry-bench-")
    os.chdir(work)
    processes = []
    try:
        configure()
        with open("body", "wb") as file:
            file.write(os.urandom(BYTES))
        os.mkdir("spool")
        for i in range(COUNT):
            with open(f"spool/5-20261121T00{i // 60:02d}{i % 60:02d}.000Z-{i:016d}.jsonl.gz", "wb") as file:
                file.write(member(b'{"n":"' + os.urandom(BYTES).hex()[: int(BYTES * 1.75)].encode() + b'"}\n'))
        subprocess.run(["cc", "-O2", "-w", "-o", "sink", f"{here}/sink.c"], check=True)
        processes.append(subprocess.Popen(["./sink", str(SINK)], stderr=subprocess.DEVNULL))
        processes.append(subprocess.Popen(["nginx", "-p", work, "-c", "nginx.conf"]))
        relaying = multiprocessing.Process(target=lambda: asyncio.run(relay()), daemon=True)
        relaying.start()
        processes.append(relaying)
        for port in (SINK, SERVER, RELAY):
            wait_for(port)
        kinds = {
            "ferry, 3 connections": lambda: upload("--parallel", "3", "--coalesce", "off"),
            "HTTP/1.1, 3 connections": lambda: load("--h1", "-c", "3"),
            "HTTP/2, 3 requests at once": lambda: load("-c", "1", "-m", "3"),
            "ferry, 32 connections": lambda: upload("--parallel", "32", "--coalesce", "off"),
            "HTTP/1.1, 32 connections": lambda: load("--h1", "-c", "32"),
            "HTTP/2, 32 requests at once": lambda: load("-c", "1", "-m", "32"),
            "HTTP/2, 100 requests at once": lambda: load("-c", "1", "-m", "100"),
            "ferry, 3 connections, joined": lambda: upload("--parallel", "3", "--coalesce", "1MiB"),
        }
        runs = {name: [] for name in kinds}
        for _ in range(ROUNDS):
            for name, run in kinds.items():
                runs[name].append(run())
        first = statistics.median(next(iter(runs.values())))
        print(f"\n{COUNT} requests of {BYTES} bytes over round trips of 50 ms, with TLS")
        for name, times in runs.items():
            median = statistics.median(times)
            print(f"  {name:30} {median:7.2f} s ({min(times):.2f} to {max(times):.2f})  {first / median:6.1f}x the first", flush=True)
    finally:
        for process in processes:
            # Killed, nginx's master would leave a worker with the port.
            process.terminate()
        os.chdir("/")
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
