"""A second implementation of journals: decodes frames, and encodes changed ones with valid checksums."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

SCALARS, ALIGNMENT, ARRAY, ATTRIBUTES, EVENT, MARK, REWIND, END = range(1, 9)
Frame = tuple[int, bytes]  # kind and payload


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def texts(*values: str) -> bytes:
    return struct.pack("<Q", len(values)) + b"".join(map(text, values))


def take_apart(journal: bytes) -> tuple[bytes, list[Frame]]:
    """Returns the header without its checksum, and the frames."""
    head = 16 + struct.unpack_from("<I", journal, 12)[0]
    frames, at = [], head + 4
    while at < len(journal):
        length, kind = struct.unpack_from("<I", journal, at + 4)[0], journal[at + 16]
        frames.append((kind, journal[at + 17 : at + 17 + length]))
        at += 17 + length + 4
    return journal[:head], frames


def put_together(header: bytes, frames: list[Frame]) -> bytes:
    salt = zlib.crc32(header)
    out = header + struct.pack("<I", salt)
    for number, (kind, payload) in enumerate(frames):
        frame = b"SFRM" + struct.pack("<IQB", len(payload), number, kind) + payload
        out += frame + struct.pack("<I", zlib.crc32(frame, salt))
    return out


def rewrite(journal: Path, *more: Frame, until: int | None = None) -> None:
    """Adds frames, after the first `until` ones if that is given."""
    header, frames = take_apart(journal.read_bytes())
    assert put_together(header, frames) == journal.read_bytes()
    journal.write_bytes(put_together(header, [*frames[:until], *more]))
