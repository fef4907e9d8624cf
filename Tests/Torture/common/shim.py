"""Builds the preloaded library, tells it what to do, and reads what it wrote down."""

import os
import struct
import subprocess
import tempfile
from dataclasses import dataclass

HEADER = struct.Struct("<I20sqqQQqiIIHHI")


@dataclass(slots=True)
class Call:
    name: str
    time: int
    result: int
    # Of the file that was opened, written, linked or renamed; inode2 of what the name meant before.
    inode: int
    inode2: int
    offset: int
    error: int
    flags: int
    # Which call of this name it is, from 1.
    number: int
    path: str
    path2: str
    data: bytes


class Shim:
    def __init__(self, folder=None):
        self.folder = folder or tempfile.mkdtemp(prefix="ferry-shim-")
        self.library = os.path.join(self.folder, "shim.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim.c")
        subprocess.run(
            [os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o", self.library, source,
             "-ldl", "-lpthread"], check=True)

    def tracing(self, prefix, log, with_data=False):
        environment = {"LD_PRELOAD": self.library, "TORTURE_PREFIX": prefix, "TORTURE_LOG": log}
        return {**environment, "TORTURE_DATA": "1"} if with_data else environment

    def failing(self, prefix, fault, fired):
        return {"LD_PRELOAD": self.library, "TORTURE_PREFIX": prefix, "TORTURE_FAULT": fault, "TORTURE_FIRED": fired}


def read_log(path):
    calls = []
    if not os.path.exists(path):
        return calls
    with open(path, "rb") as file:
        data = file.read()
    position = 0
    while position < len(data):
        length, name, time, result, inode, inode2, offset, error, flags, number, size1, size2, size3 = HEADER.unpack_from(data, position)
        start = position + HEADER.size
        calls.append(Call(
            name.rstrip(b"\0").decode(), time, result, inode, inode2, offset, error, flags, number,
            os.fsdecode(data[start:start + size1]), os.fsdecode(data[start + size1:start + size1 + size2]),
            data[start + size1 + size2:start + size1 + size2 + size3]))
        position += length
    return calls
