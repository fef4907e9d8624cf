"""Compares what the libraries make public with the lists beside this file: surface.py GRAPHS [--accept]

GRAPHS is a folder of symbol graphs, as `swift package dump-symbol-graph` makes them. A list has a line for each public declaration, in the order of
the names, so that a review shows what a user of the library gains or loses. --accept writes the lists anew.
"""

import json
import pathlib
import sys

MODULES = ["FerrySpool", "FerryUpload", "FerryTracker", "FerryTrackerUpload", "FerryReceiver", "FerryTransfer", "FerryReplay"]


def declarations(graphs, module):
    """Returns a line for each public declaration of a module, and of what it adds to others' types."""
    lines = set()
    files = [*graphs.glob(f"{module}.symbols.json"), *graphs.glob(f"{module}@*.symbols.json")]
    if not files:
        sys.exit(f"{graphs} has no symbol graph of {module}: swift package dump-symbol-graph makes them")
    for file in files:
        for symbol in json.loads(file.read_text())["symbols"]:
            # What the compiler or the standard library adds has no place in the sources.
            if symbol["accessLevel"] not in ("public", "open") or "location" not in symbol:
                continue
            text = "".join(part["spelling"] for part in symbol.get("declarationFragments", []))
            lines.add(f"{'.'.join(symbol['pathComponents'])}: {' '.join(text.split())}")
    return sorted(lines)


def main():
    graphs = pathlib.Path(sys.argv[1])
    accepts = "--accept" in sys.argv[2:]
    differs = False
    for module in MODULES:
        path = pathlib.Path(__file__).parent / f"{module}.txt"
        now = declarations(graphs, module)
        if accepts:
            path.write_text("".join(f"{line}\n" for line in now))
            continue
        listed = path.read_text().splitlines() if path.exists() else []
        gone, new = sorted(set(listed) - set(now)), sorted(set(now) - set(listed))
        differs = differs or bool(gone or new)
        for line in gone:
            print(f"{module}: no longer public: {line}")
        for line in new:
            print(f"{module}: newly public: {line}")
    if differs:
        sys.exit("what users of the libraries see has changed; if that is meant, run scripts/surface --accept, and name it in CHANGELOG.md")


main()
