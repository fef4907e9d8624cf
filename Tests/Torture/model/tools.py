"""The programs that histories use, and what they can do."""

import dataclasses
import os
import pathlib
import subprocess
import typing

CHECKOUT = pathlib.Path(__file__).resolve().parents[3]


@dataclasses.dataclass
class Tools:
    ferry: str
    #: The Ferry of the commit before; None: no upgrades.
    old: typing.Optional[str]
    #: A program in C with libferrytracker; None: the library is not there.
    producer: typing.Optional[str]
    can_mount: bool
    #: Ferry knows `--split-broken`.
    can_keep_whole: bool


def find(ferry, old, folder):
    """Looks what there is, and says what is left out."""
    missing = []
    producer = build_producer(ferry, folder)
    if not producer:
        missing.append("the C producer (no cc, or no libferrytracker.so beside ferry)")
    can_mount = os.geteuid() == 0 and mounts(folder)
    if not can_mount:
        missing.append("full disks and other users (not root, or no mounts)")
    if not old:
        missing.append("upgrades (FERRY_OLD names no older ferry)")
    for text in missing:
        print(f"NOT TESTED: {text}", flush=True)
    usage = subprocess.run([ferry, "upload", "--help"], capture_output=True, text=True).stdout
    return Tools(ferry, old, producer, can_mount, "--split-broken" in usage)


def build_producer(ferry, folder):
    beside = pathlib.Path(ferry).resolve().parent
    for place in (beside, CHECKOUT / ".build" / "debug"):
        if (place / "libferrytracker.so").exists():
            break
    else:
        return None
    program = os.path.join(folder, "produce")
    command = ["cc", "-o", program, str(pathlib.Path(__file__).parent / "produce.c"), f"-I{CHECKOUT}/Sources/CFerry/include",
               f"-L{place}", "-lferrytracker", f"-Wl,-rpath,{place}"]
    try:
        subprocess.run(command, check=True, capture_output=True)
        subprocess.run([program], capture_output=True, timeout=20)
        return program
    except (OSError, subprocess.SubprocessError):
        return None


def mounts(folder):
    place = os.path.join(folder, "mount")
    os.makedirs(place, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], capture_output=True).returncode != 0:
        return False
    return subprocess.run(["umount", place]).returncode == 0
