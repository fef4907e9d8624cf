"""Runs the parts of the torture harness one after the other: calls, power, model, arrivals. See scripts/torture."""

import argparse
import importlib
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from common.options import Options  # noqa: E402

PARTS = ("calls", "power", "model", "arrivals")


def main():
    parser = argparse.ArgumentParser(prog="scripts/torture", description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=2, help="for each part")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--seed", type=int, help="chooses the cases; printed by every run")
    parser.add_argument("--case", help="one case, as a failure names it, or names of scenarios; with --only")
    parser.add_argument("--keep", help="a folder for what failed cases leave")
    parser.add_argument("--jobs", type=int, default=2, help="cases at once")
    arguments = parser.parse_args()
    if arguments.case and not arguments.only:
        parser.error("--case needs --only")

    options = Options(
        ferry=os.path.abspath(os.environ.get("FERRY") or ".build/debug/ferry"),
        ferry_old=os.environ.get("FERRY_OLD"),
        tracker_host=os.environ.get("TRACKER_HOST"),
        seconds=arguments.minutes * 60,
        seed=random.SystemRandom().randrange(1 << 31) if arguments.seed is None else arguments.seed,
        case=arguments.case,
        keep=arguments.keep,
        jobs=arguments.jobs,
    )
    # In the programs' environment it would be a setting.
    os.environ.pop("FERRY_OLD", None)
    if not os.access(options.ferry, os.X_OK):
        sys.exit(f"{options.ferry} is no program: build it, or name one with FERRY=")

    failed = False
    for name in [arguments.only] if arguments.only else PARTS:
        if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), name, "__init__.py")):
            continue
        began = time.monotonic()
        print(f"{name}: seed {options.seed}", flush=True)
        outcome = importlib.import_module(name).run(options)
        figures = ", ".join(f"{count} {what}" for what, count in outcome.counts.items())
        print(f"{name}: {figures}, {len(outcome.failures)} failures, {time.monotonic() - began:.0f} s", flush=True)
        failed = failed or bool(outcome.failures)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
