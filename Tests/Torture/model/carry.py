"""Steps that carry bundles by hand: exports that cross, sticks that are lost or damaged, receipts that come late or never; and steps that
move segments with cp, mv and rsync."""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess

from . import reading
from .steps import step


@dataclasses.dataclass
class Bundle:
    source: pathlib.Path
    name: str
    path: pathlib.Path
    receipt: pathlib.Path = None
    was_imported: bool = False


def sticks(profile):
    return profile.has_sticks


@step(4, sticks)
def export(world, rng):
    source = rng.choice(world.sources)
    arguments = ["export", world.sticks, "--spool", source, "--json"]
    if rng.random() < 0.3:
        arguments.append("--tar")
    if rng.random() < 0.3:
        arguments += ["--max-bytes", rng.choice(["8KB", "40KB"])]
    if rng.random() < 0.3 and world.profile.has_copies:
        arguments.append("--again")
    kill = rng.uniform(0, 0.08) if rng.random() < 0.2 else None
    result = world.ferry(*arguments, kill_after=kill, allowed=(0, 73, 74, 75))
    if result.was_killed or result.status in (73, 74) or not result.output.strip():
        return
    report = json.loads(result.output)
    if report.get("path"):
        world.bundles.append(Bundle(source, report["bundle"], pathlib.Path(report["path"])))


@step(4, sticks)
def bring_stick(world, rng):
    """The hub takes a bundle, beside its receiver or alone."""
    bundles = [bundle for bundle in world.bundles if bundle.path.exists()]
    if bundles:
        kill = rng.uniform(0, 0.1) if rng.random() < 0.25 else None
        take_bundle(world, rng.choice(bundles), kill_after=kill, is_beside=rng.random() < 0.5)


def take_bundle(world, bundle, kill_after=None, is_beside=False):
    was_running = world.hub.process is not None
    if not is_beside:
        world.hub.stop()
    result = world.ferry(
        "import", bundle.path, "--spool", world.hub_folder, "--receipts", world.sticks, "--quiet", kill_after=kill_after,
        allowed=(0, 65, 74))
    bundle.was_imported = True
    for receipt in world.sticks.glob(f"ferry-receipt-{bundle.name}-*.json"):
        bundle.receipt = receipt
    if was_running:
        world.hub.start()
    return result


@step(4, sticks)
def bring_receipt(world, rng):
    bundles = [bundle for bundle in world.bundles if bundle.receipt]
    if bundles:
        bundle = rng.choice(bundles)
        kill = rng.uniform(0, 0.08) if rng.random() < 0.2 else None
        acknowledge(world, bundle, kill)


def acknowledge(world, bundle, kill_after=None):
    return world.ferry(
        "acknowledge", bundle.receipt, "--spool", bundle.source, "--quiet", kill_after=kill_after, allowed=(0, 65, 73, 74, 75))


@step(2, sticks)
def lose_stick(world, rng):
    """A stick is lost; the source gives it up at once, or nobody notices."""
    if not world.bundles:
        return
    bundle = world.bundles.pop(rng.randrange(len(world.bundles)))
    remove(bundle.path)
    # What came in after all and is sent again may not be split meanwhile.
    if rng.random() < 0.5 and not (bundle.was_imported and world.profile.may_split):
        forget(world, bundle)


@step(2, lambda profile: profile.has_sticks and profile.has_copies)
def give_up_bundle(world, rng):
    """The source gives a bundle up that may still come in, or did: its segments leave another way as well."""
    if world.bundles:
        forget(world, rng.choice(world.bundles))


def forget(world, bundle):
    world.ferry("export", "--forget", bundle.name, "--spool", bundle.source, allowed=(0, 64, 73, 74))


@step(1, sticks)
def damage_stick(world, rng):
    """One file of a bundle is cut off, or missing."""
    bundles = [bundle for bundle in world.bundles if bundle.path.is_dir() and not bundle.was_imported]
    if not bundles:
        return
    files = sorted(rng.choice(bundles).path.glob("0*.gz"))
    if not files:
        return
    file = rng.choice(files)
    if rng.random() < 0.5:
        file.unlink()
    else:
        os.truncate(file, file.stat().st_size // 2)


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def own_names(folder):
    """The names of pending segments that keep their key wherever they are."""
    return [name for name in sorted(os.listdir(folder)) if reading.is_segment(name) and has_own_name(name)
            and (folder / name).is_file()]


def has_own_name(name):
    parts = name[:-len(".jsonl.gz")].split("-", 2) if name.endswith(".jsonl.gz") else []
    if len(parts) != 3 or len(parts[0]) != 1 or len(parts[1]) != 20:
        return False
    id = parts[2].split(".")[0]
    return len(id) >= 16 and all(letter in "0123456789abcdefghijklmnopqrstuvwxyz" for letter in id)


@step(3, lambda profile: profile.has_copies)
def move_between_spools(world, rng):
    """mv or cp of a segment from one spool to the other: the key stays, so the hub has it once."""
    origin, target = rng.sample(world.sources, 2)
    names = [name for name in own_names(origin) if not any(copy[0] == origin / name for copy in world.copies)]
    if not names:
        return
    name = rng.choice(names)
    how = rng.choice(["mv", "mv", "cp"])
    if how == "cp":
        # Not in place: a copy that is still being written is a different story.
        command = ["sh", "-c", 'cp "$1/$3" "$2/.$3.tmp" && mv -n "$2/.$3.tmp" "$2/$3"; rm -f "$2/.$3.tmp"', "sh"]
    else:
        command = ["sh", "-c", 'mv -n "$1/$3" "$2/$3"', "sh"]
    subprocess.run([*command, origin, target, name], capture_output=True)
    if (target / name).exists():
        world.own(target / name)


@step(2, lambda profile: profile.has_copies and not profile.has_foreign)
def rsync_between_spools(world, rng):
    """rsync as the README has it, from one spool into the other's folder, with or without removing what was copied."""
    origin, target = rng.sample(world.sources, 2)
    removes = ["--remove-source-files"] if rng.random() < 0.5 and world.is_quiet(origin) else []
    result = subprocess.run(["rsync", "-aF", *removes, f"{origin}/", f"{target}/"], capture_output=True, text=True)
    world.note(f"  rsync {' '.join(removes)}: {result.returncode} {result.stderr.strip()[:200]}")
