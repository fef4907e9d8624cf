"""Builds the fuzzer and lets it loose on each target: see scripts/fuzz."""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

HERE = os.path.dirname(os.path.abspath(__file__))
CORPORA = os.path.join(HERE, "Corpora")
FLAGS = ["-sanitize=fuzzer,address", "-use-ld=lld"]
PROBE = """
@_cdecl("LLVMFuzzerTestOneInput") public func test(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int32 { 0 }
"""


def toolchain_can():
    """Whether the toolchain has libFuzzer and the address sanitizer, and this machine lets them run."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "probe.swift"), os.path.join(folder, "probe")
        with open(source, "w") as file:
            file.write(PROBE)
        compile = ["swiftc", "-parse-as-library", *FLAGS, source, "-o", program]
        return all(
            subprocess.run(command, capture_output=True, cwd=folder).returncode == 0
            for command in (compile, [program, "-runs=1"])
        )


def build():
    """Builds the fuzzer beside the usual build, whose dependencies serve both, and returns its path."""
    environment = {**os.environ, "FERRY_FUZZ": "1"}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        subprocess.run(["swift", "build", "--product", "fuzz"], env=environment, check=True)
    except BaseException:
        # Half a build leaves objects that the usual build takes for its own, and cannot link.
        for source in pathlib.Path("Sources").rglob("*.swift"):
            source.touch()
        raise
    command = ["swift", "build", "--show-bin-path"]
    return os.path.join(subprocess.check_output(command, env=environment, text=True).strip(), "fuzz")


class Run:
    """One target's run."""

    def __init__(self, program, name, longest, options):
        self.name = name
        self.kept = os.path.join(options.keep, name)
        self.found = os.path.join(options.keep, f"found-{name}-")
        os.makedirs(self.kept, exist_ok=True)
        limit = f"-runs={options.runs}" if options.runs else f"-max_total_time={options.seconds}"
        self.program = program
        self.command = [
            program, limit, f"-max_len={longest}", "-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1",
            f"-artifact_prefix={self.found}", self.kept, os.path.join(CORPORA, name),
        ]
        words = os.path.join(CORPORA, f"{name}.dict")
        if os.path.exists(words):
            self.command.insert(1, f"-dict={words}")
        self.process = None

    def run(self):
        # A trap is reported at once instead of being looked into for minutes.
        environment = {**os.environ, "FUZZ_TARGET": self.name, "SWIFT_BACKTRACE": "enable=no"}
        self.process = subprocess.Popen(
            self.command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        log = self.process.stderr.read()
        failed = self.process.wait() != 0
        runs = re.findall(r"stat::number_of_executed_units: (\d+)", log)
        coverage = re.findall(r"\bcov: (\d+)", log)
        return self, failed, int(runs[-1]) if runs else 0, int(coverage[-1]) if coverage else 0, log

    def report(self, log):
        """What went wrong, with which input, and how to see it again."""
        lines = [line for line in log.splitlines() if re.search(r"Fatal error|ERROR: |SUMMARY: |BrokenProperty", line)]
        print("\n".join(lines[:4]) or log[-2000:])
        file = re.search(r"Test unit written to (\S+)", log)
        if file:
            print(f"the input: {file[1]}")
            print(f"again: SWIFT_BACKTRACE=enable=no FUZZ_TARGET={self.name} {self.program} {file[1]}")
            print(f"mended, it belongs into {os.path.relpath(os.path.join(CORPORA, self.name))}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/fuzz")
    parser.add_argument("seconds", nargs="?", type=int, default=10)
    parser.add_argument("--target", action="append")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--keep", default=".build/fuzz")
    options = parser.parse_args()
    program = os.environ.get("FUZZER")
    if not program:
        if not toolchain_can():
            print("NOT TESTED: this toolchain has no libFuzzer, or this machine does not let it run")
            return 0
        program = build()
    listed = subprocess.check_output([program, "--list"], text=True).split("\n")
    targets = dict(line.split() for line in listed if line)
    unknown = set(options.target or []) - set(targets)
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(targets)}")
    runs = [Run(program, name, targets[name], options) for name in options.target or targets]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        left = {pool.submit(run.run) for run in runs}
        while left:
            done, left = wait(left, return_when=FIRST_COMPLETED)
            for future in done:
                run, failed, count, coverage, log = future.result()
                print(f"{run.name}: {count:,} runs, {coverage:,} edges{', FAILED' if failed else ''}", flush=True)
                if not failed:
                    continue
                run.report(log)
                for other in left:
                    other.cancel()
                for other in runs:
                    if other.process and other.process.poll() is None:
                        other.process.kill()
                return 1
    print(f"{len(runs)} targets hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
