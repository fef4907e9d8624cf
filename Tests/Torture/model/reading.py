"""Reads segments and logs as any other program would."""

import json
import os
import pathlib
import zlib


def read_text(path):
    return pathlib.Path(path).read_text(errors="replace")


def inflate(data):
    """Returns what can be read of a gzip file, and whether that is all."""
    text, rest = b"", data
    try:
        while rest:
            member = zlib.decompressobj(31)
            # In small pieces: what comes before damage counts.
            while rest and not member.eof:
                text += member.decompress(rest[:64])
                rest = rest[64:]
            if not member.eof:
                return text, False
            rest = member.unused_data + rest
    except zlib.error:
        return text, False
    return text, bool(data)


def numbers_of(text):
    """Returns the numbers of the events in JSON lines, in order."""
    numbers = []
    for line in text.splitlines():
        try:
            event = json.loads(line)
            numbers.append(event["e"] if "e" in event else event["properties"]["e"])
        except (ValueError, KeyError, TypeError):
            continue
    return numbers


def is_segment(name):
    return not name.startswith(".") and name.endswith((".jsonl.gz", ".ndjson.gz", ".json.gz"))


def read_segments(folder, accepts=is_segment):
    """Yields name, events and soundness of the segments in a folder."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if not accepts(name) or not os.path.isfile(path) or os.path.islink(path):
            continue
        try:
            with open(path, "rb") as file:
                text, is_whole = inflate(file.read())
        except FileNotFoundError:
            continue
        yield name, numbers_of(text), is_whole


def read_journals(folder):
    """Yields of each journal the name that its segment would have, and its whole lines' events: a limit may drop it as soon as it is one."""
    for path in pathlib.Path(folder).glob(".*.open"):
        try:
            text = path.read_bytes()
        except (FileNotFoundError, IsADirectoryError, PermissionError):
            continue
        yield f"{path.name[1:-len('.open')]}.jsonl.gz", numbers_of(text[: text.rfind(b"\n") + 1])


def json_lines(path):
    """Returns the values of a log of JSON lines. A line that is no JSON raises ValueError."""
    return [json.loads(line) for line in pathlib.Path(path).read_bytes().splitlines()]
