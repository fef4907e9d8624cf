"""Plays one history that standard input describes, and prints its verdict as JSON."""

import json
import sys

from . import history
from .plan import profile_of, steps_of
from .tools import Tools


def main():
    task = json.load(sys.stdin)
    tools = Tools(**task["tools"])
    violations, log = history.play(task["folder"], task["seed"], task["steps"], tools)
    steps = task["steps"]
    count = len(steps_of(task["seed"], profile_of(task["seed"], tools))) if steps is None else len(steps)
    print(json.dumps({"violations": violations, "log": log, "steps": count}))


if __name__ == "__main__":
    main()
