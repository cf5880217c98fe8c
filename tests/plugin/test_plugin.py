"""A score in a shared object (angular.cpp): list, describe, check, run and records; and invalid files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from command_line import ANGULAR, TINY, answer, error, files_below, interrupt, softalign, started_run, trained_run

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")


def test_it_is_listed_described_and_checked(tmp_path: Path) -> None:
    names = [plugin["name"] for plugin in answer("list", "scores", "--plugin", ANGULAR, cwd=tmp_path)]
    assert {"additive", "angular", "cosine"} <= set(names) and names == sorted(names)
    described = answer("describe", "score", "angular", "--plugin", ANGULAR, cwd=tmp_path)
    assert described["summary"] == "scaled cosine similarity" and described["source"].endswith("tests/plugin/angular.cpp")
    assert [(o["option"], o["default"], o["legal"]) for o in described["options"]] == [("gain", "8.0", "> 0")]
    results = answer("check", "score", "angular", "--plugin", ANGULAR, cwd=tmp_path)
    assert {"gradients", "padding", "permutation", "same bits"} <= {r["check"] for r in results}
    assert all(r["passed"] for r in results)
    assert "unknown score 'angular'" in error("describe", "score", "angular", cwd=tmp_path, code=2)


def test_a_gradient_that_is_short_is_found_out(tmp_path: Path) -> None:
    leaky = ANGULAR.with_name("leaky.so")
    results = json.loads(softalign("check", "score", "leaky", "--plugin", leaky, "--json", cwd=tmp_path, code=4).stdout)
    assert [r["check"] for r in results if not r["passed"]] == ["gradients"]


def test_one_that_changes_how_numbers_are_rounded_is_refused(tmp_path: Path) -> None:
    error("list", "scores", "--plugin", ANGULAR.with_name("flushing.so"), cwd=tmp_path, code=2)


def test_it_is_trained_and_recorded_and_the_record_is_read_with_it(here: Path) -> None:
    plugin = shutil.copy(ANGULAR, here / "angular.so")
    run = trained_run(here, "--plugin", "angular.so", "model.attention.score={type: angular, gain: 4}")
    shown = answer("show", run, cwd=here)
    digest = hashlib.sha256(Path(plugin).read_bytes()).hexdigest()
    assert json.loads(shown["provenance"]["plugins"]) == [f"angular.so sha256:{digest}"]
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    error("translate", run, cwd=elsewhere, code=2)
    assert softalign("translate", run, "--plugin", plugin, cwd=elsewhere, text="a b\n").stdout.count("\n") == 1
    assert softalign("verify", run, "--plugin", plugin, cwd=elsewhere).stdout.endswith("the same bits again\n")


def test_a_metric_that_includes_only_its_kinds_header_is_measured_and_shown(here: Path) -> None:
    repeats = ANGULAR.with_name("repeats.so")
    softalign("run", "tiny.yaml", "--plugin", repeats, cwd=here)
    (run,) = here.glob("results/tiny/*/run.h5")
    with h5py.File(run) as file:
        symbols, repeated = file["test/repeats"][:].sum(axis=0)
        assert file["test"].attrs["repeats"] == pytest.approx(100 * repeated / symbols)
    shown = softalign("show", run.parent, cwd=here).stdout  # a program that does not know it
    assert "exact_match to repeats" in shown
    assert "repeats" in [metric["name"] for metric in answer("compare", run.parent, cwd=here)["metrics"]]


def test_a_report_tests_a_plugins_metric_once_it_has_the_plugin(here: Path) -> None:
    repeats = ANGULAR.with_name("repeats.so")
    for score in ("additive", "general"):
        softalign("run", "tiny.yaml", "--plugin", repeats, f"model.attention.score={score}", cwd=here)
    pages = {}
    for name, words in (("without", []), ("with", ["--plugin", repeats])):
        softalign("report", "results", "-o", f"{name}.html", *words, cwd=here)
        pages[name] = (here / f"{name}.html").read_text()
    reason = "Not tested: repeats: no registered metric: give its plugin with --plugin."
    assert reason in pages["without"] and reason not in pages["with"]
    assert "repeats (%) by source length, 2 series;" in pages["without"]
    assert "repeats (%) by source length, 2 series with 95 % intervals" in pages["with"]


def test_another_plugin_of_the_name_that_measured_tests_nothing(here: Path) -> None:
    repeats, unlawful = (ANGULAR.with_name(f"{name}.so") for name in ("repeats", "unlawful"))
    for score in ("additive", "general"):
        softalign("run", "tiny.yaml", "--plugin", repeats, f"model.attention.score={score}", cwd=here)
    compared = answer("compare", "results", "--metric", "repeats", "--plugin", unlawful, cwd=here)
    assert all(one["untested"] for one in compared["against_baseline"])
    compared = answer("compare", "results", "--metric", "repeats", "--length", "1-99", "--plugin", unlawful, cwd=here)
    assert all(group["metrics"]["repeats"]["mean"] is None for group in compared["groups"])


def test_a_metric_that_breaks_a_law_is_named(here: Path) -> None:
    unlawful = ANGULAR.with_name("unlawful.so")
    results = json.loads(softalign("check", "metric", "halves", "--plugin", unlawful, "--json", cwd=here, code=4).stdout)
    assert [r["check"] for r in results if not r["passed"]] == ["counts"]
    repeats = json.loads(softalign("check", "metric", "repeats", "--plugin", unlawful, "--json", cwd=here, code=4).stdout)
    assert len([r for r in repeats if not r["passed"]]) == 1
    for command in ("run", "validate"):  # before anything is trained
        assert "metric 'halves'" in error(command, "tiny.yaml", "--plugin", unlawful, cwd=here, code=2)
        assert not (here / "results").exists()


def test_a_diagnostic_whose_findings_no_record_can_hold_is_refused_at_once(here: Path) -> None:
    line = error("run", "tiny.yaml", "diagnostics={nameless: {}}", "--plugin", ANGULAR.with_name("fickle.so"), cwd=here, code=2)
    assert "diagnostics.nameless: '' cannot be the name of an array" in line and not (here / "results").exists()


def test_a_test_that_fails_leaves_a_trained_run_and_the_same_command_tests_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("run", "tiny.yaml", "task.examples.test=20", "--plugin", ANGULAR.with_name("fickle.so"))
    monkeypatch.setenv("FICKLE", "1")
    assert softalign(*command, cwd=here, code=1).stderr.splitlines()[-1] == "softalign: fickle: not today"
    (run,) = answer("ls", cwd=here)
    assert run["state"] == "trained"
    (folder,) = (here / "results/tiny").iterdir()
    with h5py.File(folder / "run.h5") as file:
        assert file.attrs["state"] == b"trained" and not file.attrs["complete"] and "test" not in file
        losses = file["train/loss"][:]
    softalign(*command, cwd=here, code=1)
    monkeypatch.delenv("FICKLE")
    done = softalign(*command, cwd=here)
    assert f"resuming at update {len(losses)}" in done.stderr
    assert answer("ls", cwd=here)[0]["state"] == "complete"
    with h5py.File(folder / "run.h5") as file:
        assert (file["train/loss"][:] == losses).all() and "fickle" in file["test"]


def test_a_row_whose_test_failed_is_tested_when_its_sweep_runs_again(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "sweep.yaml").write_text("name: two\nbase: tiny.yaml\nparameters:\n  task.examples.test: {values: [16, 20]}\nseeds: [1]\n")
    sweep = ("sweep.yaml", "--plugin", ANGULAR.with_name("fickle.so"))
    monkeypatch.setenv("FICKLE", "1")
    assert "some rows failed" in softalign("sweep", "run", *sweep, cwd=here, code=1).stderr
    rows = answer("sweep", "status", *sweep, cwd=here)["rows"]
    assert [row["state"] for row in rows] == ["complete", "trained"] and "fickle: not today" in json.dumps(rows[1])
    monkeypatch.delenv("FICKLE")
    softalign("sweep", "run", *sweep, cwd=here)
    assert {row["state"] for row in answer("sweep", "status", *sweep, cwd=here)["rows"]} == {"complete"}


def test_what_a_metric_counts_is_described_and_checked(here: Path) -> None:
    described = answer("describe", "metric", "repeats", "--plugin", ANGULAR.with_name("repeats.so"), cwd=here)["metric"]
    assert (described["title"], described["units"], described["higher_is_better"]) == ("repeats", "percent", False)
    assert [(c["name"], c["count_source"], c["width"]) for c in described["columns"]] == [("repeats", "decoded", 2)]
    assert "higher is better" in softalign("describe", "metric", "bleu", cwd=here).stdout
    results = answer("check", "metric", "repeats", "--plugin", ANGULAR.with_name("repeats.so"), cwd=here)
    assert [(r["check"], r["passed"]) for r in results] == [(law, True) for law in ("options", "columns", "company", "counts", "values")]


def changed_copy_of_a_run(here: Path) -> tuple[list[object], Path]:
    """Returns the command and the folder of a run with a plugin whose file was built again with other bytes."""
    shutil.copy(ANGULAR, here / "angular.so")
    command = ["run", "tiny.yaml", "--plugin", "angular.so", "model.attention.score=angular"]
    run = trained_run(here, *command[2:])
    with (here / "angular.so").open("ab") as file:
        file.write(b"edited")
    return command, run


def test_results_of_another_build_of_a_plugin_are_called_so(here: Path) -> None:
    command, run = changed_copy_of_a_run(here)
    then, now = (hashlib.sha256(path.read_bytes()).hexdigest()[:8] for path in (ANGULAR, here / "angular.so"))
    message = f"made by another angular.so (sha256 {then}.. then, {now}.. now)"
    again = softalign(*command, cwd=here)
    assert again.stderr.endswith(f"note: {message}; --force runs it again\n") and "complete already" in again.stdout
    for other in (["evaluate", run, "search=greedy"], ["translate", run]):
        other += ["--plugin", "angular.so"]
        assert f"note: {message}; softalign run --force runs it again\n" in softalign(*other, cwd=here, text="a b\n").stderr
    with h5py.File(run / "run.h5", "a") as file:
        file["train/loss"][3] += 1
    assert message in softalign("verify", run, "--plugin", "angular.so", cwd=here, code=4).stderr.splitlines()[-1]
    assert message not in softalign(*command, "--force", cwd=here).stderr
    assert message not in softalign(*command, cwd=here).stderr


def test_a_run_that_goes_on_with_another_build_of_a_plugin_says_so(here: Path) -> None:
    shutil.copy(ANGULAR, here / "angular.so")
    changes = ["--plugin", "angular.so", "model.attention.score=angular", "train.epochs=300"]
    process, run = started_run(here, *changes)
    interrupt(process)
    with (here / "angular.so").open("ab") as file:
        file.write(b"edited")
    done = softalign("run", "tiny.yaml", *changes, cwd=here)
    assert "WARNING: begun by another angular.so (sha256 " in done.stderr and "; --force restarts it" in done.stderr
    assert "begun by another angular.so" in softalign("tail", run, "-n", 4000, cwd=here).stdout


def test_a_plugin_that_has_moved_is_named_on_the_command_line(here: Path) -> None:
    _, run = changed_copy_of_a_run(here)
    (here / "angular.so").rename(here / "moved.so")
    for words in (["--plugin", "moved.so"], ["plugins=[moved.so]"]):
        moved = softalign("translate", run, *words, cwd=here, text="a b\n")
        assert "made by angular.so (sha256 " in moved.stderr and "which is not loaded now" in moved.stderr


def test_a_spec_names_its_plugins_relative_to_itself(here: Path) -> None:
    (here / "specs").mkdir()
    shutil.copy(ANGULAR, here / "specs" / "angular.so")
    spec = here / "specs" / "angular.yaml"
    spec.write_text(TINY.replace("additive, units: 8", "angular") + "plugins: [angular.so]\n")
    plan = answer("run", "specs/angular.yaml", "--dry-run", cwd=here)
    by_option = ["--plugin", "specs/angular.so", "model.attention.score=angular", "--dry-run"]
    assert plan["run_id"] == answer("run", "tiny.yaml", *by_option, cwd=here)["run_id"]
    assert "valid" in softalign("validate", spec, cwd=here).stdout
    spec.write_text(TINY + "plugins: [angular.so, gone.so]\n")
    line = error("run", spec, cwd=here, code=2)
    assert line.startswith(f"{spec}:16:23: plugins: ") and "gone.so: cannot be read" in line


def test_what_is_no_plugin_is_refused(here: Path) -> None:
    (here / "text.so").write_text("no shared object")
    other = ANGULAR.read_bytes()
    [api] = re.findall(rb"softalign-abi\{api=(\d+);real=float;", other)
    older = b"0" * len(api)
    (here / "other.so").write_bytes(other.replace(b"api=%s;real=float;" % api, b"api=%s;real=float;" % older))
    (here / "tag.so").write_bytes(re.findall(rb"softalign-abi\{[^}]*\}", other)[0])
    (here / "none.so").write_bytes(other.replace(b"softalign-abi{", b"softalign-xyz{"))
    (here / "cut.so").write_bytes(other[: len(other) // 2])
    os.mkfifo(here / "pipe.so")
    shutil.copy(ANGULAR.with_name("mistaken.so"), here)
    for file in ("text.so", "tag.so", "none.so", "other.so", "gone.so", "cut.so", "pipe.so", "mistaken.so"):
        for command in (["run", "tiny.yaml"], ["list"], ["validate", "tiny.yaml"]):
            assert file.removesuffix(".so") in error(*command, "--plugin", file, cwd=here, code=2)
    assert files_below(here) == ["cut.so", "mistaken.so", "none.so", "other.so", "tag.so", "text.so", "tiny.yaml"]


def test_a_file_that_is_cut_anywhere_is_found_out_before_it_is_loaded(here: Path) -> None:
    whole = ANGULAR.read_bytes()
    for size in [4, 63, 64, 1000, *range(4096, len(whole), len(whole) // 12), len(whole) - 1]:
        (here / "cut.so").write_bytes(whole[:size])
        assert "cut.so: is cut short; copy or build it again" in error("list", "--plugin", "cut.so", cwd=here, code=2)


def test_a_name_that_is_taken_is_refused(here: Path) -> None:
    shutil.copy(ANGULAR, here / "again.so")
    line = error("list", "--plugin", ANGULAR, "--plugin", "again.so", cwd=here, code=2)
    assert "again.so" in line and "score 'angular'" in line, line


def test_a_library_that_is_missing_is_told_with_a_remedy(tmp_path: Path) -> None:
    whole = ANGULAR.read_bytes()
    needed = b"libsoftalign.so.0\0"
    assert whole.count(needed) == 1
    (tmp_path / "lost.so").write_bytes(whole.replace(needed, b"libsoftalign.xx.0\0"))
    line = error("list", "--plugin", "lost.so", cwd=tmp_path, code=2)
    assert "libsoftalign.xx.0" in line and line.endswith("; build it again"), line


def test_a_name_that_is_no_text_is_refused_before_anything_is_written(here: Path) -> None:
    for folder in (b"d\xff", b"d\n"):
        (Path(os.fsdecode(os.fsencode(here) + b"/" + folder))).mkdir()
        plugin = Path(shutil.copy(ANGULAR, os.fsdecode(os.fsencode(here) + b"/" + folder + b"/p.so")))
        error("run", "tiny.yaml", "--plugin", plugin, "model.attention.score=angular", cwd=here, code=2)
        assert not (here / "results").exists()
