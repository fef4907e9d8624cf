"""A receiver that can be stopped, killed and started again on the same port."""

import signal
import time

from . import reading, world


class Hub:
    def __init__(self, place, folder, port, name):
        self.world = place
        self.folder = folder
        self.port = port
        self.name = name
        self.process = None

    def start(self):
        if self.process:
            return
        text = f"ferry receive for {self.name}"
        self.process = self.world.start(
            [self.world.tools.ferry, "receive", "--listen", f"127.0.0.1:{self.port}", "--spool", self.folder], name=self.name)
        end = time.monotonic() + 60
        while "listening on" not in reading.read_text(f"{self.process.log}.err"):
            if self.process.poll() is not None or time.monotonic() > end:
                process, self.process = self.process, None
                process.kill()
                self.world.end(process, text, signal.SIGKILL)
                raise world.Violation(f"{text} does not start")
            time.sleep(0.01)

    def stop(self):
        self._end(signal.SIGTERM)

    def kill(self):
        self._end(signal.SIGKILL)

    def _end(self, number):
        if not self.process:
            return
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(number)
        result = self.world.end(process, f"ferry receive for {self.name}", number, patience=60)
        if not result.was_killed and result.status != 0:
            raise world.Violation(f"ferry receive for {self.name} ended with {result.status}: {result.errors[-400:]}")
