"""One history: what it does is chosen by its seed alone; when the kills come is chance."""

import errno
import json
import os
import random
import subprocess
import time

from common import machine, spools
from common.place import Place
from common.servers import Hub

#: How commands end that found a receiver gone, a disk full, or a segment that another way is just bringing.
DISTURBED = (0, 65, 73, 74, 75, -9)

GATHERING = ([], ["--gather", "8KiB", "--gather-after", "200ms"], ["--gather", "1MiB", "--gather-after", "1m"])


class History(Place):
    def __init__(self, root, ferry, seed):
        super().__init__(root, ferry)
        self.seed = seed
        self.rng = random.Random(f"arrivals {seed}")
        self.counts = {"histories": 1, "rounds": 0, "kills": 0, "full disks": 0}
        self.receivers = [None, None]
        self.ports = [0, 0]

    def play(self):
        self.prepare()
        try:
            for _ in range(self.rng.randint(3, 7)):
                self.disturbed_round()
            self.look_at_promises()
            if not self.problems:
                self.bring_all()
        finally:
            for index in (0, 1):
                self.end_receiver(index, kills=True)
            if self.is_mounted:
                subprocess.run(["umount", "-l", self("disk")], check=False)

    # --- What there is ---

    def prepare(self):
        """Three spools of overlapping contents, a bundle of the third, and a hub, for some on a small disk."""
        rng = self.rng
        for name in ("disk", "stick"):
            os.mkdir(self(name))
        self.is_mounted = rng.random() < 0.5 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=24m", "none", self("disk")], capture_output=True).returncode == 0
        self.hub = self("disk", "hub")
        self.events = {}
        padding = rng.choice([0, 300, 6000])
        names = {name: [] for name in ("left", "right", "carried")}
        for name in names:
            self.undisturbed("init", self(name))
        self.undisturbed("init", self.hub)
        number = 0
        for index in range(rng.choice([6, 40, 150])):
            count = rng.choice([1, 2, 5])
            name = spools.segment_name(index, stream=rng.choice([None, "s"]))
            data = spools.member(spools.lines(range(number, number + count), padding), with_note=rng.random() < 0.9)
            self.events[name] = list(range(number, number + count))
            number += count
            chosen = rng.sample(sorted(names), rng.choice([1, 2, 3]))
            # Without a segment there would be no bundle.
            if index == 0 and "carried" not in chosen:
                chosen.append("carried")
            for spool in chosen:
                path = spools.put(self(spool), name, data)
                # Without a note it could still be written.
                os.utime(path, (time.time() - 3600, time.time() - 3600))
                names[spool].append(name)
        self.numbers = number
        self.undisturbed("export", self("stick"), "--spool", self("carried"), "--quiet", *rng.choice([[], ["--tar"]]))

    # --- Receivers ---

    def start_receivers(self, indices=(0, 1)):
        for index in indices:
            if self.receivers[index]:
                continue
            receiver = Hub(self.ferry, self.hub, self.ports[index], more=self.rng.choice(GATHERING))
            if receiver.wait():
                (self.receivers[index], self.ports[index]) = (receiver, receiver.port)
            else:
                self.history.append(str(receiver.kill()))

    def end_receiver(self, index, kills):
        receiver, self.receivers[index] = self.receivers[index], None
        if not receiver:
            return
        ended = receiver.kill() if kills else receiver.stop()
        if ended.status not in ((-9, 0) if kills else (0,)):
            self.problem(f"a receiver ended with {ended}")

    # --- Ways ---

    def upload(self, spool, index):
        more = self.rng.choice([[], ["--coalesce", "off"], ["--coalesce", "64KB"], ["--parallel", "1"]])
        return machine.Process(
            [self.ferry, "upload", "--spool", self(spool), "--to", f"http://127.0.0.1:{self.ports[index] or 1}/v1/segments",
             "--retry-now", "--quiet", *more])

    def take_bundle(self):
        return machine.Process([self.ferry, "import", self("stick"), "--spool", self.hub, "--quiet"])

    def disturbed_round(self):
        """Everything at once, for a while that chance chooses; then some of it is killed."""
        rng = self.rng
        self.counts["rounds"] += 1
        self.start_receivers()
        self.fill_disk()
        ways = [self.upload("left", 0), self.upload("right", 1)]
        ways += [self.take_bundle() for _ in range(rng.choice([0, 1, 1, 2]))]
        time.sleep(rng.choice([0, 0.02, 0.1, 0.4]) * rng.random())
        for index in (0, 1):
            if rng.random() < 0.4:
                self.counts["kills"] += 1
                self.end_receiver(index, kills=True)
                if rng.random() < 0.5:
                    self.start_receivers([index])
        for way in ways:
            if rng.random() < 0.2:
                self.counts["kills"] += 1
                way.kill()
        for way in ways:
            result = self.note(way.end())
            if not result.hangs and result.status not in DISTURBED:
                self.problem(f"a disturbed command: {result}")

    def fill_disk(self):
        self.empty_disk()
        if not self.is_mounted or self.rng.random() < 0.4:
            return
        self.counts["full disks"] += 1
        disk = os.statvfs(self("disk"))
        left = self.rng.choice([0, 4, 20, 80, 300]) * 1024
        with open(self("disk", "filler"), "wb") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, max(4096, disk.f_bavail * disk.f_frsize - left))
            except OSError as error:
                # Others have filled it since the look.
                if error.errno != errno.ENOSPC:
                    raise

    def empty_disk(self):
        if os.path.exists(self("disk", "filler")):
            os.unlink(self("disk", "filler"))

    # --- What must be true ---

    def look_at_promises(self):
        """Nothing is sent again before this look: what was vouched for is there, once, when receivers have started and ended."""
        self.empty_disk()
        for index in (0, 1):
            self.end_receiver(index, kills=False)
        self.start_receivers([0])
        self.end_receiver(0, kills=False)
        promised = {name.partition("@")[0] for spool in ("left", "right") for name in spools.Contents(self(spool)).sent}
        for name in os.listdir(self("stick")):
            if name.startswith("ferry-receipt-"):
                with open(self("stick", name)) as file:
                    promised |= {segment["name"] for segment in json.loads(file.readline())["segments"]}
        there = self.arrived()
        for name in sorted(promised):
            missing = [number for number in self.events[name] if not there[number]]
            if missing:
                self.problem(f"promised and not there: {name}, events {missing}")
        self.look_for_doubles(there)

    def arrived(self):
        contents = spools.Contents(self.hub)
        if contents.damaged:
            self.problem(f"damaged in the hub: {sorted(contents.damaged)}")
        return spools.Contents.count(contents.pending)

    def look_for_doubles(self, there):
        doubles = sorted(number for number, count in there.items() if count > 1)
        if doubles:
            self.problem(f"twice in the hub: events {doubles[:20]}")

    def bring_all(self):
        self.start_receivers()
        for spool, index in (("left", 0), ("right", 1)):
            self.undisturbed("upload", "--spool", self(spool), "--to", self.receivers[index].url, "--retry-now", "--quiet")
        self.undisturbed("import", self("stick"), "--spool", self.hub, "--quiet")
        for index in (0, 1):
            self.end_receiver(index, kills=False)
        self.undisturbed("verify", "--all", "--spool", self.hub)
        there = self.arrived()
        self.look_for_doubles(there)
        missing = [number for number in range(self.numbers) if not there[number]]
        if missing:
            self.problem(f"nowhere in the hub: events {missing[:20]}")
        hidden = [name for name in spools.Contents(self.hub).hidden if name.endswith(".gz")]
        if hidden:
            self.problem(f"left over in the hub: {hidden[:5]}")
