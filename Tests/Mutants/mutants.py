"""Changes Ferry for the worse, one small change at a time, and looks whether a test sees it. See scripts/mutants."""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
#: How long the tests of one mutant may take; a mutant that hangs is seen as well.
PATIENCE = 600

SWIFT = """import Glibc

/// The number of the mutant that is alive; 0: none.
public let ferryMutant = getenv("MUTANT").flatMap { Int(String(cString: $0)) } ?? 0
"""
C = "#include <stdlib.h>\nstatic int ferry_mutant(void) { const char *text = getenv(\"MUTANT\"); return text ? atoi(text) : 0; }\n"


@dataclasses.dataclass
class Mutant:
    number: int
    #: What it breaks.
    what: str
    file: str = ""
    #: Suites or tests that should see it.
    tests: list = dataclasses.field(default_factory=list)
    original: list = dataclasses.field(default_factory=list)
    changed: list = dataclasses.field(default_factory=list)
    #: Why no test needs to see it.
    excuse: str = ""


def read(path):
    """Reads the mutants of mutants.txt, whose head tells the format."""
    mutants = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        head = re.fullmatch(r"(\d+) (.+)", line)
        if head:
            mutants.append(Mutant(int(head[1]), head[2]))
        elif line.startswith("file: "):
            mutants[-1].file = line[6:].strip()
        elif line.startswith("tests: "):
            mutants[-1].tests = line[7:].split()
        elif line.startswith("excuse: "):
            mutants[-1].excuse = line[8:]
        elif line.startswith("- "):
            mutants[-1].original.append(line[2:].strip())
        elif line.startswith("+ "):
            mutants[-1].changed.append(line[2:].strip())
        elif line.strip() and not line.startswith("#"):
            sys.exit(f"{path}:{number}: '{line}' is no part of a mutant")
    numbers = [mutant.number for mutant in mutants]
    sources_of_tests = [test.read_text() for test in sorted((CHECKOUT / "Tests").rglob("*Tests.swift"))]
    for mutant in mutants:
        if numbers.count(mutant.number) > 1:
            sys.exit(f"{path}: there are two mutants {mutant.number}")
        if not (mutant.file and mutant.tests and mutant.original and mutant.changed):
            sys.exit(f"{path}: mutant {mutant.number} lacks its file, its tests, or its lines")
        for name in mutant.tests:
            if not any(re.search(rf"\b{name}\b", test) for test in sources_of_tests):
                sys.exit(f"{path}: mutant {mutant.number}: there are no tests {name}")
        if not any("MUTANT" in line for line in mutant.changed):
            sys.exit(f"{path}: mutant {mutant.number} does not ask for MUTANT")
    return mutants


def apply(mutant, text):
    """Returns a source with the mutant in it. Raises ValueError when its place is not there, or more than once."""
    pattern = r"\s*\n\s*".join(re.escape(line) for line in mutant.original)
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        times = "is not there any more" if not found else f"is there {len(found)} times"
        raise ValueError(f"mutant {mutant.number} ({mutant.what}): its text {times} in {mutant.file}")
    is_swift = mutant.file.endswith(".swift")
    test = f"(ferryMutant == {mutant.number})" if is_swift else f"(ferry_mutant() == {mutant.number})"
    changed = "\n".join(mutant.changed).replace("ORIGINAL", found[0][0]).replace("MUTANT", test)
    return text[: found[0].start()] + changed + text[found[0].end():]


def with_number(path, text):
    """Returns a changed source that can ask which mutant is alive."""
    if path.endswith(".c"):
        return C + text
    if path.startswith("Sources/FerrySpool/") or re.search(r"^(public |package |@testable )?import FerrySpool$", text, re.M):
        return text
    return "import FerrySpool\n" + text


def plant(mutants, tree):
    """Puts all mutants into a tree, each asleep until the environment names it."""
    sources, problems = {}, []
    for mutant in mutants:
        try:
            text = sources.get(mutant.file) or (tree / mutant.file).read_text()
            sources[mutant.file] = apply(mutant, text)
        except (OSError, ValueError) as problem:
            problems.append(str(problem))
    if problems:
        sys.exit("\n".join([*problems, "mend Tests/Mutants/mutants.txt"]))
    for file, text in sources.items():
        (tree / file).write_text(with_number(file, text))
    (tree / "Sources/FerrySpool/Mutant.swift").write_text(SWIFT)


def in_tree(tree, command):
    """A command that sees the scratch tree at the checkout's path, where that is possible: then the build folder stays warm."""
    if os.geteuid() == 0 and shutil.which("unshare"):
        script = 'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"'
        return ["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", str(tree), str(CHECKOUT), *command]
    return ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(tree), *command]


def test(tree, number, tests, log):
    """Runs tests with one mutant alive. Returns the names of those that failed."""
    command = ["swift", "test", "--skip-build", "--ignore-lock"]
    if tests:
        command += ["--filter", "|".join(tests)]
    with open(log, "wb") as output:
        process = subprocess.Popen(
            in_tree(tree, command), stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "MUTANT": str(number)})
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return ["it hangs"]
    text = pathlib.Path(log).read_text(errors="replace")
    if tests and "Test run with 0 tests" in text:
        sys.exit(f"mutant {number}: there are no tests {' '.join(tests)}")
    failed = re.findall(r'^✘ Test "(.*?)" (?:with \d+ test cases )?failed after', text, re.M)
    # A trap ends all tests at once.
    return failed or ([f"status {status}"] if status else [])


def main():
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="these mutants alone")
    parser.add_argument("--check", action="store_true", help="only look whether all of them still have their place")
    parser.add_argument("--whole", action="store_true", help="try the whole suite on those that their own tests do not see")
    parser.add_argument("--again", action="store_true", help="with --keep: the tree is built; only run the tests")
    parser.add_argument("--keep", help="a folder for the tree with the mutants, which is built again faster")
    arguments = parser.parse_args()
    mutants = read(HERE / "mutants.txt")
    scratch = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="ferry-mutants-")).resolve()
    try:
        run(arguments, mutants, scratch)
    finally:
        if not arguments.keep:
            shutil.rmtree(scratch, ignore_errors=True)


def run(arguments, mutants, scratch):
    tree = scratch / "tree"
    if not arguments.again:
        make(arguments, mutants, tree)
    if not arguments.check:
        judge(arguments, mutants, scratch, tree)


def make(arguments, mutants, tree):
    """Makes the tree with the mutants, and builds it."""
    tree.mkdir(parents=True, exist_ok=True)
    build = ["--exclude=/.build/"] if arguments.check or (tree / ".build").exists() else []
    subprocess.run(["rsync", "-a", "--delete", "--exclude=/.git", *build, f"{CHECKOUT}/", f"{tree}/"], check=True)
    # All of them, also when only some are asked for: each must have its place.
    plant(mutants, tree)
    print(f"{len(mutants)} mutants have their place", flush=True)
    if not arguments.check and subprocess.run(in_tree(tree, ["swift", "build", "--build-tests", "--ignore-lock"])).returncode:
        sys.exit("the mutants do not compile")


def judge(arguments, mutants, scratch, tree):
    """Runs the tests of each mutant, and tells which none of them sees."""
    chosen = [mutant for mutant in mutants if not arguments.numbers or mutant.number in arguments.numbers]
    tests = sorted({name for mutant in chosen for name in mutant.tests})
    # What fails without a mutant sees none.
    blind = test(tree, 0, [] if arguments.whole else tests, scratch / "0.log")
    if blind:
        print(f"without a mutant these fail, and do not count: {'; '.join(blind)}", flush=True)
    survivors, began = [], time.monotonic()
    for mutant in chosen:
        seen = [name for name in test(tree, mutant.number, mutant.tests, scratch / f"{mutant.number}.log") if name not in blind]
        if not seen and arguments.whole:
            failed = test(tree, mutant.number, [], scratch / f"{mutant.number}.log")
            seen = [f"{name} (not by {' '.join(mutant.tests)})" for name in failed if name not in blind]
        print(f"{mutant.number} {mutant.what}: {'seen by ' + '; '.join(seen[:3]) if seen else 'SURVIVED'}", flush=True)
        if not seen:
            survivors.append(mutant)
    minutes = (time.monotonic() - began) / 60
    print(f"{len(chosen)} mutants, {len(chosen) - len(survivors)} seen, {len(survivors)} survived, {minutes:.0f} min")
    for mutant in survivors:
        print(f"{mutant.number} {mutant.what} ({mutant.file}): {mutant.excuse or 'NO TEST SEES IT'}")
    if any(not mutant.excuse for mutant in survivors):
        sys.exit(1)


if __name__ == "__main__":
    main()
