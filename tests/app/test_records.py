"""Commands that read records: ls, show, tail, recover, verify; and commands that use their models: evaluate, translate."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import (
    PROGRAM, TINY, answer, error, files_below, interrupt, kill, needs_subwords, only_run, softalign, started, started_run, trained_run, wait_until, write_corpus,
)  # fmt: skip

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")



# --- looking


def test_ls_has_a_line_for_every_run_and_a_corrupt_one_breaks_nothing(run: Path, tmp_path: Path) -> None:
    for name, spoil in {
        "cut": lambda f: f.write_bytes(f.read_bytes()[:5000]),
        "foreign": lambda f: f.write_bytes(b"no HDF5 at all"),
        "gone": lambda f: f.unlink(),
    }.items():
        shutil.copytree(run, tmp_path / "results" / name / run.name)
        spoil(tmp_path / "results" / name / run.name / "run.h5")
    newer = tmp_path / "results" / "newer" / run.name
    shutil.copytree(run, newer)
    with h5py.File(newer / "run.h5", "a") as file:
        file.attrs["format_version"] = 99
    (tmp_path / "results" / "empty").mkdir()
    lines = {line.split()[0]: line for line in softalign("ls", cwd=tmp_path, code=1).stdout.splitlines()}
    assert list(lines) == ["name", "cut", "foreign", "gone", "newer", "tiny"]
    assert " complete " in lines["tiny"] and " 160 " in lines["tiny"]
    assert all(" corrupt " in lines[name] for name in ("cut", "foreign")) and " unreadable " in lines["newer"]
    found = {entry["name"]: entry for entry in answer("ls", "results", cwd=tmp_path, code=1)}
    assert found["tiny"]["test"]["n"] == 16 and found["tiny"]["updates"] == 160
    softalign("ls", "results/empty", cwd=tmp_path)
    error("ls", "nowhere", cwd=tmp_path, code=2)


def test_ls_says_in_what_runs_of_one_name_differ(here: Path) -> None:
    softalign("run", "tiny.yaml", cwd=here)
    assert "differs" not in softalign("ls", cwd=here).stdout
    softalign("run", "tiny.yaml", "seed=2", "train.epochs=1", cwd=here)
    softalign("run", "tiny.yaml", "model.attention.score=general", cwd=here)
    lines = [line.split("  ")[-1].strip() for line in softalign("ls", cwd=here).stdout.splitlines()]
    assert lines[0] == "differs in"
    assert sorted(lines[1:]) == ["seed=1 score=additive epochs=2", "seed=1 score=general epochs=2", "seed=2 score=additive epochs=1"]
    found = [entry["differs"] for entry in answer("ls", cwd=here)]
    assert {"seed": "2", "model.attention.score.type": "additive", "train.epochs": "1"} in found


def test_ls_is_as_new_as_the_journal(here: Path) -> None:
    run, folder = started_run(here, "train.epochs=3000", "evaluate.search_dev=false")
    os.kill(run.pid, signal.SIGSTOP)
    (entry,) = answer("ls", cwd=here)
    last = softalign("tail", folder, "-n", 1, cwd=here).stdout.split()[0]
    kill(run)
    assert entry["state"] == "running" and entry["updates"] == int(last) > 0


def test_show_tells_what_was_run_where_and_how_it_did(trained: Path) -> None:
    here = trained.parents[2]
    text = softalign("show", trained, cwd=here).stdout
    assert "tiny " + trained.name in text and "complete, 160 updates" in text and "bleu: nrefs:1|" in text
    assert "patience" not in text  # a default
    assert softalign("show", trained / "run.h5", cwd=here).stdout == text
    assert softalign("show", trained.name[:5], cwd=here).stdout == text
    shown = answer("show", trained, cwd=here)
    assert shown["run_id"] == trained.name and shown["data"]["train"]["kept"] == 64
    assert shown["test"]["all"]["bleu"] == answer("run", "tiny.yaml", "train.epochs=40", cwd=here)["test"]["all"]["bleu"]


def test_show_aligns_words_as_they_are_printed(trained: Path, tmp_path: Path) -> None:
    run = shutil.copytree(trained, tmp_path / "tiny" / trained.name)
    with h5py.File(run / "run.h5", "a") as file:
        group = file["alignments/cross"]
        group["src_tokens"][3, 0] = group["tgt_tokens"][0, 3, 0] = "\x1b[1m\u202e"
    lines = softalign("show", run, "--sentence", 3, cwd=tmp_path).stdout.splitlines()
    rows = [line for line in lines if "│" in line]
    assert rows[0].startswith(r"\x1b[1m\xe2\x80…") and len({row.index("│") for row in rows}) == 1
    column = rows[0].index("│") + 1
    heads = [line[column : column + 1] for line in lines[1 : next(at for at, line in enumerate(lines) if "┌" in line)]]
    assert "".join(heads).strip() == r"\x1b[1m\xe2\x80…"


def test_show_draws_the_alignment_of_a_sentence(trained: Path) -> None:
    here = trained.parents[2]
    text = softalign("show", trained, "--sentence", 3, cwd=here).stdout
    with h5py.File(trained / "run.h5") as file:
        group = file["alignments/cross"]
        sources, targets = group["src_len"][3], group["tgt_len"][0, 3]
        weights = group["weights"][0, 3, 0, :targets, :sources]
        words = group["src_tokens"].asstr()[3, :sources]
    rows = [line for line in text.splitlines() if line.count("│") == 2]
    assert len(rows) == targets
    for row, drawn in zip(weights, rows):
        inside, behind = drawn.split("│")[1:]
        assert len(inside) == 2 * sources
        assert behind == f" {row.max():.2f} {words[row.argmax()]}"
        for weight, shade in zip(row, inside[::2]):
            assert shade == " ░▒▓█"[sum(weight >= edge for edge in (0.05, 0.25, 0.5, 0.75))]
    assert "●" in text
    assert "cross_search" in softalign("show", trained, "--sentence", 3, "--module", "cross_search", cwd=here).stdout
    matrix = answer("show", trained, "--sentence", 3, cwd=here)
    assert matrix["weights"] == pytest.approx(weights.ravel().tolist())
    for words in (["--sentence", 16], ["--module", "cross"], ["--sentence", 1, "--module", "crs"]):
        error("show", trained, *words, cwd=here, code=2)


def test_a_run_that_is_not_there_is_refused(trained: Path, run: Path) -> None:
    here = run.parents[2]
    shutil.copytree(here / "results/tiny", here / "results/again")
    (here / "empty").mkdir()
    (here / "cut.h5").write_bytes((trained / "run.h5").read_bytes()[:3000])
    with h5py.File(here / "other.h5", "w") as file:
        file["x"] = 1
    shutil.copy(trained / "run.h5", here / "alone.h5")
    for place in ("zzzz", "", "results", "empty"):
        error("show", place, cwd=here, code=2)
    for begun in (trained.name[:4], trained.name):  # two folders hold it
        assert f"results/again/{trained.name}, results/tiny/{trained.name}" in error("show", begun, cwd=here, code=2)
    for place in ("cut.h5", "other.h5"):
        assert place in error("show", place, cwd=here, code=3)
    for place in ("results/again", "alone.h5"):  # the one run below it; a record without its folder
        softalign("show", place, cwd=here)
    error("tail", "alone.h5", cwd=here, code=2)


def test_tail_follows_a_run_to_its_end(here: Path) -> None:
    run = started("run", "tiny.yaml", "train.epochs=60", cwd=here)
    wait_until(lambda: any(here.glob("results/tiny/*/journal-001.jrnl")))
    folder = only_run(here)
    done = softalign("tail", folder, "-f", "-n", 3, cwd=here)
    run.communicate()
    lines = done.stdout.splitlines()
    assert lines[-1].endswith("ended: complete")
    updates = [int(line.split()[0]) for line in lines if line.split()[1] == "train"]
    assert updates == list(range(updates[0], 241)) and len(updates) > 3
    last = softalign("tail", folder, "-n", 2, cwd=here).stdout.splitlines()
    assert last == lines[-2:]
    for count in (0, -1):
        error("tail", folder, "-n", count, cwd=here, code=2)
    assert softalign("tail", folder, "-f", "-n", 0, cwd=here).stdout == ""


# --- trust


def test_recover_makes_the_record_of_a_killed_run(here: Path) -> None:
    run, folder = started_run(here, "train.epochs=3000", "evaluate.search_dev=false")
    error("recover", folder, cwd=here, code=1)
    kill(run)
    assert answer("ls", cwd=here)[0]["state"] == "lost"
    if (folder / "run.h5").exists():  # the same word and the same status everywhere
        assert "\nstate       lost, " in softalign("show", folder, cwd=here).stdout
        assert answer("show", folder, cwd=here)["state"] == "lost"
        error("verify", folder, cwd=here, code=3)
        assert "the last state, of update " in softalign("evaluate", folder, "--state", "last", cwd=here).stderr
    (folder / "run.h5").unlink(missing_ok=True)
    softalign("recover", folder, cwd=here)
    with h5py.File(folder / "run.h5") as file:
        assert file.attrs["complete"] == 0 and len(file["train/loss"]) > 0
    shutil.rmtree(folder / "ckpt")
    error("translate", folder, cwd=here, code=3)


def test_verify_finds_the_same_bits_and_a_changed_one(run: Path, tmp_path: Path) -> None:
    kept = softalign("verify", run, "--keep", "--threads", 1, cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert kept.stdout.endswith("the same bits again\n")
    (second,) = tmp_path.glob("softalign-verify-*/tiny/*/run.h5")
    assert str(second.parents[2]) in kept.stdout
    shutil.rmtree(second.parents[2])
    with h5py.File(run / "run.h5", "a") as file:
        values = file["train/loss"][:]
        values[7] += 1e-12
        file["train/loss"][:] = values
    before = files_below(tmp_path)
    done = softalign("verify", run, cwd=tmp_path, code=4, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert "1 of its values differ in the repetition, first train/loss; " in done.stderr.splitlines()[-1]
    assert files_below(tmp_path) == before


def test_verify_runs_a_part_again(run: Path, tmp_path: Path) -> None:
    def verdict(*options: object) -> str:
        return softalign("verify", run, *options, cwd=tmp_path).stdout.partition("the same bits again")[2]

    def faults(*options: object) -> str:
        return softalign("verify", run, *options, cwd=tmp_path, code=4).stderr.partition(" of its values differ in the repetition, first ")[2]

    assert verdict("--quick") == " after update 156 of 160\n"
    assert verdict("--from", 160) == " after update 156 of 160\n"
    error("verify", run, "--from", 155, cwd=tmp_path, code=3)
    assert verdict("--updates", 6) == " in training and dev at updates 1 to 6 of 160\n"
    assert verdict("--quick", "--updates", 2) == " in training and dev at updates 157 to 158 of 160\n"
    assert verdict("--updates", 160) == verdict("--updates", 161) == "\n"
    with h5py.File(run / "run.h5", "a") as file:
        for update, dataset in ((5, "train/loss"), (158, "train/gradient_norm")):
            values = file[dataset][:]
            values[update - 1] += 1e-12
            file[dataset][:] = values
    assert faults("--updates", 5).startswith("train/loss at update 5; ")
    verdict("--updates", 3)
    assert faults("--quick", "--updates", 3).startswith("train/gradient_norm at update 158, train/loss at update 5; ")
    shutil.copy(run / "run.h5", tmp_path / "alone.h5")
    error("verify", "alone.h5", "--quick", cwd=tmp_path, code=3)


def test_a_part_holds_the_evaluation_behind_it_and_what_is_known_before(run: Path, tmp_path: Path) -> None:
    def spoil(change: Callable[[h5py.File], object]) -> str:
        shutil.copy(run / "run.h5", tmp_path / "spoilt.h5")
        with h5py.File(tmp_path / "spoilt.h5", "a") as file:
            change(file)
        return softalign("verify", "spoilt.h5", "--updates", 4, cwd=tmp_path, code=4).stderr.splitlines()[-1]

    assert "first dev/bleu at update 4; " in spoil(lambda file: file["dev/bleu"].write_direct(file["dev/bleu"][:] + 1))
    assert "first data@source_symbols; " in spoil(lambda file: file["data"].attrs.modify("source_symbols", 99))
    assert "first train/objective at update 1; " in spoil(lambda file: file["train"].create_dataset("objective", data=file["train/loss"][:]))


def test_numbers_that_a_record_lost_are_a_difference(run: Path, tmp_path: Path) -> None:
    for path, parent, name in (("train/loss", "train", "loss"), ("test@bleu", "test", "bleu"), ("dev/bleu", "dev", "bleu")):
        shutil.copy(run / "run.h5", tmp_path / "lost.h5")
        with h5py.File(tmp_path / "lost.h5", "a") as file:
            del (file[parent].attrs if "@" in path else file[parent])[name]
        assert f"first {path}; " in softalign("verify", "lost.h5", cwd=tmp_path, code=4).stderr.splitlines()[-1]


def test_a_pruned_run_has_nothing_behind_its_last_checkpoint(here: Path) -> None:
    for name in ("gru.yaml", "pruned.yaml"):
        shutil.copy(Path(__file__).parents[2] / "results" / "published" / name, here)
    softalign("sweep", "run", "pruned.yaml", "--workers", 1, cwd=here)
    pruned = next(path.parent for path in here.glob("results/pruned/*/status.json") if '"pruned"' in path.read_text())
    assert "the same bits again" in softalign("verify", pruned, cwd=here).stdout
    error("verify", pruned, "--quick", cwd=here, code=3)


def test_a_record_of_another_arithmetic_is_shown_and_not_verified(run: Path, tmp_path: Path) -> None:
    with h5py.File(run / "run.h5", "a") as file:
        assert file["provenance"].attrs["arithmetic"] == 3
        file["provenance"].attrs.modify("arithmetic", 1)
    error("verify", run, cwd=tmp_path, code=3)
    assert "token_accuracy" in softalign("show", run, cwd=tmp_path).stdout


def test_an_interrupted_verification_leaves_nothing(here: Path) -> None:
    folder = trained_run(here, "train.epochs=400")
    before = files_below(here)
    process = started("verify", folder, cwd=here, env={**os.environ, "TMPDIR": str(here)})
    wait_until(lambda: any(here.glob("softalign-verify-*/tiny/*/ckpt/*.ckpt")))
    interrupt(process)
    assert files_below(here) == before


def test_what_a_killed_verification_left_is_removed_by_the_next_one(here: Path) -> None:
    folder = trained_run(here, "train.epochs=400")
    env = {**os.environ, "TMPDIR": str(here)}
    process = started("verify", folder, cwd=here, env=env)
    wait_until(lambda: any(here.glob("softalign-verify-*/tiny/*/ckpt/*.ckpt")))
    (left,) = here.glob("softalign-verify-*")
    others = {left.name.replace(f"-{process.pid}-", f"-{os.getpid()}-"), "softalign-verify-Ab12Cd", f"{left.name}x"}
    for other in others:
        (here / other).mkdir()
    kill(process)
    softalign("verify", folder, "task.symbols=9", cwd=here, code=3, env=env)  # refused before anything is trained
    assert left.exists()
    softalign("verify", folder, cwd=here, env=env)
    assert {path.name for path in here.glob("softalign-verify-*")} == others


# --- models


def test_evaluate_gives_the_numbers_of_the_record(trained: Path) -> None:
    here = trained.parents[2]
    test = answer("show", trained, cwd=here)["test"]
    assert answer("evaluate", trained, cwd=here)["metrics"] == test
    one = answer("evaluate", trained, "--threads", 1, "batch=3", cwd=here)["metrics"]["all"]
    assert one["bleu"] == test["all"]["bleu"] and one["loss"] == pytest.approx(test["all"]["loss"])
    greedy = answer("evaluate", trained, "--search", "greedy", cwd=here)["metrics"]["all"]
    narrow = answer("evaluate", trained, "search.width=1", cwd=here)["metrics"]["all"]
    assert greedy["bleu"] == narrow["bleu"]
    dev = answer("evaluate", trained, "--split", "dev", "lengths=[3]", cwd=here)
    assert dev["search"]["type"] == "beam" and dev["search"]["width"] == "5"
    assert dev["split"] == "dev" and list(dev["metrics"]) == ["all", "1-3", "4+"]
    for change in ("search.widht=3", "model.embedding=3"):
        error("evaluate", trained, change, cwd=here, code=2)


def test_evaluate_says_when_the_data_is_not_what_the_run_read(here: Path) -> None:
    write_corpus(here)
    run = trained_run(here, spec="text.yaml")
    assert "note" not in softalign("evaluate", run, cwd=here).stderr
    (here / "test.en").write_text("a b\n" * 4)
    assert "task.test.source changed" in softalign("evaluate", run, cwd=here).stderr
    assert answer("evaluate", run, cwd=here)["changed_data"] == ["task.test.source"]
    assert "task.test.source changed" in error("verify", run, cwd=here, code=3)
    (here / "train.en").write_text("other words\n" * 20)
    assert answer("evaluate", run, cwd=here)["changed_data"] == ["task.test.source", "task.train.source"]
    (here / "train.en").rename(here / "moved.en")
    assert "train.en" in softalign("verify", run, cwd=here, code=3).stderr
    (here / "test.es").unlink()
    assert "test.es" in softalign("evaluate", run, cwd=here, code=3).stderr
    write_corpus(here)
    (here / "train.en").rename(here / "moved.en")
    moved = answer("evaluate", run, "task.train.source=moved.en", cwd=here)
    assert moved["changed_data"] == [] and moved["metrics"] == answer("show", run, cwd=here)["test"]


def test_data_that_moved_with_the_record_is_found(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    write_corpus(here)
    run = trained_run(here, spec="text.yaml").relative_to(here)
    place = tmp_path_factory.mktemp("elsewhere") / "deeper"
    here.rename(place)
    try:
        assert "the same bits again" in softalign("verify", run / "run.h5", cwd=place).stdout
        (place / "results" / "train.en").write_bytes((place / "train.en").read_bytes())
        (place / "train.en").write_text("not what the run read\n" * 20)
        assert "the same bits again" in softalign("verify", run, cwd=place).stdout  # nearer to the record, and with its bytes
        (place / "results" / "train.en").unlink()
        softalign("verify", run, cwd=place, code=3)
    finally:
        place.rename(here)


def test_paths_in_a_run_and_its_record_are_relative(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    write_corpus(here)
    results = tmp_path_factory.mktemp("disk") / "far/results"
    results.mkdir(parents=True)
    (here / "results").symlink_to(results)
    run = trained_run(here, f"task.dev.source={here}/dev.en", "task.dev.target=dev.es", spec=here / "text.yaml")
    with h5py.File(run / "run.h5") as file:
        spec = file["provenance/spec_yaml"].asstr()[()]
        assert "working_directory" not in file["provenance"].attrs
    assert (run / "spec.yaml").read_text() == spec and "# ../" in spec
    assert "# override 1\n" in spec and "# override 2 ('task.dev.target=dev.es')\n" in spec
    assert " /" not in spec and "'/" not in spec and '"/' not in spec, spec
    for again in (run, results / "text" / run.name):
        assert "the same bits again" in softalign("verify", again, cwd=results).stdout
        assert answer("run", again / "spec.yaml", "--dry-run", cwd=here)["run_id"] == run.name


def test_a_number_of_the_spec_is_the_same_however_it_is_written(here: Path) -> None:
    (here / "tiny.yaml").write_text(TINY)
    run = trained_run(here)
    spec = (run / "spec.yaml").read_text()
    assert "epsilon: 1.0e-08" in spec
    for text, code in (("1e-08", 0), ("1.0e-07", 3)):  # as versions before wrote it; another number
        (run / "spec.yaml").write_text(spec.replace("epsilon: 1.0e-08", f"epsilon: {text}"))
        (run / "run.h5").unlink(missing_ok=True)
        done = softalign("recover", run, cwd=here, code=code)
    assert "train.optimizer.epsilon does not match identity.json" in done.stderr


def test_verify_needs_the_version_of_sentencepiece_that_made_the_record(here: Path) -> None:
    needs_subwords()
    write_corpus(here)
    run = trained_run(here, "task.vocabulary={type: sentencepiece, size: 12}", spec="text.yaml")
    softalign("verify", run, cwd=here)
    with h5py.File(run / "run.h5", "a") as file:
        attributes = file["provenance"].attrs
        attributes["libs"] = re.sub(rb"(sentencepiece) [0-9.]+", rb"\1 0.0.1", attributes["libs"])
    error("verify", run, cwd=here, code=3)


LINES = ["a b c", "", "h g f e d", "  a   a ", "b q b", "c d\r"]


def test_translate_gives_a_line_for_a_line(trained: Path) -> None:
    here = trained.parents[2]
    done = softalign("translate", trained, cwd=here, text="\n".join(LINES))
    out = done.stdout.split("\n")
    assert len(out) == len(LINES) + 1 and out[1] == "" and out[-1] == ""
    assert out[3].split() == ["a", "a"]
    assert "1 of 15" in done.stderr and "q" in done.stderr  # unknown symbols
    strange = softalign("translate", trained, cwd=here, text="a r q s r t u v w \x1b[31m\n").stderr
    assert "9 of 10" in strange and "r q s t u ..." in strange
    assert "\\x1b" in softalign("translate", trained, cwd=here, text="\x1b[31m").stderr
    many = softalign("translate", trained, cwd=here, text="\n".join(LINES * 300) + "\n").stdout.split("\n")
    assert many == out[:-1] * 300 + [""]
    assert softalign("translate", trained, cwd=here).stdout == ""
    wide = softalign("translate", trained, "search.width=10", "--threads", 1, cwd=here, text="a b c\n")
    assert wide.stdout.count("\n") == 1


def test_translate_answers_at_once_to_one_who_waits(trained: Path) -> None:
    process = subprocess.Popen([str(PROGRAM), "translate", str(trained)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    for line in ("a b", "c d e"):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        assert process.stdout.readline().endswith("\n")  # or this test hangs
    process.stdin.close()
    assert process.wait() == 0
    process.stdout.close()


def test_translate_stops_at_a_line_that_is_no_text(trained: Path) -> None:
    here = trained.parents[2]
    done = softalign("translate", trained, cwd=here, code=3, text=b"a b\n\nc \xff d\ne\n")
    assert done.stdout.count("\n") == 2
    assert done.stderr.startswith("standard input:3: byte 3 (0xff)")
    long = softalign("translate", trained, cwd=here, code=3, text="a " * 100_000)
    assert "standard input:1: " in long.stderr
    for place, message in {"/dev/zero": "standard input:1: ", "/": "standard input: "}.items():
        descriptor = os.open(place, os.O_RDONLY)
        done = subprocess.run([PROGRAM, "translate", trained], stdin=descriptor, capture_output=True, text=True, timeout=60)
        os.close(descriptor)
        assert done.returncode == 3 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_translate_writes_alignments_that_xarray_reads(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "alignments.h5"
    done = softalign("translate", trained, "--alignments", file, cwd=tmp_path, text="\n".join(LINES))
    out = done.stdout.split("\n")
    with h5py.File(file) as f:
        group = f["alignments/cross"]
        assert f.attrs["format"] == b"softalign-alignments" and f.attrs["run_id"].decode() == trained.name
        assert group["sentence"][:].tolist() == [0, 2, 3, 4, 5]  # lines, from 0; the empty one has none
        for place, line in enumerate(group["sentence"][:]):
            sources, targets = group["src_len"][place], group["tgt_len"][0, place]
            words = group["src_tokens"].asstr()[place, :sources].tolist()
            assert words == [w if w != "q" else "<unk>" for w in LINES[line].split()] + ["</s>"]
            spoken = [w for w in group["tgt_tokens"].asstr()[0, place, :targets] if w != "</s>"]
            assert " ".join(spoken) == out[line]
            weights = group["weights"][0, place, 0, :targets, :sources]
            assert weights.sum(axis=1) == pytest.approx([1] * targets, abs=1e-5)
    shown = softalign("show", file, cwd=tmp_path).stdout
    assert trained.name in shown and "5 sentences" in shown and out[2] in shown
    assert answer("show", file, cwd=tmp_path)["sentences"] == [0, 2, 3, 4, 5]
    assert "│" in softalign("show", file, "--sentence", 4, cwd=tmp_path).stdout
    error("show", file, "--sentence", 1, cwd=tmp_path, code=2)
    error("evaluate", file, cwd=tmp_path, code=3)
    for engine, module in {"netcdf4": "netCDF4", "h5netcdf": "h5netcdf"}.items():
        xarray = pytest.importorskip("xarray", reason="python3-xarray is not installed")
        pytest.importorskip(module, reason=f"python3-{engine} is not installed")
        with xarray.open_dataset(file, group="alignments/cross", engine=engine) as data:
            assert dict(data.sizes)["sentence"] == 5 and data.weights.dims == ("update", "sentence", "head", "tgt", "src")


def test_alignments_are_refused_where_there_are_none_or_no_place_for_them(trained: Path, here: Path) -> None:
    error("translate", trained, "--alignments", "no/x.h5", cwd=here, code=2)
    run = trained_run(here, "model.attention=none", "train.epochs=1")
    error("translate", run, "--alignments", "x.h5", cwd=here, code=2)
    error("show", run, "--sentence", 0, cwd=here, code=2)
    assert json.loads(softalign("show", run, "--json", cwd=here).stdout)["test"]["all"]["n"] == 16
