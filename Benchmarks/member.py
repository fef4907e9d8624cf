"""Gzip members as Ferry's own writer makes them, with their notes: a segment without one is inflated before it is sent."""
import struct, zlib

LONGEST = 1 << 20


def member(lines):
    """One member."""
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15, 9)
    data = deflate.compress(lines) + deflate.flush()
    note = struct.pack("<BQQQ", 1, lines.count(b"\n"), len(lines), 41 + len(data) + 8)
    header = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + struct.pack("<H2sH", 29, b"FY", 25) + note
    return header + data + struct.pack("<II", zlib.crc32(lines), len(lines) & 0xFFFFFFFF)


def members(lines):
    """A segment: members of whole lines, of at most 1 MiB each."""
    result, start = [], 0
    while start < len(lines):
        end = len(lines) if len(lines) - start <= LONGEST else lines.rindex(b"\n", start, start + LONGEST) + 1
        result.append(member(lines[start:end]))
        start = end
    return b"".join(result)
