"""An Optuna study that searches a sweep: it proposes configurations, `softalign sweep work` runs them, and it receives their metric.

Each trial becomes rows of the plan, one a seed, before it runs, and each row is an ordinary run: the same values lead to the same run, which resumes.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, Trial, TrialState

from softalign_tools.files import read_bytes
from softalign_tools.program import RecordError, answer, program

INTERRUPTED = 75
OVER = (TrialState.COMPLETE, TrialState.PRUNED)
Asked = Callable[..., str]  # calls a command of the program and returns its output; raises RecordError


class WorkerLocks:
    """Locks between the workers of a search, on any hosts: bytes of optuna.workers, which the system frees when a process ends.

    Byte 0 is held while Optuna's journal grows (as the lock object of its storage), byte 1 while a trial is asked for or becomes rows, byte 2 + k by
    worker k all the time.
    """

    def __init__(self, folder: Path) -> None:
        self.journal = folder / "optuna.journal"
        self.file = open_own(folder / "optuna.workers", "a+")  # closing any descriptor of it would free its locks

    def acquire(self) -> bool:
        fcntl.lockf(self.file, fcntl.LOCK_EX, 1, 0)
        if self.journal.exists():
            cut_torn_line(self.journal)  # left by a worker that was killed
        return True

    def release(self) -> None:
        fcntl.lockf(self.file, fcntl.LOCK_UN, 1, 0)

    @contextmanager
    def asking(self) -> Iterator[None]:
        fcntl.lockf(self.file, fcntl.LOCK_EX, 1, 1)
        try:
            yield
        finally:
            fcntl.lockf(self.file, fcntl.LOCK_UN, 1, 1)

    def hold(self, worker: int) -> bool:
        """Makes this process worker k. Returns False if another process is."""
        try:
            fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 + worker)
        except OSError:
            return False
        return True

    def runs(self, worker: int) -> bool:
        if not self.hold(worker):
            return True
        fcntl.lockf(self.file, fcntl.LOCK_UN, 1, 2 + worker)
        return False


@dataclass
class OpenSweep:
    """A planned sweep of method optuna, locked by this process, or shared by several workers."""

    folder: Path
    plan: dict[str, Any]
    plugins: list[str]  # named by the user or by the sweep file
    held: IO[str]  # the lock on the search
    asked: Asked
    locks: WorkerLocks
    worker: int | None = None  # index, if several workers share the search

    @classmethod
    def of(cls, file: Path, out: str, plugins: list[str], asked: Asked = answer, worker: int | None = None) -> OpenSweep:
        """Plans and locks a sweep. Raises RecordError if it does not exist or another process searches it."""
        planned = json.loads(asked("sweep", "plan", f"--results={out}", *plugin_words(plugins), "--json", "--", file))
        folder, plugins = Path(planned["folder"]), planned["plugins"]
        try:
            lock = open_own(folder / "optuna.lock", "a")
        except OSError as error:
            raise RecordError(f"{folder / 'optuna.lock'}: cannot be opened: {error.strerror}; remove it", status=1) from None
        try:
            fcntl.flock(lock, (fcntl.LOCK_EX if worker is None else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordError(f"{folder}: another process searches this sweep; --workers does more at once", status=1) from None
        locks = WorkerLocks(folder)
        if worker is not None and not locks.hold(worker):
            raise RecordError(f"{folder}: worker {worker} of this search runs already", status=1)
        plan = json.loads(asked("sweep", "status", "--json", *plugin_words(plugins), "--", folder))
        return cls(folder, plan, plugins, lock, asked, locks, worker)

    def ask(self, command: str, *words: object) -> str:
        return self.asked("sweep", command, *words, "--", self.folder)

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.ask("status", "--json"))
        return found


@dataclass
class Search:
    """An Optuna study that searches a sweep."""

    sweep: OpenSweep
    study: optuna.Study
    left: int  # trials that remain to be completed or pruned; with several workers: the total of all
    workers: int = 1
    threads: int = 1  # of each run
    sampler: Callable[[int], optuna.samplers.BaseSampler] | None = None  # for the n-th trial, in place of the study's
    lock: threading.RLock = field(default_factory=threading.RLock)  # a signal's stop() may come while this thread holds it
    stopping: threading.Event = field(default_factory=threading.Event)
    running: set[subprocess.Popen[str]] = field(default_factory=set)
    asked: dict[int, Trial] = field(default_factory=dict)  # trials that are not over, by number
    failures: int = 0

    @property
    def plan(self) -> dict[str, Any]:
        return self.sweep.plan

    @property
    def pruning(self) -> bool:
        """True if trials may be pruned: Optuna's pruners follow one curve, but a trial of several seeds has several."""
        return len(self.plan["seeds"]) == 1

    def propose(self, trial: Trial) -> list[dict[str, Any]]:
        settings = [f"{path}={plain(value)}" for path, value in trial.params.items()]
        with self.lock:
            words = ["sweep", "propose", *plugin_words(self.sweep.plugins), "--", self.sweep.folder, *settings]
            with self.sweep.locks.asking():
                rows: list[dict[str, Any]] = json.loads(self.sweep.asked(*words))
            trial.set_user_attr("run_ids", [row["run_id"] for row in rows])
        return rows

    def work(self, row: dict[str, Any], trial: Trial) -> tuple[float | None, bool]:
        """Runs a row to its end. Returns the metric's last value (None if the run failed) and True if the trial was pruned."""
        for _ in range(60):  # a killed worker leaves a training process, which ends once its question gets no answer
            value, state = self.work_once(row, trial)
            if state not in ("claimed", "running"):
                break
            time.sleep(1)
        return value, state == "pruned"

    def work_once(self, row: dict[str, Any], trial: Trial) -> tuple[float | None, str]:
        words = ["work", "--row", row["k"], "--threads", self.threads, "--ask", *plugin_words(self.sweep.plugins), "--", self.sweep.folder]
        log = self.sweep.folder / "logs" / f"{row['run_id']}.log"
        log.parent.mkdir(exist_ok=True)
        history = published(Path(row["folder"]))
        for step in history:
            self.report(trial, step)
        with open_own(log, "a") as errors:
            process = subprocess.Popen(
                [program(), "sweep", *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
            )
            with self.lock:
                self.running.add(process)
                if self.stopping.is_set():
                    process.terminate()
            try:
                self.converse(process, trial, {step["update"] for step in history})
            finally:
                with self.lock:
                    self.running.discard(process)
        if process.returncode == INTERRUPTED or self.stopping.is_set():
            raise KeyboardInterrupt
        history = published(Path(row["folder"]))
        value = history[-1]["value"] if process.returncode == 0 and history else None
        state = self.sweep.status()["rows"][row["k"]]["state"]
        return (None if value is None or math.isnan(value) else value), state

    def converse(self, process: subprocess.Popen[str], trial: Trial, known: set[int]) -> None:
        assert process.stdin and process.stdout
        for line in process.stdout:
            step = json.loads(line)
            if step["update"] not in known:
                self.report(trial, step)
            with self.lock:
                stop = self.pruning and trial.should_prune()
            print("stop" if stop else "go on", file=process.stdin, flush=True)
        process.wait()

    def report(self, trial: Trial, step: dict[str, Any]) -> None:
        value = step["value"]
        with self.lock:
            if self.pruning and value is not None and not math.isnan(value):
                trial.report(value, step["update"])

    def run_trial(self, trial: Trial) -> None:
        rows = self.propose(trial)
        self.say(rows, "begins")
        values, pruned = [], False
        for row in rows:
            value, stopped = self.work(row, trial)
            values.append(value)
            pruned |= stopped
        good = [value for value in values if value is not None]
        state = TrialState.PRUNED if pruned else TrialState.COMPLETE if len(good) == len(values) else TrialState.FAIL
        mean = sum(good) / len(good) if good else None
        with self.lock:
            self.study.tell(trial, mean if state == TrialState.COMPLETE else None, state=state)
            self.failures += state == TrialState.FAIL
            self.left -= state in OVER and self.sweep.worker is None
            del self.asked[trial.number]
        metric = "" if mean is None else f", {self.plan['metric']['name']} {mean:.4g}"
        self.say(rows, f"{state.name.lower()}{metric}")

    def say(self, rows: list[dict[str, Any]], what: str) -> None:
        """Prints a progress line in the form of `softalign sweep run`: rows by number, parameters by the last word of their path."""
        numbers = ", ".join(str(row["k"]) for row in rows)
        settings = " ".join(f"{p['name']}={plain(rows[0]['set'][p['path']])}" for p in self.plan["parameters"] if p["varied"])
        print(f"{'row' if len(rows) == 1 else 'rows'} {numbers}: {settings}: {what}", file=sys.stderr)

    def ask(self) -> Trial | None:
        """Returns the next trial; None if no more are needed, unless the workers of the last ones die."""
        with self.lock, self.sweep.locks.asking():
            self.ask_again_for_lost_trials()
            known = len(self.study.get_trials(deepcopy=False, states=(*OVER, TrialState.RUNNING)))
            if self.sweep.worker is not None and known >= self.left:
                return None
            if self.sampler:
                self.study.sampler = self.sampler(known)
            trial = self.study.ask(distributions(self.plan["parameters"]))
            if self.sweep.worker is not None:
                trial.set_user_attr("worker", self.sweep.worker)
            self.asked[trial.number] = trial
            return trial

    def ask_again_for_lost_trials(self, alone: bool = False) -> None:
        """Enqueues again the trials that no process runs any more: those of dead workers or, with `alone`, all that are marked as running. Their rows are in
        the plan: the same values lead to the same run, which resumes. A trial that was interrupted while it was asked for has only some values; all of
        them are drawn again, by the same random numbers."""
        for trial in self.study.get_trials(deepcopy=False, states=[TrialState.RUNNING]):
            worker = trial.user_attrs.get("worker")
            others = not alone and (self.sweep.worker is None or (worker is not None and worker != self.sweep.worker and self.sweep.locks.runs(worker)))
            if others or trial.number in self.asked:
                continue
            self.study.tell(trial.number, state=TrialState.FAIL)
            if len(values_of(trial)) == len(self.plan["parameters"]):
                self.study.enqueue_trial(values_of(trial))

    def stop(self) -> None:
        self.stopping.set()
        with self.lock:
            for process in self.running:
                process.terminate()

    def ask_for_unknown_rows(self) -> None:
        """Enqueues the rows of the plan that the study does not know, so that their runs report what they measured. The caller holds locks.asking() if
        workers share the search."""
        known = [texts_of(values_of(trial)) for trial in self.study.get_trials(deepcopy=False)]
        for row in self.plan["rows"]:
            if texts_of(row["set"]) not in known:
                known.append(texts_of(row["set"]))
                self.study.enqueue_trial(row["set"])

    def run(self) -> None:
        """Runs trials until none is left, stop() is called, or three have failed. An exception of a trial, or Ctrl-C, first stops the others."""
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                trials: set[Future[None]] = set()
                while not self.stopping.is_set():
                    while len(trials) < min(self.workers, self.left) and self.failures < 3:
                        if (trial := self.ask()) is None:
                            break
                        trials.add(pool.submit(self.run_trial, trial))
                    if not trials:
                        break
                    over, trials = wait(trials, timeout=0.2, return_when=FIRST_COMPLETED)
                    for ended in over:
                        ended.result()
            except BaseException:
                self.stop()
                raise
        if self.failures >= 3:
            raise RecordError(f"three trials failed; their output is in {self.sweep.folder / 'logs'}", status=1)


def cut_torn_line(file: Path) -> None:
    """Cuts off an incomplete last line, left by a kill."""
    with open_own(file, "r+b") as journal:
        end = journal.seek(0, os.SEEK_END)
        at = max(0, end - (1 << 20))
        journal.seek(at)
        tail = journal.read()
        if tail and not tail.endswith(b"\n"):
            journal.truncate(at + tail.rfind(b"\n") + 1)


def plugin_words(plugins: list[str]) -> list[str]:
    return [f"--plugin={plugin}" for plugin in plugins]


def plain(value: Any) -> str:
    """Returns a value as the plan writes it: floating-point numbers with 6 significant digits."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def published(folder: Path) -> list[dict[str, Any]]:
    """Returns the dev evaluations that a run has published so far."""
    try:
        values = json.loads(read_bytes(folder / "early_termination.json"))["values"]
    except (OSError, ValueError, KeyError):
        return []
    return [{"update": v["update"], "value": math.nan if v["value"] is None else v["value"]} for v in values]


def distributions(space: list[dict[str, Any]]) -> dict[str, BaseDistribution]:
    found: dict[str, BaseDistribution] = {}
    for p in space:
        step = p.get("q") or None
        if p["kind"] == "values":
            found[p["path"]] = CategoricalDistribution(p["values"])
        elif p["kind"] == "int_uniform":
            found[p["path"]] = IntDistribution(int(p["low"]), int(p["high"]), step=int(step or 1))
        else:
            log = p["kind"] == "log_uniform"
            found[p["path"]] = FloatDistribution(p["low"], p["high"], log=log, step=None if log else step)
    return found


def texts_of(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns path and value of each parameter as the plan writes them, sorted, for comparison."""
    return sorted((path, plain(float(v) if isinstance(v, int) and not isinstance(v, bool) else v)) for path, v in values.items())


def values_of(trial: FrozenTrial) -> dict[str, Any]:
    """Returns the values that a trial has, or, if it is enqueued, will have."""
    return dict(trial.system_attrs.get("fixed_params", trial.params))


def open_own(file: Path, mode: str) -> IO[Any]:
    """Opens a file in the sweep's folder for writing. `sweep plan` and `propose` have already refused links, which may lead anywhere, and pipes."""
    return open(file, mode, opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666))


def search(study: optuna.Study, file: Path, n: int, out: str, plugins: list[str], workers: int, threads: int) -> dict[str, Any]:
    """Runs n trials of the caller's study. Returns the sweep's status as in `softalign sweep status --json`. Raises RecordError."""
    sweep = OpenSweep.of(file, out, plugins)
    with sweep.held:
        goal, metric = sweep.plan["metric"]["goal"], sweep.plan["metric"]["name"]
        if [direction.name for direction in study.directions] != [goal.upper()]:
            raise RecordError(f"{file}: {goal}s {metric}, and the study has another direction: optuna.create_study(direction='{goal}')", status=2)
        found = Search(sweep, study, n, workers, threads)
        found.ask_for_unknown_rows()
        try:
            found.run()
        finally:
            for trial in found.asked.values():  # stopped trials: the next search asks for them again, and their runs resume
                study.tell(trial, state=TrialState.FAIL)
                study.enqueue_trial(trial.params)
        return sweep.status()
