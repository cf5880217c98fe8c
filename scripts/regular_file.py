"""The bytes of a file, for whose writer nobody waits."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def read_bytes(path: Path, most: int = -1) -> bytes:
    """A file, or how it begins. Throws OSError; ValueError for a pipe or a device, for whose writer nobody waits."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is a pipe or a device, where a file belongs; move it away")
        return file.read(most)
