"""All that a report needs of one run, read from its record at once, so that a damaged file fails here and nowhere later."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from records import RecordError, Run, read_file
from report.metrics import Counts

SEAL = b"SOFTSEAL"  # behind the bytes of a record: the mark, u64 their number, u32 their CRC-32
JOURNAL = b"SOFTJRNL"
ATTEMPT: dict[str, Any] = dict.fromkeys(("attempt", "started", "ended", "state", "last_update", "host"), "")
EVENT: dict[str, Any] = {"attempt": "", "text": ""}
NO_SERIES = {"provenance", "test", "alignments", "data", "parameters", "timing", "system"}


@dataclass(frozen=True)
class Problem:
    """What could not be read, or is odd; it is named on the page and on standard error."""

    place: str
    text: str


@dataclass(frozen=True)
class Series:
    """Numbers by update; wall: seconds spent on the run when each row was made."""

    update: np.ndarray
    values: dict[str, np.ndarray]
    wall: np.ndarray | None


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
    counts: Counts
    modules: dict[str, int]  # alignment module -> sentences
    spec_yaml: str
    identity: dict[str, Any]  # what the run id is the hash of
    early_termination: str = ""  # JSON; of a run that a sweep stopped
    notes: list[str] = field(default_factory=list)  # what is odd in its folder, though the record is whole

    @property
    def run_id(self) -> str:
        return self.run.run_id

    @property
    def state(self) -> str:
        return str(self.root.get("state", ""))

    @property
    def seed(self) -> int:
        return int(self.run.spec.get("seed", 0))

    def best(self, metric: str, higher: bool) -> tuple[int, float] | None:
        """(update, value) of the best dev evaluation."""
        values = self.series["dev"].values.get(metric) if "dev" in self.series else None
        if values is None or not np.isfinite(values).any():
            return None
        at = int(np.nanargmax(values) if higher else np.nanargmin(values))
        return int(self.series["dev"].update[at]), float(values[at])

    @property
    def seconds(self) -> float | None:
        """Spent on training and dev evaluation, lost work not counted."""
        walls = [np.nanmax(s.wall) for s in self.series.values() if s.wall is not None and np.isfinite(s.wall).any()]
        return float(max(walls)) if walls else None


def plain(value: Any) -> Any:
    """An attribute or element as Python has it."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    return value.item() if isinstance(value, np.generic) else value


def attributes(group: Any) -> dict[str, Any]:
    hidden = ("_Nc", "CLASS", "NAME", "_NC")
    return {k: plain(v) for k, v in sorted(group.attrs.items()) if not k.startswith(hidden)} if group is not None else {}


def check_seal(path: Path) -> None:
    """Throws RecordError when the bytes are not those that were sealed; a file without a seal passes."""
    content = path.read_bytes()
    if content[-20:-12] == SEAL:
        size, checksum = struct.unpack("<QI", content[-12:])
        if size != len(content) - 20 or zlib.crc32(memoryview(content)[:-20]) != checksum:
            raise RecordError(
                f"{path}: damaged: its bytes are not those that were written; `softalign recover` may make it again"
            )


def oddities(folder: Path) -> list[str]:
    """What a run's folder lacks or holds that should not be so; [] for a record that was copied out of its folder."""
    if not (folder / "identity.json").exists() and not any(folder.glob("journal-*.jrnl")):
        return []
    found = [] if (folder / "spec.yaml").exists() else ["spec.yaml is missing"]
    for journal in sorted(folder.glob("journal-*.jrnl")):
        with journal.open("rb") as file:
            if file.read(len(JOURNAL)) != JOURNAL:
                found.append(f"{journal.name} is no journal: it does not begin with {JOURNAL.decode()}")
    return found


def _table(group: Any) -> list[dict[str, Any]]:
    """Rows of a group whose datasets share one axis."""
    if group is None:
        return []
    columns = {n: d.asstr()[:].tolist() if d.dtype == object else d[:].tolist() for n, d in group.items() if d.ndim == 1}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def _series(group: h5py.Group) -> Series:
    numbers = {name: d[:] for name, d in group.items() if d.ndim == 1 and d.dtype == np.float64}
    wall = numbers.pop("wall_time", None)
    return Series(group["update"][:], numbers, wall)


def read_run(path: Path) -> Recorded:
    """The record at `path`. Throws RecordError, naming the file, for any that is damaged or no record of a run."""
    try:
        if path.is_file():
            check_seal(path)
        run = read_file(path)
        if not isinstance(run, Run):
            raise RecordError(f"{path}: holds alignments only, no run")
        with h5py.File(path) as file:
            by_length = file.get("test/by_length", {})
            signatures = {n: plain(d.attrs["signature"]) for n, d in by_length.items() if "signature" in d.attrs}
            early = file.get("provenance/early_termination")
            recorded = Recorded(
                run,
                attributes(file),
                attributes(file["provenance"]),
                [ATTEMPT | row for row in _table(file.get("provenance/attempts"))],
                [EVENT | row for row in _table(file.get("provenance/events"))],
                {split: attributes(group) for split, group in file.get("data", {}).items() if isinstance(group, h5py.Group)},
                attributes(file.get("test")),
                signatures,
                {n: _series(g) for n, g in file.items() if n not in NO_SERIES and isinstance(g, h5py.Group) and "update" in g},
                Counts(path),
                {name: len(group["sentence"]) for name, group in file.get("alignments", {}).items()},
                file["provenance/spec_yaml"].asstr()[()],
                json.loads(file["provenance/identity_json"].asstr()[()]) if "provenance/identity_json" in file else {},
                str(early.asstr()[()]) if early is not None else plain(file["provenance"].attrs.get("early_termination", "")),
                oddities(path.parent),
            )
        recorded.counts.lengths, run.by_length  # read now
        return recorded
    except RecordError:
        raise
    except (OSError, KeyError, ValueError, TypeError, RuntimeError, AttributeError) as error:
        raise RecordError(f"{path}: damaged: {' '.join(str(error).split())}; `softalign verify` says more") from error
