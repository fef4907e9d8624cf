"""Steps that disturb: limits, full disks, other users' files, what a person tells a spool, and looks that must change nothing."""

import errno
import os
import time

from . import account, reading
from .steps import step


@step(2, lambda profile: profile.has_limits)
def prune(world, rng):
    source = rng.choice(world.sources)
    world.look()
    size = sum((source / name).stat().st_size for name in os.listdir(source) if reading.is_segment(name) and (source / name).is_file())
    limit = ["--max-spool-bytes", str(int(size * rng.uniform(0.2, 1.2)) + 1)] if rng.random() < 0.7 else ["--max-spool-age", "20m"]
    kill = rng.uniform(0, 0.06) if rng.random() < 0.2 else None
    world.ferry("prune", "--spool", source, "--quiet", *limit, kill_after=kill, allowed=(0, 73, 74))


@step(1)
def prune_sent(world, rng):
    """Only what was delivered may go; what is there later is compared with the hub alone."""
    source = rng.choice(world.sources)
    world.ferry("prune", "--spool", source, "--quiet", "--max-sent-bytes", "2KB", allowed=(0, 73, 74))


@step(3, lambda profile: profile.disk)
def fill_disk(world, rng):
    """Leaves a few free blocks, or none."""
    if world.filler:
        return
    world.filler = world.folder / "disk" / "filler"
    free = os.statvfs(world.folder / "disk")
    left = rng.choice([0, 0, 1, 3, 20]) * free.f_bsize
    with open(world.filler, "wb") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, max(free.f_bsize, free.f_bavail * free.f_bsize - left))
        except OSError as problem:
            # What runs beside it has taken some of that meanwhile.
            if problem.errno != errno.ENOSPC:
                raise


@step(3, lambda profile: profile.disk)
def free_disk(world, rng):
    free(world)


def free(world):
    if world.filler:
        world.filler.unlink()
        world.filler = None


@step(2, lambda profile: profile.user)
def lock_away(world, rng):
    """A file of another user, which the one who runs Ferry may not read."""
    source = rng.choice(world.sources)
    names = [name for name in sorted(os.listdir(source)) if reading.is_segment(name) and (source / name).is_file()]
    if not names:
        return
    name = rng.choice(names)
    try:
        os.chown(source / name, 0, 0)
        os.chmod(source / name, 0o600)
    except FileNotFoundError:
        pass


@step(1, lambda profile: profile.user)
def hand_over(world, rng):
    give_back(world)


def give_back(world):
    """All files belong to the user who runs Ferry."""
    if not world.profile.user:
        return
    for folder, folders, files in os.walk(world.folder / "disk"):
        for name in files + folders:
            try:
                world.own(os.path.join(folder, name))
            except FileNotFoundError:
                pass


@step(3)
def tell(world, rng):
    """pause, resume, disable, enable, flush."""
    source = rng.choice(world.sources)
    word = rng.choice(["pause", "resume", "resume", "disable", "enable", "enable", "flush"])
    world.ferry(word, "--spool", source, "--quiet", allowed=(0, 73, 74))


@step(3)
def retry(world, rng):
    source = rng.choice(world.sources)
    kill = rng.uniform(0, 0.06) if rng.random() < 0.2 else None
    world.ferry("retry", "--all", "--spool", source, "--quiet", kill_after=kill, allowed=(0, 65, 73, 74))


@step(2, lambda profile: profile.has_damage)
def salvage(world, rng):
    """Saves what damaged segments hold; only those, because of a sound one that was refused all would come twice."""
    source = rng.choice(world.sources)
    names = [name for name, _, is_whole in reading.read_segments(source / "rejected", account.is_kept) if not is_whole]
    for name in names[:2]:
        world.ferry("retry", "--salvage", name, "--spool", source, allowed=(0, 65, 73, 74))


@step(5)
def look(world, rng):
    """Reading changes nothing, always ends well, and agrees with the folder."""
    source = rng.choice(world.sources)
    arguments = rng.choice([
        ["status"], ["status", "--json"], ["list"], ["list", "--json"], ["cat"], ["verify"], ["verify", "--all"],
        ["upload", "--to", world.url, "--dry-run"]])
    if not (source / ".ferry").exists():
        return
    was_quiet = world.is_quiet(source) and not world.copies
    before = picture(source) if was_quiet else {}
    # Damage is told by cat and verify; what another user keeps to himself by all.
    ends = {"status": (0, 1), "list": (0,)}.get(arguments[0], (0, 65, 75))
    world.ferry(*arguments, "--spool", source, allowed=ends + ((74,) if world.profile.user else ()))
    if not was_quiet or world.ferry_path != world.tools.ferry:
        return
    after = picture(source)
    if before != after:
        changes = sorted(set(before.items()) ^ set(after.items()))[:4]
        world.violate(f"ferry {arguments[0]} changed {source.name}: {changes}")


def picture(folder):
    """Everything in a folder that a program could change."""
    entries = {}
    for root, folders, files in os.walk(folder):
        for path in [root] + [os.path.join(root, name) for name in files]:
            status = os.lstat(path)
            entries[os.path.relpath(path, folder)] = (status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns)
    return entries


@step(1)
def replay(world, rng):
    """What was sent goes to a third receiver, interrupted and resumed, each event of it once."""
    source = rng.choice(world.sources)
    if not (source / "sent").exists():
        return
    wanted = account.count(source, places=("sent",))
    if not wanted:
        return
    hub = world.make_hub("mirror")
    hub.start()
    try:
        state = world.folder / "tmp" / f"replay-{time.monotonic_ns()}"
        result = world.ferry(
            "replay", source, "--to", f"http://127.0.0.1:{hub.port}/v1/segments", "--state", state, "--quiet",
            kill_after=rng.uniform(0.01, 0.4) if rng.random() < 0.5 else None)
        for _ in range(20):
            runs = sorted(os.listdir(state)) if state.exists() else []
            if not runs and result.was_killed:
                return
            if not runs or result.status == 65 or result.status in (73, 74) and world.filler:
                break
            result = world.ferry("replay", "--resume", runs[0], "--state", state, "--quiet")
        if result.status not in (0, 64, 65):
            world.violate(f"a replay did not end: {result.status} {result.errors[-300:]}")
    finally:
        hub.stop()
    found = account.count(hub.folder)
    doubled = [number for number, times in found.items() if times > 1 and wanted.get(number, 0) < 2]
    # Files in sent/ may have been pruned meanwhile by nobody but this history's steps, which wait.
    missing = [number for number in wanted if number not in found]
    if result.status == 0 and doubled:
        world.violate(f"a replay sent {doubled[:5]} twice")
    if result.status == 0 and missing and not runs:
        world.violate(f"a replay left out {missing[:5]} of {len(wanted)}")
