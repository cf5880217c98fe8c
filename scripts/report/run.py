"""All that a report needs of one run, read from its record at once, so that a damaged file fails here and nowhere later."""

from __future__ import annotations

import json
import os.path
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from records import Run, read_file
from regular_file import read_bytes
from stored import ROOT, RecordError, array, attributes, group_of, label, member, members, opened, series, table, values

SEAL = b"SOFTSEAL"  # behind the bytes of a record: the mark, u64 their number, u32 their CRC-32
JOURNAL = b"SOFTJRNL"
ATTEMPT: dict[str, Any] = dict.fromkeys(("attempt", "started", "ended", "state", "last_update", "host"), "")
EVENT: dict[str, Any] = {"attempt": "", "text": ""}
COUNTS = dict.fromkeys(("read?", "kept?", "dropped_too_long?", "dropped_empty?", "truncated?"), int)
FILE: dict[str, Any] = {"option": "", "symbols": 0, "unknown": 0, "types": 0, "unknown_types": 0}
TEST = {"selected_update?": int}
NO_SERIES = {"provenance", "test", "alignments", "data", "parameters", "timing", "system", "diagnostics"}


def shown_place(place: str | Path) -> str:
    """Its name and its folder's."""
    return "/".join(Path(os.path.realpath(place)).parts[-2:])


@dataclass(frozen=True)
class Problem:
    """What could not be read, or is odd; it is named on the page and on standard error."""

    place: str
    text: str

    @property
    def shown(self) -> tuple[str, str]:
        """As a page has it, which does not depend on where the records lie."""
        return shown_place(self.place), self.text.replace(self.place, shown_place(self.place))


@dataclass(frozen=True)
class Series:
    """Numbers by update; wall: seconds spent on the run when each row was made."""

    update: np.ndarray
    values: dict[str, np.ndarray]
    wall: np.ndarray | None


@dataclass(frozen=True)
class Found:
    """What a diagnostic found: single numbers by update, or at the last update numbers along an axis."""

    title: str
    units: str
    along: str  # the axis: "update", "distance"
    axis: str  # what its places are
    places: np.ndarray
    values: np.ndarray  # one for each place


@dataclass(frozen=True)
class Recorded:
    """One run. `root`, `provenance`, `test` and `data` are attributes as the record has them, texts decoded."""

    run: Run
    root: dict[str, Any]
    provenance: dict[str, Any]
    attempts: list[dict[str, Any]]
    events: list[dict[str, Any]]
    data: dict[str, dict[str, Any]]
    test: dict[str, Any]
    signatures: dict[str, str]
    series: dict[str, Series]
    modules: dict[str, int]  # alignment module -> sentences
    found: dict[str, Found]  # "gradient_flow/dev/embedding_by_distance"
    spec_yaml: str
    hashes: list[tuple[str, str]]  # of the files that were read, by their place in what the run id is the hash of
    early_termination: str = ""  # JSON; of a run that a sweep stopped
    notes: list[str] = field(default_factory=list)  # what is odd in its folder, though the record is whole
    files: list[dict[str, Any]] = field(default_factory=list)  # of text: option, symbols, unknown; see FILE

    @property
    def run_id(self) -> str:
        return self.run.run_id

    @property
    def seed(self) -> int:
        return self.run.seed

    @property
    def seconds(self) -> float | None:
        """Spent on training and dev evaluation, lost work not counted."""
        walls = [s.wall[np.isfinite(s.wall)].max() for s in self.series.values() if s.wall is not None and np.isfinite(s.wall).any()]
        return float(max(walls)) if walls else None


def check_seal(path: Path) -> None:
    """Throws RecordError when the bytes are not those that were sealed; a file without a seal passes."""
    content = read_bytes(path)
    if content[-20:-12] == SEAL:
        size, checksum = struct.unpack("<QI", content[-12:])
        if size != len(content) - 20 or zlib.crc32(memoryview(content)[:-20]) != checksum:
            raise RecordError(
                f"{path}: damaged: its bytes are not those that were written; `softalign recover` may make it again"
            )


def oddities(folder: Path) -> list[str]:
    """What a run's folder lacks or holds that should not be so; [] for a record that was copied out of its folder."""
    if not os.path.exists(folder / "identity.json") and not any(folder.glob("journal-*.jrnl")):
        return []
    found = [] if os.path.exists(folder / "spec.yaml") else ["spec.yaml is missing"]
    for journal in sorted(folder.glob("journal-*.jrnl")):
        try:
            if read_bytes(journal, len(JOURNAL)) != JOURNAL:
                found.append(f"{journal.name} is no journal: it does not begin with {JOURNAL.decode()}")
        except (OSError, ValueError) as error:
            found.append(f"{journal.name} cannot be read: {error}")
    return found


def _rows(group: Any) -> list[dict[str, Any]]:
    """Of a group whose datasets share one axis."""
    columns = table(group)
    return [dict(zip(columns, row)) for row in zip(*(column.tolist() for column in columns.values()))]


def _series(group: h5py.Group) -> Series:
    updates, numbers = series(group)
    wall = numbers.pop("wall_time", None)
    return Series(updates, numbers, wall)


def _found(group: h5py.Group | None, name: str = "") -> Iterator[tuple[str, Found]]:
    """Of /diagnostics, all below it; without what has more than one axis."""
    for key, item in members(group):
        if isinstance(item, h5py.Group):
            yield from _found(item, f"{name}/{key}".lstrip("/"))
            continue
        updates = member(group, "update")
        axes = [axis[0].name.rpartition("/")[2] for axis in item.dims if len(axis)]
        if updates is None or axes[:1] != ["update"] or item.ndim != len(axes) or item.ndim > 2 or not item.size:
            continue
        along = axes[-1]
        places = values(group, along, "iuf", (item.shape[-1],))
        numbers = values(group, key, "f", item.shape)
        yield f"{name}/{key}", Found(
            label(item, "long_name"), label(item, "units"), along, label(member(group, along), "long_name") or along, places, numbers if item.ndim == 1 else numbers[-1]
        )


def leaves(block: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """("task.train.source", ...) for every value of nested maps."""
    if not isinstance(block, dict):
        yield prefix, block
        return
    for key, value in block.items():
        yield from leaves(value, f"{prefix}.{key}".lstrip("."))


def text_in(group: h5py.Group, name: str) -> str:
    """A single text, "" where there is none."""
    return values(group, name, "O", ()) if member(group, name) is not None else ""


def _hashes(identity: str) -> list[tuple[str, str]]:
    return [(key, text) for key, text in leaves(json.loads(identity)) if isinstance(text, str) and text.startswith("sha256:")]


def read_run(path: Path) -> Recorded:
    """The record at `path`. Throws RecordError, naming the file, for any that is damaged or no record of a run."""
    try:
        check_seal(path)
        oddly = oddities(path.parent)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise RecordError(f"{path}: cannot be read: {error}") from error
    run = read_file(path)
    if not isinstance(run, Run):
        raise RecordError(f"{path}: holds alignments only, no run")
    with opened(path) as file:
        provenance, modules = group_of(file, "provenance"), group_of(file, "alignments")
        signatures = {n: label(d, "signature") for n, d in members(group_of(file, "test/by_length"))}
        own = attributes(provenance, {"early_termination?": str})
        recorded = Recorded(
            run,
            attributes(file, ROOT),
            own,
            [ATTEMPT | row for row in _rows(group_of(provenance, "attempts"))],
            [EVENT | row for row in _rows(group_of(provenance, "events"))],
            {split: attributes(group, COUNTS) for split, group in members(group_of(file, "data")) if isinstance(group, h5py.Group)},
            attributes(group_of(file, "test"), TEST),
            {name: text for name, text in signatures.items() if text},
            {n: _series(g) for n, g in members(file) if n not in NO_SERIES and member(g, "update") is not None},
            {n: array(module, "sentence", "iu", (None,)).size for n, module in members(modules)},
            dict(_found(group_of(file, "diagnostics"))),
            values(provenance, "spec_yaml", "O", ()),
            _hashes(text_in(provenance, "identity_json") or "[]"),
            text_in(provenance, "early_termination") or own.get("early_termination", ""),
            oddly,
            [{name: type(none)(row.get(name, none)) for name, none in FILE.items()} for row in _rows(group_of(file, "data/files"))],
        )
    return recorded
