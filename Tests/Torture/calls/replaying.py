"""ferry replay: archived events again, each once a run."""

import os

from common import spools

from .scenario import Scenario


class Replay(Scenario):
    name = "replay"
    arguments: list[str] = []

    def prepare(self, place):
        for index in range(6):
            spools.put(
                place("archive", "sent", "2026-11-02"), spools.segment_name(index), spools.member(spools.lines(range(index * 10, index * 10 + 10), 50)))
        spools.put(place("archive"), "plain.jsonl", spools.lines(range(60, 70)))

    def play(self, place, environment, fault):
        hub = place.hub()
        try:
            sources = [place("archive"), place("archive", "plain.jsonl")]
            result = self.disturb(
                place, environment, fault, "replay", *sources, "--to", hub.url, "--state", place("state"), "--parallel", "1", *self.arguments)
            # What may not be read is named, and left out for good.
            told = result.status == 65 and "is left out" in result.errors and "Permission denied" in result.errors
            # What was begun is gone on with; a run that has not begun to send is none.
            for _ in range(0 if told else 4):
                runs = self.runs(place)
                stored = place.contents("hub")
                if result.status == 0 or len(stored.count(stored.pending)) == 70 and not runs:
                    break
                if runs:
                    result = place.run("replay", "--resume", runs[0], "--state", place("state"))
                    if result.status == 64:
                        place.problem(f"a run that has begun cannot be gone on with: {result}")
                        break
                else:
                    if stored.pending:
                        place.problem(f"replay failed, has sent something, and left no run to go on with: {result}")
                        break
                    result = place.run("replay", *sources, "--to", hub.url, "--state", place("state"), *self.arguments)
            else:
                if not told:
                    place.problem(f"undisturbed: never done: {result}")
        finally:
            hub.stop()
        stored = place.contents("hub")
        arrived = stored.count(stored.pending)
        place.expect(arrived, set(arrived) if told else range(70), "at the receiver")
        archive = place.contents("archive")
        place.expect(archive.count(archive.sent), range(60), "in the archive")

    def runs(self, place):
        folder = place("state")
        return [
            name for name in sorted(os.listdir(folder)) if os.path.exists(os.path.join(folder, name, ".ferry", "replay.json"))
        ] if os.path.isdir(folder) else []


class ReplayRewritten(Replay):
    """Every event is looked into and changed."""

    name = "replay-rewritten"
    arguments = ["--set", "again=true", "--where", "n >= 0"]


SCENARIOS = [Replay(), ReplayRewritten()]
