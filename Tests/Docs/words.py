"""Looks whether the commands and options that a page names exist, and the pages and metrics that it points to."""
import json
import os
import re
import shlex
import subprocess

COMPLETION = "--generate-completion-script"

# Options of scripts/package, scripts/test, scripts/surface and swift test that pages name by themselves.
OF_SCRIPTS = {"--binary", "--check", "--install", "--accept", "--filter"}


class Program:
    """The commands of `ferry` and their options, from the program itself."""

    def __init__(self, ferry):
        dump = subprocess.run([ferry, "--experimental-dump-help"], check=True, capture_output=True).stdout
        self.options = {}
        self._add(json.loads(dump)["command"], [])
        self.all = set().union(*self.options.values()) | {COMPLETION} | OF_SCRIPTS

    def _add(self, command, above):
        path = above + [command["commandName"]]
        names = {"--help", "-h", "--version"}
        for argument in command.get("arguments", []):
            for name in argument.get("names", []):
                names.add(("-" if name["kind"] == "short" else "--") + name["name"])
        self.options[" ".join(path)] = names
        for each in command.get("subcommands", []):
            self._add(each, path)

    def faults(self, words):
        """What is wrong with the words behind `ferry`."""
        command = "ferry"
        words = list(words)
        while words and f"{command} {words[0]}" in self.options:
            command += " " + words.pop(0)
        known = self.options[command]
        if command.startswith("ferry service "):  # they take the options of the command that a unit calls
            known = known.union(*(self.options[f"ferry {role}"] for role in ("run", "upload", "receive")))
        groups = any(each.startswith(command + " ") for each in self.options)
        if groups and words and re.fullmatch(r"[a-z]+", words[0]):
            yield f"there is no command '{command} {words[0]}'"
            return
        for word in words:
            name = word.split("=")[0]
            if re.fullmatch(r"--[a-z][a-z-]*", name) and name not in known and name != COMPLETION:
                yield f"'{command}' has no option {name}"


def calls(text):
    """The words behind each `ferry` of a text of shell."""
    for line in text.replace("\\\n", " ").split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        try:
            words = list(lexer)
        except ValueError:  # a quote that ends on another line
            words = line.split()
        for index, word in enumerate(words[:-1]):
            begins = index == 0 or re.fullmatch(r"[|&;<>()]+|sudo", words[index - 1])
            if not re.fullmatch(r"(/.*/bin/)?ferry", word) or not re.fullmatch(r"[a-z]+" + ("|--[a-z-]+" if begins else ""), words[index + 1]):
                continue
            # A user or a unit: sudo -u ferry ferry status.
            if words[index + 1] == "ferry" or index > 0 and words[index - 1].startswith("-"):
                continue
            behind = []
            for each in words[index + 1:]:
                if re.fullmatch(r"[|&;<>()]+", each):
                    break
                behind.append(each)
            yield behind


def metrics():
    """The names of the metrics in the sources; counters get _total, histograms _bucket, when they are written out."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources/ferry/Metrics")
    names = set()
    for file in os.listdir(folder):
        with open(os.path.join(folder, file), encoding="utf-8") as source:
            names.update(re.findall(r'"(ferry_[a-z_]+)"', source.read()))
    return names


def sections(path):
    """The names by which links point to a page's headings, as GitHub makes them."""
    with open(path, encoding="utf-8") as file:
        headings = re.findall(r"^#+ (.*)$", file.read(), re.M)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def faults(page, program):
    """Lines that say what the page names and does not exist."""
    for block in page.blocks:
        if block.kind in ("sh", "console", "crontab", "ini") and not block.hidden:
            text = block.text
            if block.kind == "console":
                text = "\n".join(
                    line[2:] if line[:2] in ("$ ", "> ") else "" for line in text.split("\n"))
            if block.kind == "ini":
                text = re.sub("[='\"]", " ", text)  # what a unit calls
            for words in calls(text):
                for fault in program.faults(words):
                    yield f"{page.path}:{block.line}: {fault}"
    for number, line in page.prose:
        for code in re.findall(r"`([^`]+)`", line):
            if code.startswith("ferry "):
                for words in calls(code):
                    for fault in program.faults(words):
                        yield f"{page.path}:{number}: {fault}"
            elif match := re.fullmatch(r"(ferry_[a-z_]+?)(_total|_bucket)?(\{.*\})?", code):
                if page.path.endswith("operations.md") and match[1] not in metrics():
                    yield f"{page.path}:{number}: there is no metric {match[1]}"
            elif match := re.match(r"(--[a-z][a-z-]*)", code):
                if match[1] not in program.all:
                    yield f"{page.path}:{number}: no command has the option {match[1]}"
        for target in re.findall(r"\]\(([^)]+)\)", line):
            if "://" in target:
                continue
            path, _, section = target.partition("#")
            path = os.path.join(os.path.dirname(page.path), path) if path else page.path
            if not os.path.exists(path) or section and section not in sections(path):
                yield f"{page.path}:{number}: there is no {target}"
