"""sa.optimise with a study of the user: its trials are rows of the sweep."""

from __future__ import annotations

import math
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
import softalign_lab as sa
from command_line import TINY, softalign

optuna = pytest.importorskip("optuna", reason="python3-optuna is not installed")
SWEEP = """\
name: searched
base: tiny.yaml
method: optuna
run_cap: 4
parameters:
  train.optimizer.learning_rate: {distribution: log_uniform_values, min: 0.001, max: 0.1}
  model.encoder.units: {values: [4, 8]}
"""


@pytest.fixture()
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def searched(n: int, sampler: Any = None, **how: Any) -> tuple[Any, sa.Sweep]:
    study = optuna.create_study(sampler=sampler or optuna.samplers.RandomSampler(seed=1), **how)
    return study, sa.optimise(study, "sweep.yaml", n)


def test_trials_are_rows_and_their_values_those_of_the_runs(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    study, swept = searched(3)
    table = swept.frame()
    assert [trial.state.name for trial in study.trials] == ["COMPLETE"] * 3 and set(table["state"]) == {"complete"}
    for trial, run, row in zip(study.trials, swept.runs, table.to_dict("records")):
        assert trial.value == run.dev["loss"].iloc[-1] == row["dev/loss"]
        assert trial.intermediate_values == dict(run.dev["loss"])
        assert {path: pytest.approx(row[path], rel=1e-5) for path in trial.params} == trial.params
        assert trial.user_attrs["run_ids"] == [run.run_id]
    assert capfd.readouterr().err.count("begins") == 3
    assert len(sa.optimise(study, "sweep.yaml", 2).runs) == len(study.trials) == 5  # further ones; run_cap does not count
    assert "the same bits" in softalign("verify", swept.runs[0].path, cwd=here).stdout


def test_another_study_is_told_what_the_sweep_has(here: Path) -> None:
    first, swept = searched(3)
    written = [run.path.joinpath("run.h5").stat().st_mtime_ns for run in swept.runs]
    second, again = searched(4, optuna.samplers.TPESampler(seed=5))
    assert [trial.value for trial in second.trials[:3]] == [trial.value for trial in first.trials]
    assert [run.path.joinpath("run.h5").stat().st_mtime_ns for run in again.runs][:3] == written and len(again.runs) == 4


def test_its_pruner_stops_runs(here: Path) -> None:
    class Second(optuna.pruners.BasePruner):
        """Stops each trial but the first at its first value."""

        def prune(self, study: Any, trial: Any) -> bool:
            return trial.number > 0

    study, swept = searched(3, pruner=Second())
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "PRUNED", "PRUNED"]
    assert list(swept.frame()["state"]) == ["complete", "pruned", "pruned"]
    assert [len(trial.intermediate_values) for trial in study.trials] == [2, 1, 1]


def test_a_trial_of_several_seeds_is_their_mean(here: Path) -> None:
    (here / "sweep.yaml").write_text(SWEEP + "seeds: [1, 2]\n")
    study, swept = searched(2)
    table = swept.frame()
    assert len(table) == 4 and len(study.trials[0].user_attrs["run_ids"]) == 2
    assert [trial.value for trial in study.trials] == [pytest.approx(table["dev/loss"][at : at + 2].mean()) for at in (0, 2)]


def test_an_interrupt_stops_and_the_trial_comes_again(here: Path) -> None:
    (here / "sweep.yaml").write_text(SWEEP.replace("base: tiny.yaml", "base: long.yaml"))
    (here / "long.yaml").write_text(TINY.replace("epochs: 2", "epochs: 400"))
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))

    def interrupt() -> None:
        while not (study.trials and study.trials[0].intermediate_values):
            threading.Event().wait(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        sa.optimise(study, "sweep.yaml", 2)
    assert [trial.state.name for trial in study.trials] == ["FAIL", "WAITING"]
    assert [run.state for run in sa.runs("results")] == ["interrupted"]
    softalign("sweep", "propose", "results/searched", "train.optimizer.learning_rate=0.01", "model.encoder.units=4", cwd=here)  # not held any more
    swept = sa.optimise(study, "sweep.yaml", 1)
    assert study.trials[1].params == study.trials[0].params and study.trials[1].state.name == "COMPLETE"
    assert len(swept.runs) == 1 and len(swept.runs[0].record.array("provenance/attempts", "attempt")) == 2


def test_failures_and_wrong_studies_are_errors(here: Path) -> None:
    with pytest.raises(sa.SpecError, match="minimizes dev/loss, and the study has another direction"):
        searched(1, direction="maximize")
    with pytest.raises(sa.SpecError, match="nothing.yaml: cannot be read"):
        sa.optimise(optuna.create_study(), "nothing.yaml", 1)
    (here / "sweep.yaml").write_text(SWEEP.replace("min: 0.001, max: 0.1", "min: 1.0e+30, max: 1.0e+35").replace("searched", "failing"))
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    with pytest.raises(sa.MachineError, match="three trials failed; their output is in"):
        sa.optimise(study, "sweep.yaml", 5)
    assert [trial.state.name for trial in study.trials] == ["FAIL"] * 3 and all(trial.value is None or math.isnan(trial.value) for trial in study.trials)


def test_two_searches_of_a_sweep_at_once_are_refused(here: Path) -> None:
    refused: list[str] = []

    class Nested(optuna.pruners.NopPruner):
        def prune(self, study: Any, trial: Any) -> bool:
            with pytest.raises(sa.MachineError) as error:
                sa.optimise(optuna.create_study(), "sweep.yaml", 1)
            refused.append(str(error.value))
            return False

    searched(1, pruner=Nested())
    assert len(refused) == 2 and "another process searches this sweep" in refused[0]
