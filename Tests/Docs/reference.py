"""Prints docs/reference.md: the commands, options and settings as the program itself tells them.

Tests/Docs/reference.py FERRY >docs/reference.md
"""
import json
import os
import re
import subprocess
import sys

HEAD = """# Reference

Made by `Tests/Docs/reference.py` from the program's own help and settings; a test compares. Change the help, not this page.
"""


def ask(ferry, *arguments):
    # The values are the defaults, not what the caller's environment says.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FERRY")}
    return json.loads(subprocess.run([ferry, *arguments], check=True, capture_output=True, env=environment).stdout)


def escaped(text):
    """Text as Markdown shows it: what could be HTML, emphasis or the end of a cell is none."""
    return re.sub(r"([<>|*_\[\]])", r"\\\1", " ".join(text.split()))


def names_of(argument):
    value = f" <{argument['valueName']}>" if argument["kind"] == "option" else ""
    if argument["kind"] == "positional":
        return f"`<{argument['valueName']}>`" + (", several" if argument["isRepeating"] else "")
    names = [("-" if each["kind"] == "short" else "--") + each["name"] for each in argument["names"]]
    return ", ".join(f"`{each}`" for each in names[:-1]) + (", " if names[1:] else "") + f"`{names[-1]}{value}`"


def row(argument):
    text = " ".join(each for each in (argument.get("abstract"), argument.get("discussion")) if each)
    if default := argument.get("defaultValue"):
        text += f" Default: {default}."
    return f"| {names_of(argument)} | {escaped(text)} |"


def command_page(command, above):
    path = " ".join(above + [command["commandName"]])
    yield f"## {path}"
    yield ""
    yield escaped(command.get("abstract", ""))
    for paragraph in command.get("discussion", "").split("\n\n"):
        if not paragraph:
            continue
        yield ""
        if match := re.fullmatch(r"Example: (\S.*)", paragraph):
            yield f"    {match[1]}"
        else:
            yield escaped(paragraph)
    shown = [each for each in command.get("arguments", []) if each["shouldDisplay"]]
    shown = [each for each in shown if each.get("names", [{}])[-1].get("name") not in ("help", "version")]
    if shown:
        yield ""
        yield "| | |"
        yield "|---|---|"
        yield from map(row, shown)
    yield ""
    for each in command.get("subcommands", []):
        if each["shouldDisplay"] and each["commandName"] != "help":
            yield from command_page(each, above + [command["commandName"]])


def reference(ferry):
    yield HEAD
    root = ask(ferry, "--experimental-dump-help")["command"]
    yield "Every command has `--help` and `--version`.\n"
    for each in root["subcommands"]:
        if each["shouldDisplay"] and each["commandName"] != "help":
            yield from command_page(each, ["ferry"])
    yield "## Settings"
    yield ""
    yield ("The settings of `ferry run`: in the YAML file of `--config`, as `--set NAME=VALUE`, or in the environment as `FERRY_NAME`, "
           "in capitals and with underscores (`FERRY_SENT_MAX_AGE`).")
    yield ""
    yield "| setting | default | what it is |"
    yield "|---|---|---|"
    for each in ask(ferry, "config", "show", "--explain", "--json"):
        value = ", ".join(each["values"])
        yield f"| `{each['setting']}` | {escaped(value) or '–'} | {escaped(each['summary'])} |"


if __name__ == "__main__":
    print("\n".join(reference(sys.argv[1])))
