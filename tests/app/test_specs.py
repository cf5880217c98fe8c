"""validate and resolve, and errors of run about invalid specs and data: position, remedy, exit status, no files written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import MODEL, SPLITS, TINY, answer, error, files_below, softalign, text_spec, write_corpus


def test_resolve_shows_every_value_with_its_origin(here: Path) -> None:
    text = softalign("resolve", "tiny.yaml", "train.epochs=7", cwd=here).stdout
    lines = {line.split("#")[0].strip(): line.split("#")[-1].strip() for line in text.splitlines()}
    assert lines["symbols: 8"] == "tiny.yaml:4"
    assert lines["epochs: 7"] == "override 1 ('train.epochs=7')"
    assert lines["patience: 5"] == "default" if "patience: 5" in lines else True
    (here / "again.yaml").write_text(text)
    assert softalign("resolve", "again.yaml", "--json", cwd=here).stdout == (
        softalign("resolve", "tiny.yaml", "train.epochs=7", "--json", cwd=here).stdout
    )


def test_the_canonical_json_names_the_run(here: Path) -> None:
    canonical = softalign("resolve", "tiny.yaml", "--json", cwd=here).stdout.removesuffix("\n")
    object = json.loads(canonical)
    assert canonical == json.dumps(object, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert "name" not in object and "plugins" not in object
    plan = answer("run", "tiny.yaml", "name=another", "notes=of no account", "--dry-run", cwd=here)
    assert plan["run_id"] == hashlib.sha256(canonical.encode()).hexdigest()[:16]
    speed = answer("run", "tiny.yaml", "evaluate.batch=3", "record.checkpoint_every=7", "--dry-run", cwd=here)
    assert speed["run_id"] == plan["run_id"]


def test_validate_reports_every_fault_of_every_file(here: Path) -> None:
    (here / "bad.yaml").write_text(TINY.replace("symbols", "simbols").replace("epochs: 2", "epochs: two"))
    (here / "absent.yaml").write_text(text_spec("no.en", "no.es"))
    done = softalign("validate", "tiny.yaml", "bad.yaml", "absent.yaml", "nowhere.yaml", cwd=here, code=2)
    faults = [line.partition(": ")[0] for line in done.stderr.splitlines()]
    assert faults[:2] == ["bad.yaml:4:3", "bad.yaml:15:11"] and faults[-1] == "softalign"
    assert sum(fault.startswith("absent.yaml:") for fault in faults) == 6 and "absent.yaml:4:19" in faults  # every file
    verdicts = [line.partition(":")[0] for line in done.stdout.splitlines() if not line.startswith("  memory: ")]
    assert verdicts == ["tiny.yaml", "bad.yaml", "absent.yaml", "nowhere.yaml"]
    softalign("validate", "tiny.yaml", cwd=here)
    found = json.loads(softalign("validate", "tiny.yaml", "bad.yaml", "--json", cwd=here, code=2).stdout)
    assert [entry["valid"] for entry in found] == [True, False] and len(found[0]["run_id"]) == 16
    assert found[0]["errors"] == [] and len(found[1]["errors"]) == 2 and "simbols" in found[1]["errors"][0]
    (found,) = json.loads(softalign("validate", "absent.yaml", "--json", cwd=here, code=3).stdout)
    assert found["valid"] and len(found["errors"]) == 6 and "run_id" not in found


def test_validate_takes_overrides_for_all_specs_and_prints_notes(here: Path) -> None:
    (here / "other.yaml").write_text(TINY + "seed: 2\n")
    done = softalign("validate", "tiny.yaml", "train.epochs=-1", "other.yaml", cwd=here, code=2)
    assert [line[:39] for line in done.stderr.splitlines()] == ["softalign: override 1 ('train.epochs=-1"] * 2
    changes = ("model.attention.score=general", "~train.epochs")
    plan = answer("run", "tiny.yaml", *changes, "--dry-run", cwd=here)
    done = softalign("validate", "tiny.yaml", *changes, cwd=here)
    assert plan["run_id"] in done.stdout
    notes = [line for line in softalign("resolve", "tiny.yaml", *changes, cwd=here).stderr.splitlines()]
    assert notes and done.stderr.splitlines() == notes
    (found,) = answer("validate", "tiny.yaml", *changes, cwd=here)
    assert ["note: " + note for note in found["notes"]] == notes
    error("validate", "train.epochs=1", cwd=here, code=2)


def test_bleu_is_absent_and_not_watched_where_targets_are_shorter_than_4_tokens(here: Path) -> None:
    recall = "task:\n  type: associative_recall\n  examples: {train: 16, dev: 4, test: 4}\n"
    (here / "tiny.yaml").write_text("name: recall\n" + recall + MODEL)
    metrics = answer("run", "tiny.yaml", "train.epochs=1", cwd=here)["test"]["all"]
    assert "bleu" not in metrics and "chrf" in metrics
    shown = softalign("show", *here.glob("results/recall/*"), cwd=here).stdout
    assert "bleu" not in shown and "chrf: nrefs:1" in shown
    watch = "train.early_stopping={metric: dev/bleu}"
    assert f"override 1 ('{watch}'): " in error("run", "tiny.yaml", watch, cwd=here, code=2)
    several = answer("run", "tiny.yaml", watch, "task.queries=4", "train.epochs=1", cwd=here)["test"]["all"]
    assert several["bleu"] >= 0


BAD_SPECS = {
    "bad.yaml:15:3: ": TINY.replace("epochs", "epohcs"),
    "bad.yaml:10:43: ": TINY.replace("additive", "aditive"),
    "bad.yaml:14:22: ": TINY.replace("sentences: 16", "sentences: 0"),
    "bad.yaml:1:1": "",
    "bad.yaml": "seed: 1\n",
    "bad.yaml:1:7: ": TINY.replace("name: tiny", "name: ../tiny"),
    "bad.yaml:": TINY + "x: [1, 2\n",
    "bad.yaml:16:28: ": TINY + "  early_stopping: {metric: dev/blue}\n",
}


@pytest.mark.parametrize("place", BAD_SPECS)
def test_a_wrong_spec_is_refused_at_its_place(here: Path, place: str) -> None:
    (here / "bad.yaml").write_text(BAD_SPECS[place])
    assert error("run", "bad.yaml", cwd=here, code=2).removeprefix("softalign: ").startswith(place)
    assert files_below(here) == ["bad.yaml", "tiny.yaml"]


def remove(folder: Path) -> str:
    (folder / "train.es").unlink()
    return "train.es: cannot be read"


def damage(folder: Path) -> str:
    lines = (folder / "train.es").read_bytes().splitlines(keepends=True)
    (folder / "train.es").write_bytes(b"".join([*lines[:6], b"caf\xe9\n", *lines[7:]]))
    return "train.es:7: byte 4 (0xe9) is not UTF-8"


def link_too_far(folder: Path) -> str:
    (folder / "text.yaml").write_text(text_spec(more=", alignment: {}.align"))
    for split, lines in SPLITS.items():
        (folder / f"{split}.align").write_text("0-0\n" + "0-0 1-9\n" * (split == "test") + "\n" * (lines - 1 - (split == "test")))
    return "test.align:2: "


@pytest.mark.parametrize("spoil", [remove, damage, link_too_far])
def test_wrong_data_is_refused_with_file_and_line(here: Path, spoil: Callable[[Path], str]) -> None:
    write_corpus(here)
    place = spoil(here)
    before = files_below(here)
    line = error("run", "text.yaml", cwd=here, code=3)
    assert place in line, line
    assert files_below(here) == before
