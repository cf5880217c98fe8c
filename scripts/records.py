"""Reads what runs leave, records (run.h5) and files of alignments: what a figure needs, as plain values; draws nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from output import printable
from source_images import Image, read_image
from stored import BUCKET, ROOT, SPEC, RecordError, array, attributes, demand, group_of, label, member, members, opened, read_yaml, series, table, values

END = "</s>"  # closes every source that a model reads; no token of the sentence
# Keys that tell no runs apart: people's words, what Run.label says already, what only decides how much is kept.
UNTOLD = {"name", "notes", "tags", "plugins", "model.attention", "model.attention.score"}
UNTOLD |= {"record.alignments", "record.snapshots", "record.checkpoint_every", "evaluate.batch"}
NULL = "null"  # an option without a value


LONGEST = 60  # characters of a word or a value in a figure


@dataclass(frozen=True)
class ByLength:
    """Test results by source length: every array has one value a bucket."""

    labels: list[str]  # "1-10", ..., "61+"
    n: np.ndarray  # sentences
    metrics: dict[str, np.ndarray]  # accuracies in percent; NaN where a bucket has no value
    units: dict[str, str] = field(default_factory=dict)  # of metrics that have one: "percent", "nats"


@dataclass(frozen=True)
class Alignment:
    """One sentence's attention: weights [target, source], summed to 1 over the source; gold 0 none, 1 possible, 2 sure."""

    sentence: int
    source: list[str]
    target: list[str]
    weights: np.ndarray
    gold: np.ndarray | None
    image: Image | None = None

    @property
    def source_length(self) -> int:
        """In tokens, as a record's /test/source_length has it."""
        return source_length(self.source)


@dataclass(frozen=True)
class AlignmentFile:
    """A file with alignments: what `softalign translate --alignments` leaves, or a record. They are read when asked for."""

    path: Path

    @cached_property
    def sentences(self) -> dict[int, int]:
        """Sentence -> source length, of those whose alignment is in the file."""
        with opened(self.path) as file:
            group = _attention(file)
            if group is None:
                return {}
            numbers = values(group, "sentence", "iu", (None,)).tolist()
            lengths = values(group, "src_len", "iu", (len(numbers),)).tolist()
            sources = zip(values(group, "src_tokens", "O", (len(numbers), None)), lengths)
            return dict(zip(numbers, [source_length(words[:length]) for words, length in sources]))

    def alignment(self, sentence: int) -> Alignment:
        """The sentence's attention at the last update kept, the mean of its heads. Throws RecordError when it is not there."""
        with opened(self.path) as file:
            group = _attention(file)
            if group is None or sentence not in self.sentences:
                raise RecordError(f"{self.path}: no alignment of sentence {sentence}")
            at, n = list(self.sentences).index(sentence), len(self.sentences)
            weights = array(group, "weights", "f", (None, n, None, None, None))
            updates, _, _, tgt, src = weights.shape
            heights, widths = values(group, "tgt_len", "iu", (updates, n)), values(group, "src_len", "iu", (n,))
            height, width = int(heights[-1, at]), int(widths[at])
            if not (0 < height <= tgt and 0 < width <= src):
                raise ValueError(f"sentence {sentence} is longer than its weights, or empty")
            return Alignment(
                sentence,
                [shown(word) for word in array(group, "src_tokens", "O", (n, src)).asstr()[at, :width]],
                [shown(word) for word in array(group, "tgt_tokens", "O", (updates, n, tgt)).asstr()[-1, at, :height]],
                weights[-1, at, :, :height, :width].mean(axis=0),
                array(group, "gold", "iu", (n, tgt, src))[at, :height, :width] if member(group, "gold") is not None else None,
                read_image(file, "test", sentence),
            )


@dataclass(frozen=True)
class Run(AlignmentFile):
    """One record. Small things are read at once."""

    spec: dict[str, Any]
    label: str  # the score function, or what stands in its place
    run_id: str = ""
    progress: tuple[int, int] = (0, -1)  # 1 when it is complete, the last update

    @property
    def name(self) -> str:
        return self.spec.get("name", "")

    @property
    def seed(self) -> int:
        return self.spec.get("seed") or 0

    @property
    def task(self) -> dict[str, Any]:
        return self.spec["task"]

    @property
    def test_set(self) -> str:
        """A key that runs share when their test results may stand in one figure."""
        drawn = [(self.task.get(k) or {}).get("test") for k in ("length", "examples")]
        buckets = self.spec.get("evaluate", {}).get("lengths")
        return json.dumps([*(self.task.get(k) for k in ("type", "test", "symbols")), *drawn, buckets], default=str)

    @property
    def trained_lengths(self) -> tuple[int | None, int] | None:
        """The shortest and the longest source that training saw, as the spec bounds them; of text only the longest is known."""
        if lengths := (self.task.get("length") or {}).get("train"):
            return lengths[0], lengths[1]
        longest = self.task.get("max_length")
        return (None, longest) if longest else None

    @property
    def has_results(self) -> bool:
        """Whether there is anything to draw: a run that was interrupted early has nothing."""
        return bool(self.by_length or self.dev or self.sentences)

    @cached_property
    def by_length(self) -> ByLength | None:
        with opened(self.path) as file:
            group = group_of(file, "test/by_length")
            if group is None:
                return None
            columns = table(group)
            labels, n = values(group, "label", "O", (None,)).tolist(), values(group, "n", "iu", (None,))
            demand(labels, [BUCKET], "test/by_length/label")
            if (n < 0).any():
                raise ValueError("test/by_length/n holds no counts")
            metrics = {name: column for name, column in columns.items() if column.dtype == np.float64}
            return ByLength(labels, n, metrics, {name: label(member(group, name), "units") for name in metrics})

    @cached_property
    def dev(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        return self.series("dev")

    def series(self, name: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Metric -> (updates, values). Name: "dev", "train"."""
        with opened(self.path) as file:
            group = group_of(file, name)
            if group is None:
                return {}
            updates, numbers = series(group)
            return {name: (updates, column) for name, column in numbers.items()}


def shown(text: object, most: int = LONGEST) -> str:
    """A word or a value as a figure may have it."""
    text = printable(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def source_length(words: Sequence[str]) -> int:
    return len(words) - (len(words) > 0 and words[-1] == END)


def _attention(file: h5py.File) -> h5py.Group | None:
    """The first module, in name order, of test sentences with the reference forced on the decoder."""
    modules = group_of(file, "alignments")
    names = sorted(name for name, _ in members(modules) if not name.endswith(("_dev", "_search")))
    return group_of(modules, names[0]) if names else None


def _label(spec: dict[str, Any]) -> str:
    attention = spec["model"]["attention"]
    if _type(attention) == "built_in":
        return _type(spec["model"]["decoder"])
    if isinstance(attention, str):
        return attention
    parts = (attention["type"], _type(attention.get("score")))
    return " ".join(part for part in parts if part and part != "global")


def _type(plugin: str | dict[str, Any] | None) -> str | None:
    """The name of a plugin, which stands alone when no option is told."""
    return plugin["type"] if isinstance(plugin, dict) else plugin


def read_file(path: Path) -> AlignmentFile:
    """A Run where the file is a record. What is read later is looked at too, so that a damaged file is told here."""
    with opened(path) as file:
        root = attributes(file, ROOT)
        kind = root.get("format", "")
        if kind not in ("softalign-run", "softalign-alignments"):
            raise RecordError(f"{path}: not a softalign record (its attribute 'format' says otherwise)")
        found = AlignmentFile(path)
        if kind == "softalign-run":
            if member(file, "provenance/spec_yaml") is None:
                raise RecordError(f"{path}: a record without its spec (provenance/spec_yaml)")
            spec = read_yaml(values(file, "provenance/spec_yaml", "O", ()))
            demand(spec, SPEC, "the spec")
            progress = root.get("complete", 0), root.get("last_update", -1)
            found = Run(path, spec, _label(spec), root.get("run_id", ""), progress)
            _flat(spec), found.test_set, found.trained_lengths, found.by_length, found.dev
    return found


def _flat(spec: Any, prefix: str = "") -> dict[str, str]:
    """{"train.optimizer": "adam", "train.epochs": "3", ...}: a plugin's type is the value of its block."""
    if not isinstance(spec, dict):
        return {prefix: spec if isinstance(spec, str) else json.dumps(spec, default=str)}
    places = {name: prefix if name == "type" and prefix else f"{prefix}.{name}".lstrip(".") for name in spec}
    return {key: value for name, part in spec.items() for key, value in _flat(part, places[name]).items()}


def _short(key: str, keys: Sequence[str]) -> str:
    """As few of the key's last words as tell it from the others."""
    words = key.split(".")
    ends = [".".join(words[-n:]) for n in range(1, len(words) + 1)]
    return next(end for end in ends if sum(f".{other}".endswith(f".{end}") for other in keys) == 1)


def differences(runs: Sequence[Run]) -> list[list[str]]:
    """For each run "seed 1", "no clip_norm", ...: every key in which any two differ, but the attention and its score."""
    specs = [_flat(run.spec) for run in runs]
    values = {key: {spec[key] for spec in specs if key in spec} for key in {key for spec in specs for key in spec}}

    def differs(key: str) -> bool:
        if len(values[key]) > 1:
            return True
        if values[key] == {NULL} and not any(other.startswith(f"{key}.") for other in values):
            return False  # where it is missing, an older program did not know it
        blocks = [key.rsplit(".", n)[0] for n in range(1, key.count(".") + 1)]
        # An option is missing where another plugin is in its place: that plugin's name says enough.
        return any(key not in spec for spec in specs) and not any(len(values.get(block, ())) > 1 for block in blocks)

    keys = [key for key in sorted(values, key=lambda key: (key != "seed", key)) if differs(key) and key not in UNTOLD]

    def said(key: str, value: str) -> str:
        block, name = key.rpartition(".")[0], _short(key, keys)
        if "." not in name and NULL in values.get(block, ()):  # some do without the block: it says what the option is of
            name = f"{block.rpartition('.')[2]}.{name}"
        return f"no {name}" if value == NULL else f"{name} {shown(Path(value).name if value.startswith('/') else value)}"

    return [[said(key, spec[key]) for key in keys if key in spec] for spec in specs]


def attentions(runs: Sequence[Run]) -> list[str]:
    """The label of each run; "global", which it leaves out, is said where another attention has the same score."""
    shared = {score for run in runs if (score := run.label.partition(" ")[2])}
    return [f"global {run.label}" if run.label in shared else run.label for run in runs]


def labels(runs: Sequence[Run]) -> list[str]:
    """A name for each run in a figure of these: its label and what sets it apart; its name or folder when that is much."""
    apart = differences(runs)
    choices = [apart] if max(map(len, apart), default=0) <= 3 else []
    choices += [[[run.name] for run in runs], [[run.path.parent.name] for run in runs], [[str(run.path)] for run in runs]]
    for choice in choices:
        named = [", ".join([attention, *details]) for attention, details in zip(attentions(runs), choice)]
        if len(set(named)) == len(runs):
            break
    return named


def replicates(runs: Sequence[Run]) -> list[tuple[str, list[Run]]]:
    """The runs that differ in nothing but their seed, together, in order of their first one; with a name each."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        values = {key: value for key, value in _flat(run.spec).items() if key not in UNTOLD and key != "seed"}
        groups.setdefault(json.dumps([run.label, values], sort_keys=True), []).append(run)
    named = labels([replace(group[0], spec={**group[0].spec, "seed": None}) for group in groups.values()])
    return [(name, sorted(group, key=lambda run: run.seed)) for name, group in zip(named, groups.values())]


def find_files(places: Iterable[Path], say: Callable[[str], None]) -> list[AlignmentFile]:
    """The files named, and the records below the folders named, in that order; `say` is told what is left out.

    Throws RecordError where nothing is left.
    """
    kept: dict[str, AlignmentFile] = {}
    notes = []
    paths = [f for place in places for f in (sorted(place.rglob("run.h5")) if place.is_dir() else [place])]
    for path in {path.resolve(): path for path in paths}.values():
        try:
            file = read_file(path)
            file.sentences  # read now
        except RecordError as error:
            notes.append(f"left out: {error}")  # one bad run spoils no figure of the others
            continue
        key = getattr(file, "run_id", "") or str(file.path)
        twin = kept.get(key)
        if twin is not None:
            file, twin = (file, twin) if file.progress > twin.progress else (twin, file)
            notes.append(f"{twin.path} is left out: it is the same run as {file.path}")
        kept[key] = file
    last = "" if kept else notes.pop() if notes else f"no run.h5 in {', '.join(map(str, places))}: run the experiment first"
    for note in notes:
        say(note)
    if not kept:
        raise RecordError(last)
    return list(kept.values())
