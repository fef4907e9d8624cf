"""What segments are sent to: Ferry's own receiver, and one in Python that goes by keys and misbehaves when told to."""

import errno
import hashlib
import http.server
import random
import re
import signal
import socket
import subprocess
import threading
import time

from . import machine, spools


class Hub:
    """`ferry receive` on a port of its own."""

    def __init__(self, ferry, spool, port=0, environment=None, more=()):
        # It may be started again at the same one.
        port = port or free_port()
        self.process = machine.Process(
            [ferry, "receive", "--listen", f"127.0.0.1:{port}", "--spool", spool, *more], environment)
        self.port = port
        self.lines = []
        self._listens = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.process.stderr:
            self.lines.append(line.decode("utf-8", "replace").rstrip())
            found = re.search(r"listening on https?://127\.0\.0\.1:(\d+)", self.lines[-1])
            if found:
                self.port = int(found.group(1))
                self._listens.set()
        self._listens.set()

    def wait(self, patience=machine.PATIENCE):
        """Whether it listens."""
        return self._listens.wait(patience) and self.port != 0 and self.process.is_running

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1/segments"

    def stop(self, patience=machine.PATIENCE):
        self.process.send(signal.SIGTERM)
        try:
            status = self.process.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.process.wait()
            status = None
        self._reader.join(5)
        self.process.process.stdout.close()
        self.process.process.stderr.close()
        return machine.Result(self.process.arguments, status, "", "\n".join(self.lines))

    def kill(self):
        self.process.kill()
        return self.stop()


def free_port(rng=random):
    """A port below those that the kernel gives to clients, so that it is still free after a restart."""
    while True:
        port = rng.randrange(10_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def bound(make):
    """Makes a server; a port that was free a moment ago may be a client's now, on a machine where others connect."""
    for _ in range(100):
        try:
            return make()
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            time.sleep(0.2)
    return make()


class KeyServer:
    """Takes segments by their keys, each once, and remembers when."""

    def __init__(self, answer=None, known=None, port=0):
        # key: (SHA-256 of the body, numbers of the events, when)
        self.taken = dict(known or {})
        self.conflicts = []
        self.broken = []
        # Told (key, names, size), returns a status that is not 200 to refuse; None accepts.
        self._answer = answer
        self._lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status = outer._take(self.headers, body)
                answer = b"{}\n"
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            # What a killed client does to a connection is no news.
            def handle_error(self, *_):
                pass

        self._server = bound(lambda: Server(("127.0.0.1", port), Handler))
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1/segments"

    def _take(self, headers, body):
        key = headers.get("Idempotency-Key", "").strip('"')
        names = [part.strip() for part in headers.get("Ferry-Segment", "").split(",")]
        with self._lock:
            status = self._answer(key, names, len(body)) if self._answer else None
            if status:
                return status
            parts = [(key, body)]
            if ";bytes=" in names[0]:
                parts, position = [], 0
                for text in names:
                    name, size = text.split(";bytes=")
                    parts.append((name.split("-")[2].split(".")[0], body[position:position + int(size)]))
                    position += int(size)
            for key, data in parts:
                digest = hashlib.sha256(data).hexdigest()
                if key in self.taken:
                    if self.taken[key][0] != digest:
                        self.conflicts.append(key)
                    continue
                inflated, is_whole = spools.inflate(data)
                if not is_whole:
                    self.broken.append(key)
                self.taken[key] = (digest, spools.numbers(inflated), time.monotonic_ns())
            return 200

    @property
    def events(self):
        with self._lock:
            return spools.Contents.count({key: numbers for key, (_, numbers, _) in self.taken.items()})

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
