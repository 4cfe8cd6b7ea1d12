"""Raw traces with their base64 decoded: xz makes them a quarter smaller so.

A raw trace has a line of JSON for each chunk, with what is no text in base64 (`b64`), which xz
compresses badly. Here the lines come first, with the number of bytes in place of base64, then the
bytes of all chunks.
"""

from __future__ import annotations

import binascii
import re

ENCODED = re.compile(rb'"b64": "([A-Za-z0-9+/]+={0,2})"')
COUNTED = re.compile(rb'"b64": ([0-9]+)\b')
HEAD = b"fsgreen raw 1 "


def taken_apart(raw: bytes) -> bytes | None:
    """Return the lines and the bytes of a raw trace apart; None if it has no base64.

    None, too, of a trace that `put_together` would make other bytes of.
    """
    chunks: list[bytes] = []

    def count(found: re.Match[bytes]) -> bytes:
        chunks.append(binascii.a2b_base64(found[1]))
        return b'"b64": %d' % len(chunks[-1])

    try:
        lines = ENCODED.sub(count, raw)
        apart = b"".join([HEAD, b"%d\n" % len(lines), lines, *chunks])
        return apart if chunks and put_together(apart) == raw else None
    except ValueError:
        return None


def put_together(apart: bytes) -> bytes:
    """Return the raw trace of which `taken_apart` made this.

    Raises ValueError if lines and bytes do not fit each other.
    """
    head, _, rest = apart.partition(b"\n")
    size = head.removeprefix(HEAD)
    if not head.startswith(HEAD) or not size.isdigit():
        raise ValueError("lines and bytes of a raw trace are not apart here")
    lines, at = rest[: int(size)], int(size)

    def encode(found: re.Match[bytes]) -> bytes:
        nonlocal at
        chunk = rest[at : at + int(found[1])]
        at += int(found[1])
        return b'"b64": "%s"' % binascii.b2a_base64(chunk, newline=False)

    raw = COUNTED.sub(encode, lines)
    if at != len(rest):
        raise ValueError("bytes of a raw trace are missing, or are too many")
    return raw
