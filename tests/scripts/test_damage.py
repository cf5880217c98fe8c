"""Records with one damaged entry, next to a healthy record: each is named, or shown without the entry; nothing ends in a traceback."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import figures
import h5py
import numpy as np
import pytest
from made_records import TEXT, change_spec, write_record, write_rest
from nightly import NIGHTLY, sampled

from softalign_tools import sweep_table
from softalign_tools.program import RecordError, report_of
from softalign_tools.report.checklist import markdown
from softalign_tools.report.gather import gather
from softalign_tools.report.page import compute, html

EVIL = "</script><img src=x onerror=alert(1)>\"'\x1b[31m\u202e"
WRONG: dict[str, Any] = {  # replacements for a dataset or an attribute
    "large": np.int64(2**62),
    "negative": np.int32(-1),
    "nan": np.float64("nan"),
    "bytes": np.bytes_(b"\xff\xfe"),
    "huge": "x" * 100_000,
    "markup": EVIL,
    "empty": np.zeros(0),
    "rank": np.zeros((2, 1, 3)),
    "texts": ["NaN", EVIL],
    "group": None,
    "missing": None,
}
TEXTS = ("huge", "markup", "texts")


def places(path: Path) -> list[tuple[str, str]]:
    """Returns (name, attribute) of everything in a file; the attribute is "" for a dataset or a group itself."""
    found: list[tuple[str, str]] = []

    def visit(name: str, item: Any) -> None:
        found.extend((name, key) for key in item.attrs if key not in ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"))
        found.extend([(name, "")] if name else [])

    with h5py.File(path) as file:
        visit("", file)
        file.visititems(visit)
    return found


def harmed(whole: Path, every: int) -> Iterator[tuple[str, bytes]]:
    """Yields (damage, file content) for each entry, with every `every`-th replacement; neighbouring entries get different ones."""
    content = whole.read_bytes()
    for at, (name, key) in enumerate(places(whole)):
        for how in list(WRONG)[at % every :: every]:
            image, value = io.BytesIO(content), WRONG[how]
            with h5py.File(image, "r+") as file:
                if "run_id" in file.attrs:
                    file.attrs["run_id"] = np.bytes_(f"{at}-{how}")
                holder, item = (file[name or "/"].attrs, key) if key else (file, name)
                del holder[item]
                if how == "group" and not key:
                    file.create_group(name)
                elif value is not None:
                    make = holder.create if key else holder.create_dataset
                    make(item, data=value, dtype=TEXT if how in TEXTS else None)
            yield f"{name}@{key} {how}", image.getvalue()


def put(folder: Path, content: bytes) -> Path:
    folder.mkdir(parents=True)
    (folder / "run.h5").write_bytes(content)
    return folder / "run.h5"


def test_one_damaged_record_spoils_no_page(tmp_path):
    healthy = write_rest(write_record(tmp_path / "healthy", "dot", lengths=(3,)))
    whole = write_rest(write_record(tmp_path / "whole", "dot", seed=2, lengths=(3,)))
    tried, named, kept = 0, 0, []
    for what, content in harmed(whole, every=4 if NIGHTLY else len(WRONG)):
        path = put(tmp_path / f"cases/{tried}", content)
        data = report_of([path.parent], "--resamples=10")
        assert data["runs"] or {problem["place"] for problem in data["problems"]} == {str(path.parent)}, what
        tried, named = tried + 1, named + (not data["runs"])
        kept += [path.parent] if data["runs"] else []
    assert tried > 90 and named > 0.3 * tried and len(kept) > 0.2 * tried
    for at in range(0, len(kept), 40):
        made = compute([healthy.parent, *kept[at : at + 40]])
        page, text = html(made), markdown(made.subject, made.items)
        assert len(made.subject.runs) == 1 + len(kept[at : at + 40]) and "dot-1" in page
        tags = re.findall(r"<script[^>]*>", page)
        assert tags.count("<script>") == 1 and all(tag == "<script>" or tag.startswith('<script type="application/json" ') for tag in tags)
        assert len(tags) == page.count("<script") == page.count("</script")
        assert "<img" not in page + text and "\x1b" not in text and "\u202e" not in text


LINKED = ["train", "dev", "test", "test/by_length", "provenance", "provenance/spec_yaml", "alignments", "alignments/cross", "alignments/cross/weights",
          "test/source_length", "dev/update"]  # fmt: skip


LINKS = [("pipe", name) for name in LINKED] + [("external", "dev"), ("soft", "dev"), ("soft", "test/by_length/bleu")]


@pytest.mark.parametrize(("how", "name"), sampled(LINKS, 3))
def test_a_link_is_not_followed(tmp_path, how, name):
    """A link to another file, to a pipe without a writer, or to another path in the file."""
    healthy = write_rest(write_record(tmp_path, "dot", lengths=(3,)))
    harmed = write_rest(write_record(tmp_path, "general", lengths=(3,)))
    os.mkfifo(tmp_path / "pipe")
    with h5py.File(harmed, "r+") as file:
        file.require_group("train")
        file.move(name, "kept")
        file[name] = {
            "external": h5py.ExternalLink(str(healthy), name),
            "pipe": h5py.ExternalLink(str(tmp_path / "pipe"), name),
            "soft": h5py.SoftLink("/kept"),
        }[how]
    data = report_of([healthy.parent, harmed.parent])
    assert {problem["place"] for problem in data["problems"]} == {str(harmed.parent)} and "link" in data["problems"][0]["text"], data["problems"]
    assert str(healthy.parent) in [run["place"] for run in data["runs"]]


def test_values_in_another_file_are_not_read(tmp_path):
    path = write_rest(write_record(tmp_path, "dot", lengths=(3,)))
    with h5py.File(path, "r+") as file:
        del file["dev/perplexity"]
        file["dev"].create_dataset("perplexity", shape=(8,), dtype="f8", external=[("/etc/passwd", 0, 64)])
    data = report_of([path], "--resamples=0")
    assert not data["runs"] and "dev/perplexity" in data["problems"][0]["text"]


SPECS = [  # (text in the spec of write_record, its replacement)
    ("seed: 2", "seed: [2]"),
    ("seed: 2", 'seed: "2"'),
    ("type: reverse", "type: ../../reverse"),
    ("type: reverse", f"type: {'x' * 1000}"),
    ("type: reverse", "type: [reverse]"),
    ("symbols: 32", "max_length: much"),
    ("train: [4, 30]", "train: [4]"),
    ("train: [4, 30]", "train: [a, b]"),
    ("train: [4, 30]", "train: 30"),
    ("score: {type: dot}", "score: 7"),
    ("score: {type: dot}", f"score: {{type: {EVIL!r}}}"),
    ("model: {", "train: 3\nmodel: {"),
    ("model: {", "evaluate: [1]\nmodel: {"),
    ("model: {", "more: [{[1, 2]: 3}]\nmodel: {"),
    ("model: {", f"more: {'[' * 3000}\nmodel: {{"),
    ("model: {", "a: &a [x, x]\nb: &b [*a, *a]\nmodel: {"),
    ("name: toy-dot", f"name: {'x' * 1000}"),
    ("model: {attention", "model: {attend"),
    ("task: {", "tasks: {"),
]


@pytest.mark.parametrize(("old", "new"), sampled(SPECS, 3), ids=lambda text: text[:20])
def test_a_spec_that_is_none_ends_nothing(tmp_path, old, new):
    """An invalid spec is shown as it is, or its run is named."""
    write_rest(write_record(tmp_path, "dot", seed=1))
    damaged = change_spec(write_rest(write_record(tmp_path, "dot", seed=2)), old, new)
    made = compute([tmp_path])
    page, text = html(made), markdown(made.subject, made.items)
    assert len(made.subject.runs) + len(made.subject.problems) == 2 and "<img" not in page + text
    assert figures.main(["all", str(damaged), "--output", str(tmp_path / "out")]) in (0, 3)


def ended_figures(*arguments: object) -> int:
    return figures.main([str(argument) for argument in arguments])


def test_figures_go_on_with_the_rest(tmp_path, capsys):
    """Each damaged record, named or below a folder, is reported in a line. If no record is left, that line is the only output and the status is 3."""
    runs, bad = tmp_path / "runs", tmp_path / "bad"
    healthy = write_record(runs, "dot", lengths=(3,))
    for seed, (name, value) in enumerate((("dev/update", 1.5), ("provenance/spec_yaml", 7), ("test/by_length/label", 7)), 2):
        with h5py.File(write_record(bad, "dot", seed=seed, lengths=(3,)), "a") as file:
            del file[name]
            file[name] = value
    for draw in (lambda *a: ended_figures("all", *a), lambda *a: ended_figures("lengths", *a), lambda *a: ended_figures("curves", "--metric", "dev/perplexity", *a),
                 lambda *a: ended_figures("alignments", "--sentences", "5", *a)):  # fmt: skip
        assert draw(runs, bad, "--output", tmp_path / "out/x") == 0
        message = [line for line in capsys.readouterr().err.splitlines() if f"figures: {bad}" in line]
        assert sorted(line.split(": ")[1] for line in message) == sorted(map(str, bad.iterdir()))
        assert draw(bad / "dot-2", "--output", tmp_path / "out/y") == 3
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert healthy.exists() and not list(tmp_path.glob("out/y*"))


def test_what_is_drawn_may_be_anything(tmp_path, capsys):
    """Infinite or huge numbers, and words that are long or contain terminal control sequences."""
    path = write_record(tmp_path / "runs", "dot", lengths=(3,))
    other = write_record(tmp_path / "runs", "general", lengths=(3,))
    with h5py.File(path, "a") as file:
        file["dev/perplexity"][2:4] = [math.inf, 1e300]
        file["dev/token_accuracy"][:] = -math.inf
        file["test/by_length/bleu"][0], file["test/by_length/perplexity"][1] = math.inf, -1e300
        file["test/by_length/n"][:] = 2**40
        file["alignments/cross/src_tokens"][0, 0] = EVIL + "x" * 100_000
    with h5py.File(other, "a") as file:
        file["test/by_length/label"][1] = "11-19"
    assert ended_figures("all", tmp_path / "runs", "--output", tmp_path / "out") == 0
    capsys.readouterr()
    for command in (["lengths", "--metric", "bleu,perplexity"], ["curves", "--metric", "dev/perplexity"],
                    ["alignments", "--sentences", "5"]):  # fmt: skip
        assert ended_figures(*command, path, "--output", tmp_path / "out/x") == 0, command
    assert ended_figures("lengths", path, other, "--output", tmp_path / "out/x") == 2


def test_a_damaged_table_of_a_sweep_is_named(tmp_path):
    whole = tmp_path / "sweep.h5"
    with h5py.File(whole, "w") as file:
        file.attrs.update({"format": np.bytes_("softalign-sweep"), "metric": np.bytes_("dev/loss"), "goal": np.bytes_("minimize")})
        file["run"], file["train.rate"], file["units"], file["dev_loss"] = np.arange(4), [1.0, 1, 2, 2], [1, 2, 1, 2], [1.0, 2, 3, 4]
        file.create_dataset("state", data=["complete"] * 4, dtype=TEXT)
        file["dev_loss"].attrs["units"] = np.bytes_("nats")
    for what, content in harmed(whole, every=1 if NIGHTLY else 4):
        place = tmp_path / "harmed.h5"
        place.write_bytes(content)
        try:
            data = report_of([place])
            if data["table"] is None:
                assert [problem["place"] for problem in data["problems"]] == [str(place)], what
                continue
            table = sweep_table.SweepTable(**data["table"])
            metric = table.measured(None)
            sweep_table.cells(table, table.parameter("rate"), table.parameter("units"), metric, {}, best=True)
        except (RecordError, sweep_table.ChoiceError) as error:
            assert str(error).startswith(f"{place}: ") and "\n" not in str(error), what


def test_an_infinite_time_counts_as_none(tmp_path: Path) -> None:
    record = write_rest(write_record(tmp_path, "dot"))
    with h5py.File(record, "r+") as file:
        file["dev/wall_time"][-1] = np.inf
    made = compute([record.parent])
    assert "toy: 6.0 s on average" in markdown(made.subject, made.items)
    html(made)


def test_a_model_that_diverged_has_a_page(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    records = [write_rest(write_record(tmp_path, "dot", seed=seed)) for seed in (1, 2)]
    for record, values in zip(records, ((1e308, -1e308), (np.nan, np.inf))):
        with h5py.File(record, "r+") as file:
            file["dev/loss"][-2:] = values
    made = compute([record.parent for record in records])
    assert len(made.subject.runs) == 2 and "dot" in html(made) and not recwarn.list


def test_a_record_without_its_test_results_spoils_no_page(tmp_path: Path) -> None:
    healthy, harmed = (write_rest(write_record(tmp_path, name)) for name in ("dot", "general"))
    with h5py.File(harmed, "r+") as file:
        del file["test"]
    made = compute([healthy.parent, harmed.parent])
    assert len(made.subject.runs) == 2 and "dot" in html(made)
