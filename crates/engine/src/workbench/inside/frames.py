# How a program of ours speaks in the agent's sandbox: messages of fields, with their lengths before them.
# Stands before the rest of the program. No `json`: Debian's python3-minimal has none.
import sys

# A file of the agent's must not take the place of a module that is used here.
sys.path[:] = [folder for folder in sys.path if folder not in ("", ".")]

import os
import struct

LARGEST = 16 << 20
AT_ONCE = 1 << 16


def framed(fields):
    body = b"".join(struct.pack(">I", len(field)) + field for field in fields)
    return struct.pack(">I", len(body)) + body


class Frames:
    """Messages, put together again from the bytes that have arrived."""

    def __init__(self):
        self.arrived = bytearray()

    def next(self):
        if len(self.arrived) < 4:
            return None
        (length,) = struct.unpack(">I", self.arrived[:4])
        if length > LARGEST:
            raise ValueError("a message that is too long")
        if len(self.arrived) < 4 + length:
            return None
        body = bytes(self.arrived[4 : 4 + length])
        del self.arrived[: 4 + length]
        fields, at = [], 0
        while at < length:
            (size,) = struct.unpack(">I", body[at : at + 4])
            fields.append(body[at + 4 : at + 4 + size])
            at += 4 + size
        return fields


def write_all(descriptor, some):
    while some:
        some = some[os.write(descriptor, some) :]
