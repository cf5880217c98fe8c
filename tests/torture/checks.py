"""Conditions that must hold after any fault: one clear message, intact records with the same bits, no temporary files."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import numpy as np

# Clocks and machines, which differ between two records of the same run.
VOLATILE = ("provenance", "wall_time", "tokens_per_s", "timing", "system")
VOLATILE_OF_ROOT = ("created", "framework_version")

# Texts that come only from a library or a bug.
RAW = re.compile(
    r"Traceback|terminate called|std::|HDF5-DIAG|H5[A-Z]\w+\(|\[json|json\.exception|basic_\w+|bad_\w+|what\(\)|filesystem error"
    r"|Assertion|core dumped|Segmentation|our bug|\x1b|\x07"
)

# A sweep reports the end of each row.
FAILED_ROW = re.compile(r"row \d+: .*(exit status|signal|lost|failed|interrupted)")

Numbers = dict[str, tuple[tuple[int, ...], str, bytes]]  # path, or path@attribute -> shape, type, bytes


def numbers(record: Path) -> Numbers:
    """Returns everything in an HDF5 file except clocks and machines, read without softalign."""
    found: Numbers = {}

    def add(path: str, value: object) -> None:
        array = np.asarray(value)
        content = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
        found[path] = (array.shape, str(array.dtype), content)

    def look(path: str, item: h5py.Group | h5py.Dataset) -> None:
        if any(word in path.split("/") for word in VOLATILE):
            return
        if isinstance(item, h5py.Dataset):
            add(path, item[()])
        for name, value in item.attrs.items():
            if not name.isupper():  # HDF5's own attributes, DIMENSION_LIST and REFERENCE_LIST, hold addresses
                add(f"{path}@{name}", value)

    with h5py.File(record) as file:
        for name, value in file.attrs.items():
            if name not in VOLATILE_OF_ROOT:
                add(f"@{name}", value)
        file.visititems(look)
    return found


def differences(expected: Numbers, found: Numbers) -> list[str]:
    """Returns the paths whose values differ."""
    return sorted(path for path in expected.keys() | found.keys() if expected.get(path) != found.get(path))


def check_same_runs(a: Path, b: Path) -> None:
    """Asserts that two sweep folders hold the same runs, with the same bits in every record and in the table."""
    records, others = (sorted(folder.glob("*/run.h5")) for folder in (a, b))
    assert [path.parent.name for path in records] == [path.parent.name for path in others]
    for record, other in zip(records, others):
        assert differences(numbers(record), numbers(other)) == [], record
    assert (a / "sweep.h5").read_bytes() == (b / "sweep.h5").read_bytes()


def records_below(folder: Path) -> dict[str, Path]:
    """Returns all HDF5 files except temporary ones: path below the folder -> file."""
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.h5")) if not is_temporary(path)}


def is_temporary(path: Path) -> bool:
    """Returns whether softalign writes this file before renaming it."""
    return path.name.startswith(".") and ".tmp-" in path.name


def wrong_words(status: int, errors: str, many_lines: bool = False) -> str:
    """Returns the fault in the messages of a program that was not killed; "" if there is one clear line (or several, for many runs)."""
    if RAW.search(errors):
        return f"raw text in the messages: {RAW.search(errors)[0]!r}"  # type: ignore[index]
    lines = [line for line in errors.splitlines() if line.startswith("softalign: ")]
    if status == 0 and lines:
        return "exit status 0, but an error message"
    if status != 0 and not lines and not (many_lines and any(map(FAILED_ROW.match, errors.splitlines()))):
        return "no message names the cause"
    if len(lines) > 1 and not many_lines:
        return f"{len(lines)} messages instead of one"
    return ""
