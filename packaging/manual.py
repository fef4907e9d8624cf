#!/usr/bin/env python3
"""Writes a manual page for each command: manual.py BINARY FOLDER DATE VERSION.

The program describes itself (--experimental-dump-help). ArgumentParser's own generator writes such pages as well, but names them ferry.upload(1), which
"man ferry upload" does not find, and has no sections for examples and exit statuses.
"""
import json
import pathlib
import re
import subprocess
import sys


def text(words):
    """Words as roff takes them."""
    words = words.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return re.sub(r"^([.'])", r"\\&\1", words, flags=re.M)


def bold(words):
    return f"\\fB{text(words)}\\fP"


def italic(words):
    return f"\\fI{text(words)}\\fP"


def option_names(argument):
    names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument.get("names", [])]
    return sorted(names, key=len)


def synopsis(argument):
    value = italic(argument.get("valueName", "value").strip("<>"))
    if argument["kind"] == "positional":
        shown = value
    else:
        names = option_names(argument)
        shown = bold(names[-1]) + ("" if argument["kind"] == "flag" else f" {value}")
    shown += " ..." if argument.get("isRepeating") else ""
    return f"[{shown}]" if argument.get("isOptional") else shown


def entry(argument):
    """An option or argument with what it means."""
    value = italic(argument.get("valueName", "value").strip("<>"))
    if argument["kind"] == "positional":
        head = value
    else:
        head = ", ".join(map(bold, option_names(argument))) + ("" if argument["kind"] == "flag" else f" {value}")
    lines = [".TP", head]
    abstract = argument.get("abstract", "")
    default = argument.get("defaultValue")
    if default is not None and argument["kind"] != "flag" and "(default:" not in abstract:
        abstract = f"{abstract} (default: {default})".strip()
    lines.append(text(abstract))
    for paragraph in argument.get("discussion", "").split("\n\n"):
        if paragraph:
            lines += [".IP", text(paragraph)]
    return lines


def statuses(words):
    """The statuses of "0 it is done, 75 some remain", one an entry."""
    parts = re.split(r"(?:^|[,;] (?:and |or )?)(?=\d+ )", words.rstrip("."))
    for part in filter(None, parts):
        number, _, meaning = part.partition(" ")
        if not (number.isdigit() and meaning):
            sys.exit(f"an exit status without a meaning: {part!r} in {words!r}")
        yield from [".TP", bold(number), text(meaning[:1].upper() + meaning[1:] + ".")]


def page(command, path, date, version):
    title = "-".join(path)
    arguments = [argument for argument in command.get("arguments", []) if argument.get("shouldDisplay", True)]
    subcommands = [sub for sub in command.get("subcommands", []) if sub.get("shouldDisplay", True) and sub["commandName"] != "help"]
    lines = [
        f'.TH "{title.upper()}" 1 "{date}" "ferry {version}" "User Commands"', ".SH NAME",
        f"{text(title)} \\- {text(command.get('abstract', '').rstrip('.'))}", ".SH SYNOPSIS", ".nh", ".ad l", f".B {text(' '.join(path))}",
    ]
    lines += [synopsis(argument) for argument in arguments]
    if subcommands:
        lines.append(italic("command"))
    lines += [".ad b", ".hy"]
    examples, exits, description = [], [], []
    for paragraph in filter(None, command.get("discussion", "").split("\n\n")):
        if re.match(r"Exit status: \d", paragraph):
            exits.append(paragraph.removeprefix("Exit status: "))
        elif paragraph.startswith(("Example: ", "Try it: ")):
            examples.append(paragraph.split(": ", 1)[1])
        else:
            description.append(paragraph)
    if description:
        lines += [".SH DESCRIPTION", "\n.PP\n".join(map(text, description))]
    if subcommands:
        lines.append(".SH COMMANDS")
        for sub in subcommands:
            lines += [".TP", f"{bold(sub['commandName'])}", text(sub.get("abstract", ""))]
    for name, isChosen in (("ARGUMENTS", lambda kind: kind == "positional"), ("OPTIONS", lambda kind: kind != "positional")):
        chosen = [argument for argument in arguments if isChosen(argument["kind"])]
        if chosen:
            lines.append(f".SH {name}")
            for argument in chosen:
                lines += entry(argument)
    for words in exits:
        lines += [".SH EXIT STATUS", *statuses(words)]
    if examples:
        lines += [".SH EXAMPLES", "\n.PP\n".join(f".nf\n{text(example)}\n.fi" for example in examples)]
    related = ["-".join(path[:-1])] if len(path) > 1 else []
    related += [f"{title}-{sub['commandName']}" for sub in subcommands]
    if related:
        lines += [".SH SEE ALSO", *(f'.BR {text(name)} (1){"," if name != related[-1] else ""}' for name in related)]
    return "\n".join(line for line in lines if line) + "\n"


def pages(command, above=()):
    path = (*above, command["commandName"])
    yield path, command
    for sub in command.get("subcommands", []):
        if sub["commandName"] != "help":
            yield from pages(sub, path)


def main():
    binary, folder, date, version = sys.argv[1:]
    help_text = subprocess.run([binary, "--experimental-dump-help"], check=True, capture_output=True).stdout
    target = pathlib.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for path, command in pages(json.loads(help_text)["command"]):
        (target / f"{'-'.join(path)}.1").write_text(page(command, path, date, version))


if __name__ == "__main__":
    main()
