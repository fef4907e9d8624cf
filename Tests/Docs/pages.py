"""A page of the documentation as steps: what is run, what is written into files, what is only read."""
import dataclasses
import re

# A block with one of these is for a machine of one's own: it is read, and not run.
NOT_HERE = re.compile(r"\bsudo\b|^\s*(scripts/|podman |docker |apt )", re.M)


@dataclasses.dataclass
class Block:
    info: list[str]  # the words behind the fence, ["sh"]
    text: str
    line: int  # of its first line of text, from 1
    hidden: bool = False  # in an HTML comment
    needs: tuple = ()  # the programs, and modules of Python, without which it is not run

    @property
    def kind(self):
        return self.info[0] if self.info else ""

    @property
    def runs(self):
        if self.hidden:
            return True
        return self.info == ["sh"] and not NOT_HERE.search(self.text) or self.info in (["console", "run"], ["crontab", "run"])

    @property
    def file(self):
        """The file that the block is the content of: ```yaml ferry.yaml"""
        return self.info[1] if len(self.info) == 2 and self.kind in ("yaml", "ini", "json") else None


@dataclasses.dataclass
class Command:
    """A line behind `$ `, and what the page shows of its output."""
    text: str
    expected: list[str]
    line: int  # of the first line of output
    shows: bool = True  # whether the output has a place in the page


class PageError(Exception):
    pass


class Page:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.blocks = []
        self.maps = []  # pairs: what the page says, what is run in its stead
        self.needs = []
        self.prose = []  # (line number, text)
        self._read()

    def _read(self):
        number = 0
        while number < len(self.lines):
            line = self.lines[number]
            if fence := re.match(r"( *)```(.*)$", line):
                begin = number + 1
                number = self._end(begin, re.compile(r" *```$"))
                indent = len(fence[1])
                text = "\n".join(each[indent:] for each in self.lines[begin:number])
                info, _, needs = fence[2].partition(" needs ")
                self.blocks.append(Block(info.split(), text, begin + 1, needs=tuple(needs.split())))
            elif match := re.fullmatch(r"<!-- run(?: needs (.+))?", line):
                begin = number + 1
                number = self._end(begin, re.compile(r"-->$"))
                text = "\n".join(self.lines[begin:number])
                self.blocks.append(Block(["sh"], text, begin + 1, hidden=True, needs=tuple((match[1] or "").split())))
            elif match := re.fullmatch(r"<!-- map (\S+) (\S+) -->", line):
                self.maps.append((match[1], match[2]))
            elif match := re.fullmatch(r"<!-- needs (.+) -->", line):
                self.needs += match[1].split()
            else:
                self.prose.append((number + 1, line))
            number += 1

    def _end(self, begin, pattern):
        for number in range(begin, len(self.lines)):
            if pattern.match(self.lines[number]):
                return number
        raise PageError(f"{self.path}:{begin}: the block has no end")


def commands(block):
    """The commands of a block of console, each with its output, or of lines of /etc/cron.d, which must print nothing and may leave something (75)."""
    if block.kind == "crontab":
        lines = [(number, line.split(None, 6)) for number, line in enumerate(block.text.split("\n")) if line and not line.startswith("#")]
        return [
            Command(f"(PATH=/usr/bin:/bin; {fields[6]}); status=$?; [ $status = 0 ] || [ $status = 75 ]", [], block.line + number, shows=False)
            for number, fields in lines]
    found = []
    for number, line in enumerate(block.text.split("\n")):
        if line.startswith("$ "):
            found.append(Command(line[2:], [], block.line + number + 1))
        elif line.startswith("> ") and found and not found[-1].expected and found[-1].text.endswith("\\"):
            found[-1].text += "\n" + line[2:]
            found[-1].line = block.line + number + 1
        elif found:
            found[-1].expected.append(line)
        elif line:
            raise PageError(f"line {block.line + number}: output before the first command")
    return found
