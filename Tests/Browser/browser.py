#!/usr/bin/env python3
"""Drives Debian's chromium, without a window, over the pipes of its DevTools protocol.

Reads commands as lines of JSON from standard input, and answers each with a line of JSON:

{"open": URL, "width": 360, "height": 800, "dark": false}   loads a page; answers {"ok": true}
{"ask": "JavaScript"}                                       answers {"value": ...}; promises are waited for
{"wait": "JavaScript", "seconds": 20}                       waits until it is true
{"key": "Tab"}, {"type": "text"}                            as from a keyboard
{"screenshot": FILE, "whole": true}                         answers {"ok": true}
{"problems": true}, {"requests": true}                      what the console said, and what was asked for, since the page was opened
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="ferry-chromium-")
        to_child, from_us = os.pipe()
        to_us, from_child = os.pipe()
        # The protocol's descriptors are 3 and 4; they are put there between fork and exec.
        low = max(to_child, from_child, 4) + 1
        read_end, write_end = os.dup2(to_child, low, inheritable=True), os.dup2(from_child, low + 1, inheritable=True)
        os.close(to_child)
        os.close(from_child)

        def wire():
            os.dup2(read_end, 3)
            os.dup2(write_end, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-extensions", "--hide-scrollbars",
             f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=wire, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_end)
        os.close(write_end)
        self.out, self.input = from_us, to_us
        self.buffer, self.number, self.events = b"", 0, []
        target = self.call("Target.getTargets")["targetInfos"]
        page = next(info for info in target if info["type"] == "page")
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def message(self, seconds=60):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("chromium does not answer")
            piece = os.read(self.input, 1 << 16)
            if not piece:
                raise EOFError("chromium has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]
            self.events.append(answer)

    def open(self, url, width=1440, height=900, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events = []
        self.call("Page.navigate", url=url)
        end = time.monotonic() + 60
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message(max(0, end - time.monotonic())))

    def ask(self, text):
        answer = self.call("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "it failed"))
        return answer["result"].get("value")

    def wait(self, text, seconds=20):
        end = time.monotonic() + seconds
        while not self.ask(text):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {text}")
            time.sleep(0.1)

    KEYS = {"Tab": ("Tab", 9, ""), "Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Space": (" ", 32, " ")}

    def key(self, name):
        key, code, text = self.KEYS[name]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=name, windowsVirtualKeyCode=code,
                      text=text if kind == "keyDown" else "")

    def screenshot(self, path, whole=False):
        data = self.whole() if whole else self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def whole(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}
        return self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]

    def problems(self):
        """What the console said: errors of scripts, and what the policy forbade."""
        found = []
        for event in self.events:
            if event.get("method") == "Log.entryAdded":
                found.append(event["params"]["entry"]["text"])
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"]["text"])
        return found

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def main():
    browser = Browser()
    try:
        for line in sys.stdin:
            command = json.loads(line)
            try:
                if "open" in command:
                    browser.open(command["open"], command.get("width", 1440), command.get("height", 900), command.get("dark", False))
                    answer = {"ok": True}
                elif "ask" in command:
                    answer = {"value": browser.ask(command["ask"])}
                elif "wait" in command:
                    browser.wait(command["wait"], command.get("seconds", 20))
                    answer = {"ok": True}
                elif "key" in command:
                    browser.key(command["key"])
                    answer = {"ok": True}
                elif "type" in command:
                    browser.call("Input.insertText", text=command["type"])
                    answer = {"ok": True}
                elif "screenshot" in command:
                    browser.screenshot(command["screenshot"], command.get("whole", False))
                    answer = {"ok": True}
                elif "problems" in command:
                    answer = {"value": browser.problems()}
                else:
                    answer = {"value": browser.requests()}
            except (RuntimeError, TimeoutError) as error:
                answer = {"error": str(error)}
            print(json.dumps(answer), flush=True)
    finally:
        browser.close()


if __name__ == "__main__":
    main()
