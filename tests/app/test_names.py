"""Names of files, folders, runs and hosts that begin with '-' or contain control characters; files that must not be replaced."""

from __future__ import annotations

import os
import shutil
from itertools import product
from pathlib import Path

import h5py
import numpy as np
import pytest
from command_line import TINY, error, on_terminal, softalign, trained_run, write_corpus

TURNING = "\u061c\u200e\u200f\u202a\u202e\u2066\u2069"  # the direction of writing
EVIL = f"a\x1b[31m\nb\u009b{TURNING}" + os.fsdecode(b"\xff")
SWEEP = """\
name: -swept
base: ./{base}
method: grid
metric: {{name: dev/loss, goal: minimize}}
parameters:
  train.optimizer.learning_rate: {{values: [0.01, 0.02]}}
"""


def harmless(*arguments: object, cwd: Path, code: int | None = 0, text: str = "") -> str:
    """Returns the output of a command; checks that it is UTF-8 without control characters except ends of lines."""
    done = softalign(*arguments, cwd=cwd, code=code, text=text)
    message = done.stdout + done.stderr
    wrong = [c for c in message if (c < " " and c != "\n") or "\x7f" <= c <= "\x9f" or c in TURNING + "\ufffd"]
    assert not wrong, (arguments, wrong, message)
    return message


def test_names_of_files_do_not_reach_the_terminal(tmp_path: Path) -> None:
    folder = tmp_path / f"in {EVIL}"
    folder.mkdir()
    (folder / f"{EVIL}.yaml").write_text(TINY)
    (folder / f"sweep {EVIL}.yaml").write_text(SWEEP.format(base=json_path(f"{EVIL}.yaml")))
    spec, out = folder / f"{EVIL}.yaml", folder / f"out {EVIL}"
    assert harmless("validate", spec, cwd=tmp_path).count("\n") == 2  # its memory is the second
    assert harmless("validate", folder / f"absent {EVIL}", cwd=tmp_path, code=2).count("\n") == 2
    harmless("run", spec, "--results", out, "--dry-run", cwd=tmp_path)
    assert "\\x1b[31m\\nb" in harmless("run", spec, "--results", out, cwd=tmp_path)
    (run,) = out.glob("tiny/*")
    assert harmless("ls", folder / "absent", cwd=tmp_path, code=2).count("\n") == 1
    assert harmless("ls", "-s", "failed", folder, cwd=tmp_path, code=None)
    for command in (["run", spec, "--results", out], ["ls", out], ["show", run], ["tail", run], ["compare", out], ["diff", run, run],
                    ["evaluate", run], ["verify", run], ["recover", run], ["parameters", spec], ["resolve", spec],
                    ["validate", run / "spec.yaml"], ["run", spec, "--results", out, "--force"]):  # fmt: skip
        harmless(*command, cwd=tmp_path)
    alignments = folder / f"{EVIL}.h5"
    harmless("translate", run, "--alignments", alignments, cwd=tmp_path, text="1 2 3\n")
    harmless("show", alignments, cwd=tmp_path)
    harmless("show", alignments, "--sentence", "0", cwd=tmp_path)
    for command in (["show", alignments, "--sentence", "9"], ["show", folder], ["export", run, "-o", spec],
                    ["translate", run, "--alignments", spec]):  # fmt: skip
        harmless(*command, cwd=tmp_path, code=None)


def json_path(name: str) -> str:
    """Names that YAML allows, which are always UTF-8."""
    return name.encode("unicode_escape").decode()


@pytest.mark.parametrize("name", ["a\tb", "a\nb", os.fsdecode(b"a\xff")])
def test_a_folder_that_no_record_can_name_is_refused_before_training(tmp_path: Path, name: str) -> None:
    """A record has the absolute paths of its data: `verify` and `translate` read again the files that `run` read."""
    folder = tmp_path / name
    folder.mkdir()
    write_corpus(folder)
    softalign("run", "text.yaml", cwd=folder, code=2)
    assert not (folder / "results").exists()
    (tmp_path / "data").mkdir()
    write_corpus(tmp_path / "data")  # the program itself may be started anywhere
    run = trained_run(folder, spec="../data/text.yaml")
    assert "the same bits again" in softalign("verify", run, cwd=folder).stdout


def test_text_of_a_record_does_not_reach_the_terminal(trained: Path, tmp_path: Path) -> None:
    run = shutil.copytree(trained, tmp_path / "run")
    texts = EVIL[:-1]
    with h5py.File(run / "run.h5", "r+") as file:
        for group in ("/", "provenance", "test"):
            for key, value in list(file[group].attrs.items()):
                if isinstance(value, bytes) and not key.startswith(("_", "format", "run_id", "state", "plugins")):
                    file[group].attrs[key] = np.bytes_(texts.encode())
        for name in ("host", "state", "started"):
            file[f"provenance/attempts/{name}"][...] = texts
        tokens = file["alignments/cross/src_tokens"]
        tokens[...] = np.full(tokens.shape, texts, dtype=object)
    for command in (["show"], ["show", "--sentence", "0"], ["diff", trained], ["compare", trained], ["ls"], ["export", "-o", "t.csv"]):
        message = harmless(*command, run, cwd=tmp_path, code=None)
        assert "\\x1b" in message or command[0] in ("ls", "export", "compare"), message
    with h5py.File(run / "run.h5", "r+") as file:
        file["test/hypothesis"][...] = texts
    assert texts.split()[0] in softalign("export", "--what", "sentences", run, cwd=tmp_path).stdout  # data stay as they are
    assert "\x1b" not in on_terminal(tmp_path, 100, "export", "--what", "sentences", run, output=True)


@pytest.mark.parametrize("name", ["-x.yaml", "--results.yaml"])
def test_specs_and_folders_may_begin_with_a_dash(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TINY)
    out = tmp_path / "-out"
    for command in ("validate", "resolve", "parameters"):
        softalign(command, "--", name, cwd=tmp_path)
    softalign("run", "--results=-out", "--", name, "train.epochs=1", cwd=tmp_path)
    (run,) = out.glob("tiny/*")
    relative = run.relative_to(tmp_path)
    for command in ("show", "verify", "tail", "recover", "evaluate", "ls", "compare", "report"):
        softalign(command, "--", relative, cwd=tmp_path)
    softalign("export", "--output=-t.csv", "--", relative, cwd=tmp_path)
    assert (tmp_path / "-t.csv").exists() and (run / "report.html").exists()
    (tmp_path / "-s.yaml").write_text(SWEEP.format(base=name))
    softalign("sweep", "run", "--results=-out", "--", "-s.yaml", cwd=tmp_path)
    message = softalign("sweep", "status", "--", "-out/-swept", cwd=tmp_path).stdout
    assert "2 complete" in message


def test_only_what_the_command_made_is_replaced(trained: Path, tmp_path: Path) -> None:
    mine, record = tmp_path / "mine", trained / "run.h5"
    kept = record.read_bytes()
    for command in (["export", trained, "-o"], ["translate", trained, "--alignments"]):
        for text in (b"mine", kept, b""):
            mine.write_bytes(text)
            error(*command, mine, cwd=tmp_path, code=2)
            assert mine.read_bytes() == text
        error(*command, record, cwd=tmp_path, code=2)
        softalign(*command, mine, "--force", cwd=tmp_path, text="1 2\n")
        (tmp_path / "link").symlink_to(mine)
        before = mine.read_bytes()
        assert before != b""
        for place, force in product(["link", tmp_path, "/dev/null"], [[], ["--force"]]):
            error(*command, place, *force, cwd=tmp_path, code=2)
        assert mine.read_bytes() == before
        (tmp_path / "link").unlink()
    for _ in range(2):  # alignments replace alignments
        softalign("translate", trained, "--alignments", mine, cwd=tmp_path, text="1 2\n")
    assert record.read_bytes() == kept
