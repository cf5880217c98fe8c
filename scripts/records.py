"""Reads what runs leave, records (run.h5) and files of alignments: what a figure needs, as plain values; draws nothing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from unicodedata import category

import h5py
import numpy as np

from output import printable
from program import report_of
from source_images import Image, read_image
from stored import BUCKET, ROOT, SPEC, RecordError, array, attributes, demand, group_of, label, member, members, opened, read_yaml, series, table, values

END = "</s>"  # closes every source that a model reads; no token of the sentence
WORDS = "words_"  # begins the name of alignments whose pieces of words are joined
ENCODER = "encoder_"  # and of those of a source to itself
LONGEST = 60  # characters of a word or a value in a figure
LONGEST_NAME = 120  # of what a run is called there
DEEPEST = 6  # folders below a place in which runs are looked for, as the program looks


@dataclass(frozen=True)
class ByLength:
    """Test results by source length: every array has one value a bucket."""

    labels: list[str]  # "1-10", ..., "61+"
    n: np.ndarray  # sentences
    metrics: dict[str, np.ndarray]  # accuracies in percent; NaN where a bucket has no value
    units: dict[str, str] = field(default_factory=dict)  # of metrics that have one: "percent", "nats"
    counted: str = "tokens"  # what a length counts: "words", "pieces" or "characters" of words

    @property
    def buckets(self) -> tuple[list[str], str]:
        """What runs must share to be drawn on one axis."""
        return self.labels, self.counted


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
    module: str = field(default="", kw_only=True)  # which alignments; "": see _attention

    @cached_property
    def modules(self) -> list[str]:
        with opened(self.path) as file:
            return _modules(file)

    @cached_property
    def sentences(self) -> dict[int, int]:
        """Sentence -> source length, of those whose alignment is in the file."""
        with opened(self.path) as file:
            group = _attention(file, self.module)
            if group is None:
                return {}
            numbers = values(group, "sentence", "iu", (None,)).tolist()
            lengths = values(group, "src_len", "iu", (len(numbers),)).tolist()
            sources = zip(values(group, "src_tokens", "O", (len(numbers), None)), lengths)
            return dict(zip(numbers, [source_length(words[:length]) for words, length in sources]))

    def alignment(self, sentence: int, pieces: bool = False) -> Alignment:
        """The sentence's attention at the last update kept, the mean of its heads. Throws RecordError when it is not there."""
        with opened(self.path) as file:
            group = _attention(file, self.module, pieces)
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
    run_id: str = ""
    progress: tuple[int, int] = (0, -1)  # 1 when it is complete, the last update
    panel: str = ""  # the figure that the run is in, where not all can share one
    legend: str = ""  # what it is called there; runs that differ in nothing but their seed share it
    state: str = ""

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
    def trained_lengths(self) -> tuple[int | None, int] | None:
        """The shortest and the longest source that training saw, as the spec bounds them; of text only the longest is known."""
        if self.task["type"] == "image_captions":
            return None  # it counts digits, and a source has pixels
        if lengths := (self.task.get("length") or {}).get("train"):
            return lengths[0], lengths[1]
        longest = self.task.get("max_length")
        in_words = self.by_length is not None and self.by_length.counted == "words"  # training bounds symbols
        return (None, longest) if longest and not in_words else None

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
            counted = attributes(group_of(file, "test"), {"length_unit?": str}).get("length_unit", "tokens")
            if counted not in ("tokens", "words", "pieces", "characters"):
                raise ValueError("test@length_unit is no unit of length")
            units = {name: label(member(group, name), "units") for name in metrics}
            return ByLength(labels, n, metrics, units, counted)

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
    """A word or a value as a figure may have it. A word of letters that draw nothing is their numbers; so is U+FEFF, at which matplotlib 3.11 stops."""
    text = printable(text).replace("\ufeff", "U+FEFF")
    if text.strip(" ") and all(category(letter) in ("Cf", "Zs") for letter in text):
        text = " ".join(f"U+{ord(letter):04X}" for letter in text)
    return text if len(text) <= most else text[: most - 1] + "…"


def source_length(words: Sequence[str]) -> int:
    return len(words) - (len(words) > 0 and words[-1] == END)


def _modules(file: h5py.File) -> list[str]:
    return sorted(name for name, _ in members(group_of(file, "alignments")))


def _attention(file: h5py.File, module: str = "", pieces: bool = False) -> h5py.Group | None:
    """The module; "": the first, in name order, of test sentences with the reference forced on the decoder. Between words, or between
    pieces of them where those are wanted."""
    names = _modules(file)
    chosen = module or next((name for name in names if not name.removeprefix(WORDS).startswith(ENCODER) and not name.endswith(("_dev", "_search"))), "")
    if chosen not in names:
        return None
    return group_of(file, f"alignments/{chosen if pieces or WORDS + chosen not in names else WORDS + chosen}")


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
            found = Run(path, spec, root.get("run_id", ""), progress)
            found.trained_lengths, found.by_length, found.dev
    return found


def length_axis_label(runs: Sequence[Run]) -> str:
    """With what lengths count, of all that these runs count."""
    units = dict.fromkeys(run.by_length.counted for run in runs if run.by_length)
    return f"source length ({', '.join(units) or 'tokens'})"


def labels(runs: Sequence[Run]) -> list[str]:
    """A name for each run in a figure of these."""
    several, twins = len({run.panel for run in runs}) > 1, Counter((run.panel, run.legend) for run in runs)
    parts = [(run.panel * several, run.legend, f"seed {run.seed}" * (twins[run.panel, run.legend] > 1)) for run in runs]
    return [shown(", ".join(part for part in named if part), LONGEST_NAME) for named in parts]


def replicates(runs: Sequence[Run]) -> list[tuple[str, list[Run]]]:
    """The runs that differ in nothing but their seed, together, in order of their first one; with a name each."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.panel, run.legend), []).append(run)
    names = labels([group[0] for group in groups.values()])
    return [(name, sorted(group, key=lambda run: run.seed)) for name, group in zip(names, groups.values())]


def averaged(runs: Sequence[Run], say: Callable[[str], None]) -> list[Run]:
    """Without those that are not complete where others of the same name are. `say` gets a line for each."""
    complete = {(run.panel, run.legend) for run in runs if run.state == "complete"}
    kept = []
    for run in runs:
        if run.state != "complete" and (run.panel, run.legend) in complete:
            say(f"{run.path} is left out of the mean: it is {run.state}")
        else:
            kept.append(run)
    return kept


def units_of(runs: Sequence[Run]) -> dict[str, str]:
    """Metric -> "percent", "nats", as the test results of these runs say it."""
    return {metric: unit for run in runs if run.by_length for metric, unit in run.by_length.units.items()}


def _placed(files: Sequence[AlignmentFile], places: Sequence[Path], say: Callable[[str], None]) -> list[AlignmentFile]:
    """With the panels, names and states that the program gives the runs."""
    if not any(isinstance(file, Run) for file in files):
        return list(files)
    runs = {os.path.realpath(file.path) for file in files if isinstance(file, Run)}
    asked = [place for place in places if os.path.isdir(place) or os.path.realpath(place) in runs]
    known = {}
    for run in report_of(asked, resamples=0)["runs"]:
        place = run["place"]
        known[os.path.realpath(os.path.join(place, "run.h5") if os.path.isdir(place) else place)] = run
    kept = []
    for file in files:
        run = known.get(os.path.realpath(file.path), {"fault": f"{file.path}: the program finds no run there"}) if isinstance(file, Run) else {"fault": ""}
        if run["fault"]:
            say(f"left out: {run['fault']}")
        else:
            kept.append(replace(file, panel=printable(run["panel"]), legend=printable(run["series"]), state=run["state"]) if isinstance(file, Run) else file)
    return kept


def folders_with(place: Path, names: set[str]) -> Iterator[Path]:
    """The folders at or below a place that have one of these, by path. Nothing is looked for inside them, behind links or where nobody may look."""
    for folder, below, files in os.walk(place):
        found = not names.isdisjoint(files)
        if found:
            yield Path(folder)
        deep = len(Path(folder).relative_to(place).parts) >= DEEPEST
        below[:] = [] if found or deep else sorted(name for name in below if name[0] != ".")


def _found(place: Path) -> list[Path]:
    """A place that is there, or the run whose id begins like this, as the program finds it. Throws RecordError."""
    return [place] if os.path.lexists(place) else [Path(run["place"]) for run in report_of([place], resamples=0)["runs"]]


def find_files(places: Sequence[Path], say: Callable[[str], None]) -> list[AlignmentFile]:
    """The files named, and the records below the folders named, in that order; `say` gets a line for each that is left out.

    Throws RecordError where nothing is left.
    """
    kept: dict[str, AlignmentFile] = {}
    notes, found = [], []
    for place in places:
        try:
            found += _found(place)
        except RecordError as error:
            notes.append(f"left out: {error}")
    paths = [f for place in found for f in ([folder / "run.h5" for folder in folders_with(place, {"run.h5"})] if os.path.isdir(place) else [place])]
    for path in {os.path.realpath(path): path for path in paths}.values():
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
    placed = _placed(list(kept.values()), found, say)
    if not placed:
        raise RecordError(f"no run in {', '.join(map(str, places))} can be read")
    return placed
