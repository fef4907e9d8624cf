"""Where every event is at the end, and whether it may be there."""

import json
import os

from . import reading


def is_kept(name):
    """Whether a file in `rejected/` is a segment, of which a second one of its name is kept as `NAME~1`."""
    return not name.startswith(".") and not name.endswith(".reason.json")


def places_of(spool, places):
    """Yields place and folder."""
    if "pending" in places:
        yield "pending", spool
    if "sent" in places and (spool / "sent").is_dir():
        for day in sorted(os.listdir(spool / "sent")):
            yield "sent", spool / "sent" / day
    if "rejected" in places:
        yield "rejected", spool / "rejected"


def count(spool, places=("pending", "sent", "rejected")):
    """Returns how often each event is in a spool."""
    times = {}
    for place, folder in places_of(spool, places):
        for _, numbers, _ in reading.read_segments(folder, is_kept if place != "pending" else reading.is_segment):
            for number in numbers:
                times[number] = times.get(number, 0) + 1
    return times


def ledger(spool):
    """Returns the entries of a spool's ledger; a line that is no JSON raises ValueError."""
    entries = []
    for path in sorted((spool / ".ferry").glob("ledger-*.jsonl")):
        try:
            entries += reading.json_lines(path)
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from error
    return entries


def dropped(world):
    """Returns the events that a limit dropped, by the lines of the ledgers and what was ever seen in those segments."""
    numbers = set()
    for source in world.sources:
        for entry in ledger(source):
            if entry["outcome"] in ("evicted", "expired"):
                name = entry["segment"]
                known = world.contents.get(name)
                if known is None:
                    known = of_split_parent(world, name)
                if known is None:
                    world.violate(f"{name} was {entry['outcome']}, but the history never saw it")
                numbers |= known or set()
    return numbers


def of_split_parent(world, name):
    """The events of the segment that a half was made of, as far back as needed."""
    stem, _, rest = name.partition(".jsonl.gz")
    head, dot, stream = stem.partition("Z-")
    id, _, stream = stream.partition(".")
    while len(id) > 16 and id[-1] in "01":
        id = id[:-1]
        parent = f"{head}Z-{id}" + (f".{stream}" if stream else "") + ".jsonl.gz"
        if parent in world.contents:
            return world.contents[parent]
    return None


def rejected(world):
    """Returns the events in `rejected/` of the sources; each file there must have its reason."""
    numbers = set()
    for source in world.sources:
        folder = source / "rejected"
        for name, held, _ in reading.read_segments(folder, is_kept):
            numbers.update(held)
            try:
                reason = json.loads((folder / f"{name}.reason.json").read_text())
                if not reason.get("kind"):
                    world.violate(f"rejected/{name} has a reason without a kind")
            except (OSError, ValueError) as error:
                world.violate(f"rejected/{name} has no reason: {error}")
    return numbers


def judge(world):
    """Compares where every event is with where it must be."""
    try:
        lost_to_limits = dropped(world)
    except ValueError as error:
        return world.violate(f"a ledger has a line that is no JSON: {error}")
    kept = rejected(world)
    travelling = set()
    for source in world.sources:
        for name, numbers, _ in reading.read_segments(source):
            if name in world.travelling(source):
                travelling.update(numbers)
    hub = count(world.hub_folder)
    for number, state in sorted(world.events.items()):
        times = hub.get(number, 0)
        if times > 1:
            world.violate(f"event {number} is {times} times at the hub: {world.trace(number)}")
        if state == "never" and times:
            world.violate(f"event {number} is at the hub, though its producer was told that it was not stored: {world.trace(number)}")
        if state == "must" and not times and number not in lost_to_limits | kept | travelling:
            world.violate(f"event {number} is nowhere: {world.trace(number)}")
        if state == "damaged" and not times and number not in lost_to_limits | kept | travelling:
            if number in readable_of_damaged(world, number):
                world.violate(f"event {number} of a damaged segment is neither kept nor delivered: {world.trace(number)}")
    if world.profile.has_relay:
        judge_relay(world, hub)
    judge_logs(world)


def readable_of_damaged(world, number):
    """A damaged file's last events cannot be read by anybody: only its first one is asked for."""
    for numbers in world.contents.values():
        if number in numbers:
            return {min(numbers)}
    return set()


def judge_relay(world, hub):
    passed_on = count(world.hub_folder, places=("sent",))
    relay = count(world.relay_folder)
    for number in hub:
        if relay.get(number, 0) > 1:
            world.violate(f"event {number} is {relay[number]} times at the relay's hub")
        if passed_on.get(number) and not relay.get(number):
            world.violate(f"event {number} was sent on by the hub, and did not arrive")


def judge_logs(world):
    """Every line of every log is whole, and nothing hidden is left that is not documented."""
    for spool in [*world.sources, world.hub_folder]:
        for path in sorted((spool / ".ferry").glob("*.jsonl")):
            try:
                reading.json_lines(path)
            except ValueError as error:
                world.violate(f"{spool.name}/.ferry/{path.name}: {error}")
        for name in os.listdir(spool):
            # An empty journal is left for a minute: its writer may be about to lock it.
            is_empty = name.endswith(".open") and os.path.getsize(spool / name) == 0
            if name.endswith((".open", ".ferry-in")) and not is_empty:
                world.violate(f"{spool.name} still has {name}")
            if name.endswith(".retry.json") and not (spool / name[:-len(".retry.json")]).exists():
                world.violate(f"{spool.name} has a sidecar without its segment: {name}")
