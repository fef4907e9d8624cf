"""One gzip member as Ferry's own writer makes it, with its note: a segment without one is inflated before it is sent."""
import struct, zlib


def member(lines):
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15, 9)
    data = deflate.compress(lines) + deflate.flush()
    note = struct.pack("<BQQQ", 1, lines.count(b"\n"), len(lines), 41 + len(data) + 8)
    header = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + struct.pack("<H2sH", 29, b"FY", 25) + note
    return header + data + struct.pack("<II", zlib.crc32(lines), len(lines) & 0xFFFFFFFF)
