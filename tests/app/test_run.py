"""softalign run: messages, files, interruption and resumption."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from command_line import answer, files_below, interrupt, on_terminal, only_run, softalign, started, started_run, text_spec

LONG = ["train.epochs=2000", "record.checkpoint_every=50", "evaluate.search_dev=false"]


def test_a_run_prints_its_results_by_length_and_leaves_a_record(here: Path) -> None:
    done = softalign("run", "tiny.yaml", "evaluate.lengths=[3]", cwd=here)
    lines = done.stdout.splitlines()[2:]
    assert lines[0].split()[:3] == ["length", "n", "perplexity"]
    shown = softalign("show", only_run(here), cwd=here).stdout
    columns = next(line.split() for line in shown.splitlines() if line.startswith("length"))
    assert [name for name in columns if name in lines[0].split()] == lines[0].split()
    assert columns.index("chrf") > columns.index("attention_entropy")  # of the search, behind the teacher-forced
    assert [line.split()[0] for line in lines[1:4]] == ["1-3", "4+", "all"]
    assert int(lines[1].split()[1]) + int(lines[2].split()[1]) == 16 == int(lines[3].split()[1])
    assert (here / lines[4]).name == "run.h5" and (here / lines[4]).is_file()
    assert len(re.findall(r"^epoch \d/2  update \d  dev: ", done.stderr, re.M)) == 2


def test_a_complete_run_is_not_run_again_unless_forced(here: Path) -> None:
    first = softalign("run", "tiny.yaml", cwd=here)
    again = softalign("run", "tiny.yaml", cwd=here)
    assert again.stdout == first.stdout.replace("results/", "complete already: results/")
    assert "epoch" not in again.stderr
    assert answer("run", "tiny.yaml", cwd=here)["was_complete"] is True
    tagged = softalign("run", "tiny.yaml", "tags=[a]", "notes=''", "record.keep=last", cwd=here)
    assert "tags" in tagged.stderr and tagged.stdout == again.stdout
    forced = answer("run", "tiny.yaml", "--force", cwd=here)
    assert forced["was_complete"] is False and forced["test"]["all"]["n"] == 16


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(here: Path) -> None:
    text = softalign("run", "tiny.yaml", "--dry-run", cwd=here).stdout
    assert "64 train, 16 dev, 16 test" in text
    plan = answer("run", "tiny.yaml", "--dry-run", "train.max_updates=7", cwd=here)
    assert plan["updates"] == 7 and plan["updates_per_epoch"] == 4 and plan["state"] == "planned"
    assert plan["parameters"] == 2383
    assert files_below(here) == ["tiny.yaml"]
    outcome = answer("run", "tiny.yaml", "train.max_updates=7", cwd=here)
    assert outcome["run_id"] == plan["run_id"] and plan["folder"] in outcome["record"]


def test_early_stopping_says_when_and_whose_parameters_count(here: Path) -> None:
    early = "train.early_stopping={metric: dev/loss, patience: 3}"
    done = softalign("run", "tiny.yaml", "train.epochs=60", "train.optimizer.learning_rate=0.2", early, cwd=here)
    stop = re.search(r"^stopped at epoch (\d+): no better dev/loss for 3 epochs; parameters of epoch (\d+)$", done.stderr, re.M)
    best = re.findall(r"^epoch (\d+)/60  .*best so far$", done.stderr, re.M)
    assert stop and best and stop[2] == best[-1] and int(stop[1]) == int(stop[2]) + 3


def test_a_baseline_that_is_asked_for_is_in_the_table(here: Path) -> None:
    (here / "s.txt").write_text("a b c\nd e f\n" * 8)
    (here / "links.txt").write_text("0-0 1-1 2-2\n" * 16)
    (here / "text.yaml").write_text(text_spec("s.txt", "s.txt", ", alignment: links.txt"))
    ask = ("run", "text.yaml", "evaluate.baselines=[ibm_model1]")
    first, again = (softalign(*ask, cwd=here).stdout for _ in range(2))
    assert "pointing_accuracy_ibm_model1" in first and first in again.replace("complete already: ", "")
    assert answer(*ask, cwd=here)["test"] == answer(*ask, "--force", cwd=here)["test"]


def test_the_help_shows_a_removal_that_works(here: Path) -> None:
    text = " ".join(softalign("run", "--help", cwd=here).stdout.split())
    removal = re.search(r"(~[\w.]+) restores the default", text)
    assert removal
    configs = Path(__file__).parents[2] / "configs"
    for spec in ("tiny.yaml", "reverse.yaml", "bible.yaml"):
        softalign("run", configs / spec, removal[1], "--dry-run", cwd=here)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"])
def test_a_signal_saves_the_state_and_the_same_command_goes_on(here: Path, name: str) -> None:
    process, run = started_run(here, *LONG)
    interrupt(process, name)
    assert answer("ls", cwd=here)[0]["state"] == "interrupted"

    stop_soon = started("run", "tiny.yaml", *LONG, cwd=here)
    assert stop_soon.stderr is not None
    line = ""
    while "resuming at update" not in line:
        line = stop_soon.stderr.readline()
        assert line, "ended without resuming"
    interrupt(stop_soon, "SIGTERM")
    assert (run / "run.h5").is_file()


def test_a_second_signal_says_that_the_state_is_being_saved(here: Path) -> None:
    process, _ = started_run(here, *LONG)
    os.kill(process.pid, signal.SIGSTOP)  # so that both signals come before the step ends
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    os.kill(process.pid, signal.SIGCONT)
    _, message = process.communicate(timeout=30)
    assert process.returncode == 75
    assert "stopping: " in message and "still saving" in message


def test_an_interrupt_while_data_is_read_writes_nothing(here: Path) -> None:
    lines = "".join(f"a b c d e f g {i}\n" for i in range(400_000))
    (here / "s.txt").write_text(lines)
    (here / "text.yaml").write_text(text_spec("s.txt", "s.txt", model="  vocabulary: {size: 50}\n"))
    process = started("run", "text.yaml", cwd=here)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.3)
    interrupt(process)
    assert not (here / "results").exists()


def test_an_interrupt_while_testing_keeps_the_trained_model(here: Path) -> None:
    test = ["task.examples.test=40000", "task.length.test=[5, 60]", "train.epochs=1", "record.alignments=0"]
    process = started("run", "tiny.yaml", *test, cwd=here)
    assert process.stderr is not None
    assert "epoch 1/1" in process.stderr.readline()
    interrupt(process)
    tail = softalign("tail", only_run(here), cwd=here).stdout
    assert "ended: interrupted" in tail and "checkpoint" in tail


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_checkpoint(here: Path) -> None:
    wild = ["train.optimizer.type=sgd", "train.optimizer.learning_rate=1e30", "train.clip_norm=0"]
    done = softalign("run", "tiny.yaml", *wild, "record.checkpoint_every=1", cwd=here, code=1)
    assert done.stderr.splitlines()[-1].startswith("softalign: update 2: ")
    run = only_run(here)
    assert len(list((run / "ckpt").glob("upd-*1-*.ckpt"))) == 1
    assert "failed, 1 update" in softalign("show", run, cwd=here).stdout
    assert answer("ls", cwd=here)[0]["state"] == "failed"


@pytest.mark.parametrize("columns", [20, 60, 200])
def test_the_progress_line_fits_the_terminal(here: Path, columns: int) -> None:
    more = ["train.epochs=1", "task.examples.train=40000", "evaluate.search_dev=false"]
    text = on_terminal(here, columns, "run", "tiny.yaml", *more)
    lines = re.findall(r"\r\x1b\[\?7l([^\r\n]*?)\x1b\[K", text)
    assert any(line.startswith("epoch 1/1  loss ") for line in lines)
    assert all(len(line) < columns for line in lines)
    if columns == 200:
        assert any(re.search(r"━+[╸┄]*  update \d+/2500  [\d.]+[kM]? tokens/s  0:\d\d left$", line) for line in lines)
    assert not re.search(r"\x1b\[\?7h[^\r\x1b]", text)  # what follows begins at the line's start
    assert text.count("\n") == 1  # the line of the dev evaluation


@pytest.mark.parametrize("columns", [50, 80, 100])
def test_tables_fit_the_terminal(here: Path, columns: int) -> None:
    for seed in (1, 2):
        softalign("run", "tiny.yaml", f"seed={seed}", "train.epochs=1", cwd=here)
    runs = [path.name for path in here.glob("results/tiny/*")]
    for command in (["ls"], ["list"], ["describe", "attention", "hard"], ["describe", "spec"], ["check", "score", "dot"], ["evaluate", runs[0]]):
        text = re.sub("\x1b\\[[0-9]*m", "", on_terminal(here, columns, *command, output=True).replace("\r\n", "\n"))  # its colours
        table = [line for line in text.splitlines() if not line.startswith(("not shown: ", "test split, ", "teacher-forced: ", "by the search: ", "\r")) and "|version:" not in line]
        assert len(table) > 2 and all(len(line) <= columns for line in table), text
        if command == ["ls"]:
            assert all(run in text for run in runs) and "seed=2" in text
            assert bool(re.search(r"not shown: .*age", text)) == (columns < 120)
        if command[0] == "evaluate":  # nothing is left out, but goes on below
            assert all(metric in text for metric in ("attention_entropy", "token_accuracy"))
        if command[0] in ("list", "describe"):
            assert "…" not in text
    assert max(map(len, softalign("evaluate", runs[0], cwd=here).stdout.splitlines())) > 110
