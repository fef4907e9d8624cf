"""Steps by which files come into a spool that no producer published: cp, mv, rsync, and what is no segment."""

import json
import os
import subprocess
import time

from . import reading
from .produce import a_count, a_name, a_size, pack
from .steps import step

FOREIGN_NAMES = [
    "export.jsonl.gz", "export.ndjson.gz", "data 1.json.gz", "größe.jsonl.gz", "a,b;c=d.jsonl.gz", "x" * 160 + ".jsonl.gz",
    "x" * 230 + ".jsonl.gz", "5-20261121T031502.123456Z-0123456789abcdef.jsonl.gz", "5-20261121T031502.123Z-ABCDEFGH12345678.jsonl.gz",
    "5-20261121T031502.123Z-short.jsonl.gz", "n\"o\\t\te.jsonl.gz",
]


@step(3, lambda profile: profile.has_foreign)
def copy_in(world, rng):
    """cp, mv or rsync of a file with another tool's name."""
    source = rng.choice(world.sources)
    lines = world.take_events(a_count(rng), a_size(rng), rng)
    name = rng.choice(FOREIGN_NAMES)
    origin = world.folder / "tmp" / f"from-{rng.randrange(1 << 40):x}"
    origin.write_bytes(pack(lines, rng))
    world.own(origin)
    moment = time.time() + rng.choice([0, 0, -86400, 3600, -1.7e9, 2e9])
    os.utime(origin, (moment, moment))
    path = source / name
    if is_being_copied(world, path):
        return
    replace(world, path)
    how = rng.choice([["cp"], ["cp", "-p"], ["mv"], ["rsync", "-t"], ["rsync", "--inplace"]])
    world.saw(name, lines)
    result = subprocess.run([*how, str(origin), str(path)], capture_output=True, text=True)
    world.note(f"  {' '.join(how)} {name[:40]}: {result.returncode} {result.stderr.strip()[:100]}")
    if result.returncode == 0:
        world.own(path)
        world.mark(lines, "must")
    else:
        # A full disk: people remove what is half there.
        path.unlink(missing_ok=True)
        world.mark(lines, "may")


def is_being_copied(world, path):
    return any(copy[0] == path for copy in world.copies)


def replace(world, path):
    """Whatever a file holds that is about to be overwritten may be gone, if it was not sent before."""
    if path.exists():
        with open(path, "rb") as file:
            text, _ = reading.inflate(file.read())
        world.mark(reading.numbers_of(text), "may")


@step(2, lambda profile: profile.has_foreign)
def begin_slow_copy(world, rng):
    """A copy by a tool that writes for long: the rest comes in a later step."""
    source = rng.choice(world.sources)
    lines = world.take_events(a_count(rng) + 2, a_size(rng), rng)
    # Ferry's own names too: `rsync --inplace` and `cp` do not publish in one step.
    name = rng.choice([rng.choice(FOREIGN_NAMES), a_name(rng)])
    path = source / name
    if is_being_copied(world, path):
        return
    replace(world, path)
    data = pack(lines, rng)
    cut = rng.randrange(len(data))
    world.saw(name, lines)
    try:
        file = open(path, "r+b" if path.exists() else "w+b", buffering=0)
        file.truncate(0)
        written = file.write(data[:cut])
    except OSError as error:
        path.unlink(missing_ok=True)
        return world.note(f"  copy: {error}")
    world.own(path)
    world.copies.append((path, file, data[written:], lines, time.monotonic()))


@step(4, lambda profile: profile.has_foreign)
def go_on_copying(world, rng):
    if world.copies:
        finish_copy(world, world.copies.pop(rng.randrange(len(world.copies))))


def finish_copy(world, copy):
    path, file, rest, lines, began = copy
    world.mark(lines, "must")
    try:
        while rest:
            rest = rest[file.write(rest):]
    except OSError as error:
        world.note(f"  copy: {error}")
        world.mark(lines, "may")
        path.unlink(missing_ok=True)
    has_name = os.fstat(file.fileno()).st_nlink > 0
    file.close()
    if has_name:
        return
    # Between two writes of a copy less than the quiet period passed: it may not be taken for a whole file.
    if time.monotonic() - began < 4.5:
        world.violate(f"{path.name} was removed or moved while it was being copied")
    world.mark(lines, "may")


def rename_misnamed(world, source):
    """What `ferry status` asks for: a name with control characters is no segment's, its file stays until it has another."""
    names = sorted(name for name in os.listdir(source) if any(ord(character) < 32 for character in name) and not name.startswith("."))
    status = json.loads(world.ferry("status", "--json", "--spool", source, allowed=(0, 1)).output)
    if status.get("unusableNames", 0) != len(names):
        world.violate(f"status tells of {status.get('unusableNames', 0)} names that no segment may have; there are {len(names)}: {names}")
    for number, name in enumerate(names):
        with open(source / name, "rb") as file:
            text, _ = reading.inflate(file.read())
        renamed = f"renamed-{number}.jsonl.gz"
        os.rename(source / name, source / renamed)
        world.saw(renamed, reading.numbers_of(text))


@step(1)
def drop_other_files(world, rng):
    """What is no segment stays where it is."""
    source = rng.choice(world.sources)
    kind = rng.randrange(5)
    try:
        if kind == 0:
            (source / "events.json").write_text("{}")
        elif kind == 1:
            (source / "batch.jsonl").write_text("{}\n")
        elif kind == 2 and not (source / "pipe.jsonl.gz").exists():
            os.mkfifo(source / "pipe.jsonl.gz")
        elif kind == 3 and not (source / "link.jsonl.gz").is_symlink():
            os.symlink("/nowhere", source / "link.jsonl.gz")
        elif kind == 4:
            (source / "folder.jsonl.gz").mkdir(exist_ok=True)
    except OSError as error:
        world.note(f"  {error}")
