"""A link to the hub that fails as links and servers do. It refuses always for the same reasons, so that what it says stays true."""

import random
import socket
import struct
import threading
import time
import zlib

from common.servers import free_port


class Link:
    """Listens on a port of its own and passes requests on to the hub, or does not."""

    #: What may happen to a request, besides being passed on.
    FAULTS = ["500", "503", "429", "408", "lost answer", "cut", "reset", "slow", "twice", "half answer", "nonsense"]

    def __init__(self, hub_port, seed, largest=None):
        self.hub_port = hub_port
        #: A larger body is always answered with 413 and never passed on.
        self.largest = largest
        #: Whether some segments, always the same, are refused with 400.
        self.is_poisoned = False
        self.faults = []
        self.share = 0.0
        self.passed = 0
        self.failed = 0
        self._rng = random.Random(seed)
        self._lock = threading.Lock()
        self._connections = set()
        self._listener = None
        self.port = free_port(self._rng)
        self.turn_on()

    def turn_on(self):
        if self._listener:
            return
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(64)
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def turn_off(self):
        """As if the cable were pulled: nothing listens, and open connections are gone."""
        if self._listener:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            reset(connection)

    def be_well(self):
        self.faults, self.share, self.is_poisoned = [], 0.0, False
        self.turn_on()

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with self._lock:
            self._connections.add(connection)
        try:
            connection.settimeout(60)
            reader = connection.makefile("rb")
            while self._serve_request(connection, reader):
                pass
        except (OSError, ValueError):
            pass
        finally:
            with self._lock:
                self._connections.discard(connection)
            try:
                connection.close()
            except OSError:
                pass

    def _serve_request(self, connection, reader):
        """Returns whether the connection may be used again."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = reader.readline(65536)
            if not line:
                return False
            head += line
        fields = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")[1:] if ": " in line)
        fields = {name.lower(): value for name, value in fields.items()}
        length = int(fields.get("content-length", "0"))
        fault = self._rng.choice(self.faults) if self.faults and self._rng.random() < self.share else None
        if fault:
            self.failed += 1
        if self.largest and length > self.largest:
            if self._rng.random() < 0.5:
                reader.read(length)
            return answer(connection, 413) and False
        if fault == "cut":
            reader.read(int(length * self._rng.random()))
        if fault in ("cut", "reset"):
            return reset(connection)
        body = reader.read(length)
        if len(body) < length:
            return False
        if self.is_poisoned and any(zlib.crc32(name) % 5 == 0 for name in names_in(fields)):
            return answer(connection, 400)
        if fault in ("500", "503", "429", "408"):
            return answer(connection, int(fault), "Retry-After: 1\r\n" if self._rng.random() < 0.3 else "")
        if fault == "nonsense":
            connection.sendall(b"\x00\x01no http\r\n\r\n")
            return False
        if fault == "slow":
            time.sleep(self._rng.uniform(0.1, 1.5))
        reply = self._ask_hub(head, body)
        if fault == "twice":
            reply = self._ask_hub(head, body) or reply
        self.passed += 1
        if reply is None or fault == "lost answer":
            return reset(connection)
        if fault == "half answer":
            connection.sendall(reply[: len(reply) // 2])
            return False
        connection.sendall(reply)
        return True

    def _ask_hub(self, head, body):
        """Returns the hub's whole answer; None when it has none."""
        try:
            with socket.create_connection(("127.0.0.1", self.hub_port), timeout=30) as hub:
                hub.sendall(head + body)
                reader = hub.makefile("rb")
                reply, length = b"", 0
                while not reply.endswith(b"\r\n\r\n"):
                    line = reader.readline(65536)
                    if not line:
                        return None
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                    reply += line
                body = reader.read(length)
                return reply + body if len(body) == length else None
        except OSError:
            return None


def names_in(fields):
    """The names in `Ferry-Segment`, of one segment or of several."""
    return [name.split(";")[0].strip().encode("latin-1") for name in fields.get("ferry-segment", "").split(",")]


def answer(connection, status, more=""):
    connection.sendall(f"HTTP/1.1 {status} X\r\n{more}Content-Length: 3\r\n\r\nno\n".encode())
    return True


def reset(connection):
    """Closes with a reset instead of an orderly end."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RD)
        connection.close()
    except OSError:
        pass
    return False
