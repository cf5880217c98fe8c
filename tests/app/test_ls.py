"""`softalign ls` over many runs: the index changes only the time, whatever happens to the runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import (
    PATIENCE, PROGRAM, READ_ERRORS, TINY, answer, error, kill, only_run, softalign, started, unreadable, wait_until,
)  # fmt: skip
from nightly import NIGHTLY

pytest.importorskip("h5py", reason="python3-h5py is not installed")
import h5py  # noqa: E402
from bench import ls as bench_ls  # noqa: E402

RUNS = 120
SECONDS = 1.0  # for RUNS of them, on a busy machine; unloaded it is 0.07


class Folder:
    """Many runs and a cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results"

    def rows(self, cache: str) -> list[dict[str, Any]]:
        return answer("ls", "results", cwd=self.folder, env=os.environ | {"SOFTALIGN_CACHE": cache})

    def seconds(self, cache: str) -> float:
        start = time.perf_counter()
        self.rows(cache)
        return time.perf_counter() - start

    def states(self) -> dict[str, str]:
        """Returns the states of all runs, read with the index; checks that the rows equal those read without it."""
        rows = self.rows("cache")
        assert rows == self.rows("")
        return {row["run_id"]: row["state"] for row in rows}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    folder = Folder(tmp_path_factory.mktemp("many"))
    bench_ls.make_runs(folder.results, RUNS, PROGRAM)
    folder.rows("cache")
    return folder


@pytest.fixture()
def settled(many: Folder) -> Folder:
    """The same, as every test finds and leaves them."""
    assert len(many.states()) == RUNS
    return many


def test_many_runs_are_listed_fast_and_as_they_are(settled: Folder) -> None:
    assert min(settled.seconds("cache") for _ in range(3)) < SECONDS * PATIENCE
    rows = settled.rows("cache")
    assert {row["state"] for row in rows} == {"complete"}
    assert len({row["differs"]["seed"] for row in rows}) == RUNS
    assert {row["differs"]["train.optimizer.learning_rate"] for row in rows} == {f"0.0{k}" for k in range(1, 6)}
    assert all(row["test"]["n"] == 40 for row in rows)


def test_the_index_is_used(settled: Folder) -> None:
    with_it, without = (min(settled.seconds(cache) for _ in range(3)) for cache in ("cache", ""))
    assert with_it < 0.5 * without


def cut(run: Path) -> None:
    (run / "run.h5").write_bytes((run / "run.h5").read_bytes()[:5000])


def fail(run: Path) -> None:
    (run / "status.json").write_text((run / "status.json").read_text().replace('"complete"', '"failed"'))


@pytest.mark.parametrize("change, state", [(cut, "corrupt"), (fail, "failed"), (shutil.rmtree, None)])
def test_what_happens_to_a_run_is_seen(settled: Folder, change: Callable[[Path], None], state: str | None) -> None:
    run = sorted(settled.results.glob("tiny/*"))[RUNS // 2]
    kept = settled.folder / "kept"
    run.rename(kept)
    shutil.copytree(kept, run)
    change(run)
    assert settled.states().get(run.name) == state
    shutil.rmtree(run, ignore_errors=True)
    kept.rename(run)
    assert settled.states()[run.name] == "complete"


def test_a_new_run_is_seen_and_when_it_is_killed(settled: Folder) -> None:
    (settled.folder / "new.yaml").write_text(TINY.replace("name: tiny", "name: new"))
    run = started("run", "new.yaml", "train.epochs=100000", "evaluate.search_dev=false", cwd=settled.folder)
    wait_until(lambda: any(settled.results.glob("new/*/status.json")))
    folder = only_run(settled.folder, "new")

    def state() -> str:
        found = {row["run_id"]: row["state"] for row in settled.rows("cache")}
        assert len(found) == RUNS + 1
        return found[folder.name]

    assert state() == "running"
    kill(run)
    assert state() == "lost"
    shutil.rmtree(folder.parent)
    assert folder.name not in settled.states()


def test_a_run_that_is_done_again_is_seen(settled: Folder) -> None:
    (run,) = (path.parents[1] for path in settled.results.glob("tiny/*/attempt-001/environment.json"))  # the real one

    def heartbeat() -> float:
        (row,) = (row for row in settled.rows("cache") if row["run_id"] == run.name)
        assert row["state"] == "complete"
        return row["heartbeat"]

    before = heartbeat()
    shutil.copytree(run, settled.folder / "kept")
    softalign("run", run / "spec.yaml", "--force", cwd=settled.folder)
    assert (run / "attempt-002").exists() and heartbeat() > before
    shutil.rmtree(run)
    (settled.folder / "kept").rename(run)


def test_a_report_of_many_runs_reads_the_records_of_the_first_configurations(tmp_path: Path) -> None:
    bench_ls.make_runs(tmp_path / "results", 305, PROGRAM)  # five configurations of 61 seeds
    report = json.loads(softalign("export", "results", "--what", "report", "--resamples", "0", cwd=tmp_path).stdout)
    assert len(report["runs"]) == 244 and report["not_read"] == 61 and len(report["series"]) == 5
    (panel,) = report["panels"]
    assert [len(group["runs"]) for group in panel["comparison"]["groups"]] == [61] * 5
    assert all(len(table["rows"]) == 4 for table in panel["tables"])
    page = tmp_path / "page.html"
    script = [sys.executable, str(bench_ls.ROOT / "scripts/report.py"), "results", "-o", str(page)]
    subprocess.run(script, cwd=tmp_path, check=True, env={**os.environ, "SOFTALIGN_PROGRAM": str(PROGRAM)}, timeout=120 * PATIENCE)
    assert "Of 305 runs the records of 244 are read" in page.read_text()


# --- what a line says


ORIGIN = ("tags", "notes", "started", "seconds", "host", "commit")


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs with tags, one of which is killed before it has a record."""
    folder = tmp_path_factory.mktemp("tagged")
    (folder / "tiny.yaml").write_text(TINY + "tags: [first try, dot]\nnotes: |-\n  two\n  lines\n")
    for units, tags in ((8, "[a]"), (16, "[a,b]")):
        softalign("run", "tiny.yaml", f"model.encoder.units={units}", f"tags={tags}", cwd=folder)
    run = started("run", "tiny.yaml", "name=new", "train.epochs=100000", cwd=folder)
    wait_until(lambda: any(folder.glob("results/new/*/attempt-001/environment.json")))
    kill(run)
    for record in folder.glob("results/new/*/run.h5"):
        record.unlink()
    return folder


def test_where_a_run_comes_from_is_listed_and_exported(tagged: Path) -> None:
    rows = {row["run_id"]: row for row in answer("ls", cwd=tagged)}
    exported = {row["run_id"]: row for row in json.loads(softalign("export", "results", "--format", "json", cwd=tagged, code=3).stdout)}
    assert len(rows) == 3 and len(exported) == 2
    for run_id, row in rows.items():
        environment = json.loads(next(tagged.glob(f"results/*/{run_id}/attempt-001/environment.json")).read_text())
        assert row["host"] == environment["host"] and row["commit"].startswith(environment["git_commit"])
        assert row["started"][:16] == environment["started"][:16] and row["notes"] == "two\nlines"
        if run_id in exported:
            assert {key: exported[run_id][key] for key in ORIGIN} == {key: row[key] for key in ORIGIN}
            with h5py.File(next(tagged.glob(f"results/*/{run_id}/run.h5"))) as file:
                assert row["seconds"] == max(file["train/wall_time"][-1], file["dev/wall_time"][-1], file["system/wall_time"][-1])
        else:
            assert row["seconds"] is None and row["tags"] == ["first try", "dot"]


def test_lines_are_chosen_by_conditions(tagged: Path) -> None:
    def units(*arguments: str) -> list[int]:
        return [row["encoder.units"] for row in answer("ls", *arguments, "--columns", "encoder.units", cwd=tagged)]

    assert sorted(units()) == [8, 8, 16]
    assert units("--where", "encoder.units>8") == [16]
    assert units("--where", "units >= 9 and score=additive") == [16]  # the only units in which these runs differ
    assert units("--where", "name=tiny and encoder.units!=16") == [8]
    assert units("--where", "state=complete and bleu>=0 and started>2020", "--sort", "encoder.units") == [8, 16]
    assert units("--where", "tags='first try'") == units("--tag", "dot,first try") == units("--where", "name=new") == [8]
    assert units("--tag", "a", "--tag", "b") == [16]
    assert units("--where", "bleu<0") == units("--where", "task.length.train='[2,6]'") == []
    assert len(units("--where", "bleu!=1e9")) == 3  # one has none
    text = softalign("ls", "--columns", "run,units,started,seconds,tags", "--sort", "units", cwd=tagged).stdout.splitlines()
    assert text[0].split() == ["run", "units", "started", "seconds", "tags"] and text[3].split()[-2:] == ["a,", "b"]


@pytest.mark.parametrize("where, words", [
    ("unts>1", "did you mean 'units'?"), ("train=3", "task.examples.train, task.length.train"), ("units", "= != < <= > >="),
    ("units>", "a value"), ("units>1 or units<3", "'and'"), ("tags='a", "closing '"), ("units>1 and", "a name"),
])  # fmt: skip
def test_conditions_that_say_nothing_are_refused(tagged: Path, where: str, words: str) -> None:
    assert words in error("ls", "--where", where, cwd=tagged, code=2)


# --- which lines, and in which order


@pytest.fixture()
def three(here: Path) -> Path:
    for seed in (1, 2, 3):
        softalign("run", "tiny.yaml", f"seed={seed}", f"train.epochs={seed}", cwd=here)
    return here


def test_states_are_chosen(three: Path) -> None:
    run = next(three.glob("results/tiny/*"))
    cut(run)
    assert [row["run_id"] for row in answer("ls", "--state", "corrupt", cwd=three)] == [run.name]
    assert len(answer("ls", "--state", "corrupt,complete", cwd=three)) == 3
    assert len(answer("ls", "--state", "complete", "--state", "lost", cwd=three)) == 2
    assert answer("ls", "--state", "lost", cwd=three) == []
    error("ls", "--state", "complet", cwd=three, code=2)


def test_what_cannot_be_looked_into_is_listed_and_told(three: Path) -> None:
    run = next(three.glob("results/tiny/*"))
    places = [(run / "run.h5", "open", 3), (run, "stat", 3), (run, "open,opendir", 3), (run.parent, "open,opendir", 1), (run.parent, "stat", 1)]
    for at, (place, calls, lines) in enumerate(places):
        for number in READ_ERRORS if NIGHTLY else READ_ERRORS[at :: len(places)]:
            env = unreadable(place, number, calls)
            done = softalign("ls", cwd=three, env=env, code=1)
            assert done.stdout.count(" unreadable ") == 1 and os.strerror(number) in done.stderr, done
            rows = answer("ls", "--state", "unreadable", cwd=three, env=env, code=1)
            assert len(rows) == 1 and os.strerror(number) in rows[0]["fault"]
            assert len(answer("ls", cwd=three, env=env, code=1)) == lines
    for calls in ("stat", "open,opendir"):
        assert "Permission denied" in softalign("ls", cwd=three, env=unreadable(three / "results", calls=calls), code=1).stderr


def test_lines_are_sorted(three: Path) -> None:
    def values(key: str, *path: str) -> list[Any]:
        rows: list[Any] = answer("ls", "--sort", key, cwd=three)
        assert len(rows) == 3
        for step in path:
            rows = [row[step] for row in rows]
        return rows

    assert values("updates", "updates") == [12, 8, 4]
    ages = values("age", "heartbeat")
    assert ages == sorted(ages, reverse=True)
    assert values("run", "run_id") == sorted(values("run", "run_id"))
    for key, path, reverse in (
        ("dev/loss", ("last", "dev/loss"), False),
        ("dev/token_accuracy", ("last", "dev/token_accuracy"), True),
        ("test/perplexity", ("test", "perplexity"), False),
        ("test/chrf", ("test", "chrf"), True),
    ):
        found = values(key, *path)
        assert found == sorted(found, reverse=reverse) and len(set(found)) > 1, key
    error("ls", "--sort", "dev/lss", cwd=three, code=2)


def test_lines_without_a_value_come_last(three: Path) -> None:
    run = next(three.glob("results/tiny/*"))
    begun = run.with_name("0000")  # its process is gone and has recorded nothing
    (begun / "attempt-001").mkdir(parents=True)
    shutil.copy(run / "attempt-001/CLAIM", begun / "attempt-001")
    rows = answer("ls", cwd=three)
    assert (rows[0]["run_id"], rows[0]["state"], rows[0]["last"]) == ("0000", "lost", {})
    for key in ("dev/loss", "dev/token_accuracy", "test/bleu"):
        assert answer("ls", "--sort", key, cwd=three)[3]["run_id"] == "0000"
    assert " lost " in softalign("ls", "--state", "lost", cwd=three).stdout
