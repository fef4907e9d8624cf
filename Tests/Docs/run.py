"""Runs what a page of the documentation shows, and compares the output that it shows.

run.py [--write] [--look] FERRY PAGE…

A page's blocks are run one after the other by one bash, in a folder of the page's own, with FERRY on the path:

    ```sh             is run; each line must end with 0. A block with `sudo`, scripts/ or podman in it is for another machine, and not run.
    ```sh not-run     is not run.
    ```console run    lines behind `$ ` are run, and print what the block says, but for times, ages, sizes, IDs, the width of columns and the order of lines.
    ```crontab run    lines as in /etc/cron.d are run as cron does, print nothing, and end with 0 or 75.
    ```yaml NAME      becomes the file NAME; so do ini and json.
    <!-- run          a block that readers do not see, up to a line with -->; `ready PORT [CA]` in it waits for a receiver; $ADDRESS is the page's address, $DOCS this folder.
    <!-- map A B -->  A is B in what is run, and B is A in what is printed; @ in B is the page's folder.
    <!-- needs jq --> the page is left out on a machine without jq; behind "run", as in ```console run needs haproxy moto, the block is. Modules of Python count as well.

Commands that end with & go on; where output is shown below them, it is waited for. 127.0.0.1 is an address of the page's own, so that pages run side by side.
In all blocks, also those that are not run (```console, ```crontab), and in `code`, ferry's commands and options must exist; so must the files that links name.

--look runs nothing. --write puts the output into a page where some of it differs: all of it, so that what a page shows is of one run.
"""
import importlib.util
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages
import words

SECONDS = 240

# What differs from run to run, in this order.
VARYING = [
    (r"\b\d-\d{8}T\d{6}\.\d{3}Z-[0-9a-z]{6,32}", "SEGMENT"),
    (r"\bferry-(bundle|receipt)-[0-9a-z]+(-[0-9a-z]+)?", r"ferry-\1"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z", "TIME"),
    (r"\b\d{4}-\d\d-\d\d\b", "DATE"),
    (r"\bprocess \d+", "process N"),
    (r"\b\d+(\.\d+)? (ms|s|min|h|d)\b( \d+ (ms|s|min|h|d)\b)*", "AGE"),
    (r"\b\d+(\.\d+)? (B|kB|MB|GB)(/s)?(?!\w)", "SIZE"),
    (r"\b[0-9a-z]{32,}\b", "HASH"),
    (r"\brun [0-9a-z]{16}\b", "run ID"),
    (r"\bspool [0-9a-z]{16}\b", "spool ID"),
    (r"#{2,}", "#"),
    (r"[ \t]+", " "),
]

PRELUDE = """
set +m
ready() {
    for _ in $(seq 1200); do
        curl -sf -o /dev/null ${2:+--cacert "$2"} "http${2:+s}://$ADDRESS:$1/healthz" && return 0
        sleep 0.05
    done
    echo "no receiver at port $1"
    return 1
}
printed() { for _ in $(seq 1200); do [ "$(wc -l <"$2")" -ge "$1" ] && return 0; sleep 0.05; done; return 1; }
"""

# A receiver that is told no address listens on the page's.
FERRY = """#!/bin/sh
if [ "$1" = receive ]; then
    case " $* " in
    *" --listen "* | *" --help "*) ;;
    *) shift; set -- receive --listen "$ADDRESS:8787" "$@" ;;
    esac
fi
exec "$FERRY_OF_THE_PAGE" "$@"
"""


def comparable(lines):
    """What must be the same in two runs. Not the order of lines: standard output and standard error meet in it as the clock has it."""
    text = "\n".join(lines)
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return sorted(line.strip() for line in text.split("\n"))


def missing(needs):
    """Those of some programs and modules of Python that are not here."""
    return [each for each in needs if shutil.which(each, path=f"{os.environ['PATH']}:/usr/sbin") is None and importlib.util.find_spec(each) is None]


class Run:
    """A page's run, in a folder that goes with it."""

    def __init__(self, page, ferry):
        self.page = page
        self.ferry = ferry
        self.root = tempfile.mkdtemp(prefix="ferry-docs-")
        self.address = ".".join(["127"] + [str(random.randint(1, 254)) for _ in range(3)])
        self.folder = f"{self.root}/here"
        self.steps = []  # (what, expected or None, line, whether the output has a place in the page)
        self.maps = [(shown, real.replace("@", self.root)) for shown, real in page.maps] + [("127.0.0.1", self.address)]

    def real(self, text):
        for shown, real in self.maps:
            text = text.replace(shown, real)
        return text

    def shown(self, text):
        for shown, real in reversed(self.maps):
            text = text.replace(real, shown)
        return text.replace(self.folder, "/home/ferry").replace(self.ferry, "/usr/bin/ferry")

    def script(self):
        """The page as one script of bash; each step has files for its output and for its status."""
        parts = [PRELUDE]
        for block in self.page.blocks:
            if missing(block.needs):
                continue
            if block.file:
                self._write(parts, block)
            elif block.runs and block.kind == "sh":
                parts.append(self._step(block.text, None, block.line, False) + f"set -e\n{self.real(block.text)}\nset +e\n" + self._status("0"))
            elif block.runs:
                for command in pages.commands(block):
                    begin = self._step(command.text, command.expected, command.line, command.shows)
                    wait = ""
                    if command.text.rstrip().endswith("&") and command.expected:
                        wait = f"printed {len(command.expected)} {self._out(len(self.steps) - 1)} || exit 1\n"
                    parts.append(begin + self.real(command.text) + "\n" + self._status("$?") + wait)
        return "\n".join(parts)

    def _write(self, parts, block):
        name = self.real(block.file)
        parts.append(f"mkdir -p \"$(dirname '{name}')\"; cat >'{name}' <<'END OF THE FILE'\n{self.real(block.text)}\nEND OF THE FILE\n")

    def _out(self, number):
        return f"'{self.root}/steps/{number}.out'"

    def _step(self, text, expected, line, shows):
        self.steps.append((text, expected, line, shows))
        return f"exec >{self._out(len(self.steps) - 1)} 2>&1\n"

    def _status(self, status):
        return f"echo {status} >'{self.root}/steps/{len(self.steps) - 1}.status'\n"

    def run(self):
        """Runs the page, and returns the faults and, by line, the output, with how many lines of the page it takes the place of."""
        for folder in ("here", "steps", "bin"):
            os.mkdir(f"{self.root}/{folder}")
        pathlib.Path(f"{self.root}/bin/ferry").write_text(FERRY.replace("$FERRY_OF_THE_PAGE", self.ferry))
        os.chmod(f"{self.root}/bin/ferry", 0o755)
        script = pathlib.Path(f"{self.root}/script")
        script.write_text(self.script())
        if not self.steps:
            return [], {}
        # No variables of the caller: what FERRY_… says there is no part of the page.
        environment = {
            "PATH": f"{self.root}/bin:{os.environ['PATH']}:/usr/sbin", "HOME": self.folder, "LANG": "C.UTF-8", "TZ": "UTC", "ADDRESS": self.address,
            "DOCS": os.path.dirname(os.path.abspath(__file__)),
        }
        bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc", script], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True)
        late = False
        try:
            bash.wait(SECONDS)
        except subprocess.TimeoutExpired:
            late = True
        try:
            os.killpg(bash.pid, signal.SIGKILL)  # receivers that the page leaves running
        except ProcessLookupError:
            pass
        bash.wait()
        return self._compare(late)

    def _compare(self, late):
        faults, outputs = [], {}
        for number, (text, expected, line, shows) in enumerate(self.steps):
            out = pathlib.Path(f"{self.root}/steps/{number}.out")
            status = pathlib.Path(f"{self.root}/steps/{number}.status")
            output = self.shown(out.read_text(errors="replace")) if out.exists() else ""
            if not status.exists() or not status.read_text().strip():
                what = f"did not end within {SECONDS} s" if late else "failed"
                faults.append(f"{self.page.path}:{line}: this {what}:\n{text}\n{output}")
                break
            if status.read_text().strip() != "0":
                faults.append(f"{self.page.path}:{line}: '{text}' ended with {status.read_text().strip()}; end it with: ; echo \"exit $?\"\n{output}")
            if expected is None:
                continue
            printed = output.rstrip("\n").split("\n") if output.strip() else []
            if text.rstrip().endswith("&"):
                printed = printed[:len(expected)]
            if shows:
                outputs[line] = (len(expected), printed)
            # Blank lines at the end of a block are the page's.
            wanted = "\n".join(expected).rstrip("\n").split("\n") if any(expected) else []
            if comparable(printed) != comparable(wanted):
                faults.append(f"{self.page.path}:{line}: '{text}' prints\n" + "\n".join(printed) + "\nand the page says\n" + "\n".join(wanted))
        return faults, outputs

    def end(self):
        shutil.rmtree(self.root, ignore_errors=True)


def rewrite(page, outputs):
    lines = list(page.lines)
    for line in sorted(outputs, reverse=True):
        count, printed = outputs[line]
        lines[line - 1:line - 1 + count] = printed
    pathlib.Path(page.path).write_text("\n".join(lines), encoding="utf-8")


def main(arguments):
    write, look = "--write" in arguments, "--look" in arguments
    ferry, *paths = [each for each in arguments if not each.startswith("--")]
    ferry = os.path.realpath(ferry)
    program = words.Program(ferry)
    bad = False
    for path in paths:
        page = pages.Page(path)
        faults = list(words.faults(page, program))
        if absent := missing(page.needs):
            print(f"NOT TESTED {path}: missing here: {', '.join(absent)}")
        elif not look:
            for block in page.blocks:
                if absent := missing(block.needs):
                    print(f"NOT TESTED {path}:{block.line}: missing here: {', '.join(absent)}")
            run = Run(page, ferry)
            try:
                found, outputs = run.run()
            finally:
                run.end()
            faults += found
            if write and found:
                rewrite(page, outputs)
        for fault in faults:
            print(fault)
        bad = bad or bool(faults)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
