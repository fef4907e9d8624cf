"""A folder as a disk may hold it after a power cut: what was forced is there, of the rest anything may be.

Forcing a file forces its bytes and size, and its name only where `keeps_names` says so, as ext4, XFS and btrfs do; forcing a folder forces its
names; a rename between two folders is one step, which forcing either of them forces. Modes, times and extended attributes are kept as
they are."""

import hashlib
import os
import stat
from dataclasses import dataclass, field

O_CREAT, O_TRUNC, O_TMPFILE = os.O_CREAT, os.O_TRUNC, os.O_TMPFILE
SECTOR = 512


@dataclass(eq=False)
class File:
    forced: bytes = b""
    current: bytearray = field(default_factory=bytearray)
    mode: int = 0o600
    modified: int | None = None

    def is_forced(self):
        return self.forced == self.current


@dataclass(eq=False)
class Folder:
    forced: dict = field(default_factory=dict)
    current: dict = field(default_factory=dict)
    mode: int = 0o700


@dataclass(eq=False)
class Naming:
    """Names that change in one step: [(folder, name, what it means from now on)]."""

    changes: list


class Disk:
    def __init__(self, root):
        """The folder as it is now, all of it forced."""
        self.root = root
        self.files = {}
        # Not forced yet, in the order in which they were made.
        self.namings = []
        self.unmodelled = []
        self.top = self._scan(root)

    def _scan(self, path):
        folder = Folder(mode=stat.S_IMODE(os.stat(path).st_mode))
        for entry in os.scandir(path):
            status = entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                node = self._scan(entry.path)
            elif status.st_ino in self.files:
                node = self.files[status.st_ino]
            else:
                with open(entry.path, "rb") as file:
                    content = file.read()
                node = File(content, bytearray(content), stat.S_IMODE(status.st_mode), status.st_mtime_ns)
                self.files[status.st_ino] = node
            folder.forced[entry.name] = folder.current[entry.name] = node
        return folder

    def _find(self, path):
        """The folder that a path lies in, and its last part; (None, "") where there is none."""
        if not path.startswith(self.root + "/"):
            return None, ""
        parts = path[len(self.root) + 1:].split("/")
        folder = self.top
        for part in parts[:-1]:
            folder = folder.current.get(part)
            if not isinstance(folder, Folder):
                return None, ""
        return folder, parts[-1]

    def _node(self, path):
        if path == self.root:
            return self.top
        folder, name = self._find(path)
        return folder.current.get(name) if folder else None

    def _name(self, *changes):
        changes = [change for change in changes if change[0] is not None]
        for folder, name, node in changes:
            if node is None:
                folder.current.pop(name, None)
            else:
                folder.current[name] = node
        self.namings.append(Naming(changes))

    def _force_names(self, is_wanted):
        left = []
        for naming in self.namings:
            if is_wanted(naming):
                for folder, name, node in naming.changes:
                    if node is None:
                        folder.forced.pop(name, None)
                    else:
                        folder.forced[name] = node
            else:
                left.append(naming)
        self.namings = left

    def apply(self, call):
        """Does what a call did. Returns whether it changed anything that a power cut can show."""
        if call.name == "unmodelled" or call.name == "mapwrite":
            self.unmodelled.append(f"{call.name} {call.path2} {call.path}")
            return False
        if call.result < 0:
            return False
        match call.name:
            case "create" | "open":
                return self._open(call)
            case "write":
                file = self.files.get(call.inode)
                if file is None:
                    return False
                end = call.offset + len(call.data)
                if len(file.current) < end:
                    file.current.extend(bytes(end - len(file.current)))
                file.current[call.offset:end] = call.data
            case "truncate" | "fallocate":
                file = self.files.get(call.inode)
                if file is None:
                    return False
                if len(file.current) < call.offset:
                    file.current.extend(bytes(call.offset - len(file.current)))
                elif call.name == "truncate":
                    del file.current[call.offset:]
            case "sync":
                node = self._node(call.path)
                if isinstance(node, Folder):
                    self._force_names(lambda naming: any(change[0] is node for change in naming.changes))
                elif (file := self.files.get(call.inode)) is not None:
                    file.forced = bytes(file.current)
            case "syncfs":
                self._force_names(lambda naming: True)
                for file in self.files.values():
                    file.forced = bytes(file.current)
            case "mkdir":
                folder, name = self._find(call.path)
                self._name((folder, name, Folder()))
            case "unlink":
                folder, name = self._find(call.path)
                self._name((folder, name, None))
            case "rename":
                source, old = self._find(call.path)
                target, new = self._find(call.path2)
                node = source.current.get(old) if source else self.files.get(call.inode)
                if node is None:
                    return False
                if source is target and old == new:
                    return False
                self._name((source, old, None), (target, new, node))
            case "link":
                target, new = self._find(call.path2)
                node = self.files.get(call.inode)
                if node is None:
                    return False
                self._name((target, new, node))
            case _:
                return False
        return True

    def _open(self, call):
        if call.flags & O_TMPFILE == O_TMPFILE:
            self.files[call.inode] = File()
            return False
        if call.name == "create" and call.inode2 == 0:
            folder, name = self._find(call.path)
            node = File()
            self.files[call.inode] = node
            self._name((folder, name, node))
            return True
        if call.flags & O_TRUNC and call.inode in self.files:
            self.files[call.inode].current.clear()
            return True
        return False

    # --- After the cut ---

    def state(self, variant, random):
        """What the disk holds: {path: (mode, bytes, time, file)}, folders with None for bytes.

        strict: nothing that was not forced. names: all names, of the files what was forced. zeros: all names, and all sizes, with zeros for
        what was not forced. mix: of each name and each sector the old or the new. all: everything."""
        folders = {}

        def names(folder):
            if id(folder) not in folders:
                folders[id(folder)] = dict(folder.forced)
            return folders[id(folder)]

        for naming in self.namings:
            if variant == "strict" or variant == "mix" and random.random() < 0.5:
                continue
            for folder, name, node in naming.changes:
                if node is None:
                    names(folder).pop(name, None)
                else:
                    names(folder)[name] = node
        found, contents, seen = {}, {}, set()

        def walk(folder, path):
            # A folder that is reached by two names is one of them: no file system has both.
            if id(folder) in seen:
                return
            seen.add(id(folder))
            for name, node in sorted(names(folder).items()):
                here = f"{path}/{name}" if path else name
                if isinstance(node, Folder):
                    found[here] = (node.mode, None, None, node)
                    walk(node, here)
                else:
                    if id(node) not in contents:
                        contents[id(node)] = self._content(node, variant, random)
                    found[here] = (node.mode, contents[id(node)], node.modified, node)

        walk(self.top, "")
        return found

    @staticmethod
    def _content(file, variant, random):
        current = bytes(file.current)
        if file.is_forced() or variant == "all":
            return current
        if variant in ("strict", "names"):
            return file.forced
        if variant == "zeros":
            return file.forced[:len(current)] + bytes(max(0, len(current) - len(file.forced)))
        choice = random.random()
        if choice < 0.25:
            return file.forced
        if choice < 0.4:
            return current
        ends = sorted({len(file.forced), len(current), *range(
            -(-min(len(file.forced), len(current)) // SECTOR) * SECTOR, max(len(file.forced), len(current)), SECTOR)})
        size = random.choice(ends)
        out = bytearray()
        for start in range(0, size, SECTOR):
            source = file.forced if random.random() < 0.5 else current
            out += source[start:min(start + SECTOR, size)].ljust(min(SECTOR, size - start), b"\0")
        return bytes(out)


def digest(state):
    hash = hashlib.sha256()
    for path, (mode, content, _, _) in sorted(state.items()):
        hash.update(f"{path} {mode} {-1 if content is None else len(content)}\n".encode())
        hash.update(content or b"")
    return hash.digest()


def write(state, root):
    """Makes the folder that a disk holds."""
    os.makedirs(root, exist_ok=True)
    made = {}
    for path, (mode, content, modified, node) in sorted(state.items()):
        target = os.path.join(root, path)
        if content is None:
            os.mkdir(target, mode)
            continue
        if id(node) in made:
            os.link(made[id(node)], target)
            continue
        made[id(node)] = target
        with open(target, "wb") as file:
            file.write(content)
        os.chmod(target, mode)
        if modified is not None:
            os.utime(target, ns=(modified, modified))
