"""Steps that make events: by the producers of four languages."""

import datetime
import gzip
import json
import os
import re
import signal
import string
import subprocess
import time

from . import reading
from .steps import step


def a_size(rng):
    return rng.choice([20, 60, 60, 300, 2000])


def a_count(rng):
    return rng.choice([1, 2, 3, 8, 30])


def a_name(rng):
    """A segment's name as other languages make it, some of them on machines whose clock is wrong."""
    now = datetime.datetime.now(datetime.timezone.utc)
    shift = rng.choice([0, 0, 0, 0, -3600, -86400 * 30, 3600, 86400 * 400])
    moment = now + datetime.timedelta(seconds=shift)
    stamp = rng.choice([moment.strftime("%Y%m%dT%H%M%S.") + f"{moment.microsecond // 1000:03d}Z"] * 12 + [
        "19700101T000000.000Z", "20380119T031407.999Z", "99991231T235959.999Z"])
    length = rng.choice([16, 16, 16, 20, 40])
    id = "".join(rng.choices(string.ascii_lowercase + string.digits, k=length))
    stream = rng.choice(["", "", ".s", ".a_long-stream"])
    return f"{rng.choice('0559')}-{stamp}-{id}{stream}.jsonl.gz"


def pack(lines, rng):
    """The lines as gzip, of one member or several, with and without what the format leaves open."""
    text = [line.encode() for line in lines.values()]
    cut = rng.randrange(len(text) + 1) if rng.random() < 0.3 else len(text)
    ends = [b"", gzip.compress(b"")] if rng.random() < 0.2 else [b""]
    head, tail = b"".join(text[:cut]), b"".join(text[cut:])
    if rng.random() < 0.1:
        head, tail = head.replace(b"\n", b"\r\n"), tail.rstrip(b"\n")
    return b"".join([gzip.compress(part) for part in (head, tail) if part] + ends)


@step(6)
def write_file(world, rng):
    """`ferry write` from a file."""
    write(world, rng, rng.choice(world.sources), world.take_events(a_count(rng), a_size(rng), rng))


@step(4)
def write_pipe(world, rng):
    """`ferry write` from a pipe, whose writer may be killed, or the other way round."""
    source = rng.choice(world.sources)
    lines = world.take_events(a_count(rng), a_size(rng), rng)
    reader, writer = os.pipe()
    kill = rng.random() < 0.4
    process = world.start([world.ferry_path, "write", "--spool", source, *options(world, rng)], stdin=reader)
    os.close(reader)
    try:
        for text in lines.values():
            os.write(writer, text.encode())
            if rng.random() < 0.1:
                time.sleep(0.01)
        if kill:
            time.sleep(rng.uniform(0, 0.1))
            process.send_signal(signal.SIGKILL)
    except BrokenPipeError:
        pass
    finally:
        os.close(writer)
    judge(world, world.end(process, f"ferry write --spool {source.name} <pipe", signal.SIGKILL if kill else None), source, lines)


def options(world, rng):
    # The release before made every spool that it was told to write into.
    arguments = ["--create"] if world.ferry_path == world.tools.ferry else []
    arguments += ["--priority", rng.choice(["0", "5", "5", "9"]), "--roll-events", rng.choice(["1", "3", "50000"])]
    if rng.random() < 0.3:
        arguments += ["--stream", rng.choice(["s", "other"])]
    return arguments


def write(world, rng, source, lines):
    path = world.folder / "tmp" / f"in-{rng.randrange(1 << 40):x}"
    path.write_text("".join(lines.values()))
    path.chmod(0o644)
    kill = rng.uniform(0, 0.08) if rng.random() < 0.25 else None
    result = world.ferry("write", "--spool", source, "--json", *options(world, rng), path, kill_after=kill)
    judge(world, result, source, lines)
    if result.status == 0 and world.ferry_path == world.tools.ferry:
        judge_order(world, source, json.loads(result.output)["segments"])


def judge_order(world, source, names):
    """What a spool's writers publish never sorts before what they published earlier, whatever other producers' clocks say."""
    for name in names:
        time = name[2:22]
        if time < world.last_created.get(source, ""):
            world.violate(f"{name} of {source.name} is dated before {world.last_created[source]}, which was published earlier")
        world.last_created[source] = max(time, world.last_created.get(source, ""))


STOPPED = re.compile(r"Stopped at .*, line (\d+): every line before it is stored, and none from there on")


def judge(world, result, source, lines):
    """Marks events by what `ferry write` said of them."""
    if result.was_killed:
        return world.mark(lines, "may")
    if result.status not in (0, 69, 73, 74, 75):
        world.violate(f"ferry write ended with {result.status}: {result.errors[-300:]}")
    stopped = STOPPED.search(result.errors)
    if stopped:
        stored = int(stopped[1]) - 1
        numbers = sorted(lines)
        world.mark(numbers[:stored], "must")
        world.mark(numbers[stored:], "never")
        world.unwritten.append((source, {number: lines[number] for number in numbers[stored:]}))
    else:
        world.mark(lines, {0: "must", 69: "never", 75: "must"}.get(result.status, "may"))


@step(1, lambda profile: profile.disk)
def go_on_writing(world, rng):
    """`tail -n +N | ferry write`, from the line that `ferry write` named when the disk was full."""
    if world.unwritten:
        source, lines = world.unwritten.pop(0)
        write(world, rng, source, lines)


@step(6)
def python_producer(world, rng):
    """The ten lines of Python in spool/README.md, which may die before the rename."""
    lines = world.take_events(a_count(rng), a_size(rng), rng)
    publish(world, rng, rng.choice(world.sources), a_name(rng), pack(lines, rng), lines)


def publish(world, rng, source, name, data, lines, state="must"):
    temporary, path = source / f".{name}.tmp", source / name
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        world.own(temporary)
        if rng.random() < 0.05:
            return
        world.saw(name, lines)
        os.rename(temporary, path)
        world.mark(lines, state)
    except OSError as error:
        # The disk is full.
        world.note(f"  producer: {error}")
        temporary.unlink(missing_ok=True)


@step(3)
def shell_producer(world, rng):
    """The lines of shell in spool/README.md."""
    lines = world.take_events(a_count(rng), a_size(rng), rng)
    name, source = a_name(rng), rng.choice(world.sources)
    script = 'set -eu; gzip -c >"$1/.$2.tmp" || { rm -f "$1/.$2.tmp"; exit 1; }; sync "$1/.$2.tmp"; mv -n "$1/.$2.tmp" "$1/$2"; sync "$1"'
    result = subprocess.run(
        ["sh", "-c", script, "sh", source, name], input="".join(lines.values()), text=True, capture_output=True)
    if (source / name).exists():
        world.own(source / name)
    world.saw(name, lines)
    world.mark(lines, "must" if result.returncode == 0 else "may")


@step(3, lambda profile: True)
def library_producer(world, rng):
    """A C program with libferrytracker, which may be killed; each event that it told is safe."""
    if not world.tools.producer:
        return
    source, count = rng.choice(world.sources), a_count(rng)
    first = min(world.take_events(count, 20, rng))
    process = world.start([world.tools.producer, source, str(first), str(count), rng.choice(["0", "0", "20"])], name="producer")
    kill = rng.random() < 0.4
    if kill:
        time.sleep(rng.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
    log = process.log
    told = []
    try:
        process.wait(60)
        told = [int(word) for word in reading.read_text(f"{log}.out").split()]
    except subprocess.TimeoutExpired:
        pass
    world.mark(range(first, first + count), "may")
    result = world.end(process, f"C producer on {source.name}", signal.SIGKILL if kill else None)
    # Where the tracker could not store, it said so.
    world.mark(told, "must")


@step(2, lambda profile: profile.has_damage)
def publish_damage(world, rng):
    """A segment whose checksum is wrong, or which has something else behind it. Its file must be kept; what can be read may be saved."""
    lines = world.take_events(a_count(rng) + 3, 300, rng)
    data = bytearray(gzip.compress("".join(lines.values()).encode()))
    if rng.random() < 0.5:
        data[-8] ^= 1
    else:
        data += b"no gzip at all"
    publish(world, rng, rng.choice(world.sources), a_name(rng), bytes(data), lines, state="damaged")
