#!/usr/bin/python3
"""A sweep with method optuna: asks Optuna for configurations, lets `softalign sweep work` run them, tells Optuna how they did.

optuna_sweep.py SWEEP.yaml --run-cap N [--out DIR] [--workers N] [--threads N] [--program PATH]: what `sweep run` starts.

Each trial becomes rows of the plan, one a seed, before it runs, and each row is an ordinary run. What Optuna knows lies in
<sweep>/optuna.journal. Stopped or killed, the same command goes on: trials that were cut off are asked again with their values. With
one worker the whole search is a function of the sweep's file; with several the order in which trials end enters.
"""

from __future__ import annotations

import os
import signal

INTERRUPTED = 75
SAVED = b"softalign: interrupted; the state is saved, run the same command again to go on\n"
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


def leave(*_: object) -> None:
    """Stopped while modules are read, which takes seconds on a busy machine: no trial has begun, there is nothing to end."""
    os.write(2, SAVED)
    os._exit(INTERRUPTED)


for number in STOPS:
    signal.signal(number, leave)

import argparse  # noqa: E402
import fcntl  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
import warnings  # noqa: E402
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import IO, Any  # noqa: E402

from softalign_tools import missing_package  # noqa: E402, isort: skip
import optuna  # noqa: E402
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution  # noqa: E402
from optuna.trial import Trial, TrialState  # noqa: E402

from softalign_tools.files import read_bytes  # noqa: E402

STARTUP = 5  # trials that are drawn before TPE has something to learn from


class SweepFailed(Exception):
    """The program refused or failed; its message has been printed."""


@dataclass
class Bridge:
    """One sweep, its program and its Optuna study."""

    sweep: Path
    options: argparse.Namespace
    plan: dict[str, Any]
    folder: Path
    plugins: list[str]  # those that the user named, on the command line or in the sweep's file
    study: optuna.Study
    held: IO[str]  # the lock on the search, as long as this process lives
    lock: threading.RLock = field(default_factory=threading.RLock)  # a signal's stop() may come while this thread holds it
    stopping: threading.Event = field(default_factory=threading.Event)
    running: set[subprocess.Popen[str]] = field(default_factory=set)
    failures: int = 0

    def program(self, *words: object) -> list[str]:
        """A command on this sweep: its name and options."""
        return [self.options.program, "sweep", *map(str, words), "--", str(self.folder)]

    @property
    def pruning(self) -> bool:
        """Optuna's pruners speak of one curve; a trial of several seeds has several."""
        return len(self.plan["seeds"]) == 1 and self.plan["early_terminate"]["type"] != "none"

    def propose(self, trial: Trial) -> list[dict[str, Any]]:
        settings = [f"{path}={plain(value)}" for path, value in trial.params.items()]
        with self.lock:
            return json.loads(checked([*self.program("propose", *plugin_words(self.plugins)), *settings]))

    def work(self, row: dict[str, Any], trial: Trial) -> tuple[float | None, bool]:
        """Runs a row to its end; the metric's last value (None: it failed) and whether the trial was pruned."""
        command = self.program("work", "--row", row["k"], "--threads", self.options.threads, "--ask", *plugin_words(self.plugins))
        log = self.folder / "logs" / f"{row['run_id']}.log"
        log.parent.mkdir(exist_ok=True)
        history = published(Path(row["folder"]))
        for step in history:
            self.report(trial, step)
        with open_own(log, "a") as errors:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
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
        return (None if value is None or math.isnan(value) else value), row_state(self, row) == "pruned"

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
        metric = "" if mean is None else f", {self.plan['metric']['name']} {mean:.4g}"
        self.say(rows, f"{state.name.lower()}{metric}")

    def say(self, rows: list[dict[str, Any]], what: str) -> None:
        """One line, as `softalign sweep run` has them: rows by number, parameters by their last words."""
        numbers = ", ".join(str(row["k"]) for row in rows)
        settings = " ".join(f"{p['name']}={plain(rows[0]['set'][p['path']])}" for p in self.plan["parameters"] if p["varied"])
        print(f"{'row' if len(rows) == 1 else 'rows'} {numbers}: {settings}: {what}", file=sys.stderr)

    def ask(self) -> Trial:
        """Trial n is a function of (search_seed, n, what is known): its sampler begins anew. Trials cut off do not count."""
        with self.lock:
            known = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING)
            number = len(self.study.get_trials(deepcopy=False, states=known))
            seed = (self.plan["search_seed"] * 1_000_003 + number) % 2**32
            self.study.sampler = optuna.samplers.TPESampler(
                seed=seed, n_startup_trials=STARTUP, constant_liar=self.options.workers > 1
            )
            return self.study.ask(distributions(self.plan["parameters"]))

    def stop(self) -> None:
        self.stopping.set()
        with self.lock:
            for process in self.running:
                process.terminate()


def plugin_words(plugins: list[str]) -> list[str]:
    return [f"--plugin={plugin}" for plugin in plugins]


def checked(command: list[str]) -> str:
    """What a command prints; SweepFailed when it does not end well, its own words having gone to standard error."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SweepFailed(done.returncode)
    return done.stdout


def row_state(bridge: Bridge, row: dict[str, Any]) -> str:
    rows = json.loads(checked(bridge.program("status", "--json")))["rows"]
    return str(rows[row["k"]]["state"])


def plain(value: Any) -> str:
    """A value as the plan says it: numbers with 6 significant digits."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def published(folder: Path) -> list[dict[str, Any]]:
    """What a run has said of its dev evaluations so far."""
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


def pruner_of(rule: dict[str, Any]) -> optuna.pruners.BasePruner:
    if rule["type"] == "asha":
        return optuna.pruners.SuccessiveHalvingPruner(min_resource=rule["min_updates"], reduction_factor=rule["eta"])
    if rule["type"] == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=rule["startup"], n_warmup_steps=rule["min_updates"])
    return optuna.pruners.NopPruner()


def open_own(file: Path, mode: str) -> IO[Any]:
    """A file in the sweep's folder, to write to: `sweep plan` and `propose` have refused links, which may lead anywhere, and pipes."""
    return open(file, mode, opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666))


def whole_lines(file: Path) -> None:
    """Cuts what a kill left half written, and the lock of a process that is gone: we hold the sweep."""
    (file.parent / f"{file.name}.lock").unlink(missing_ok=True)
    if not file.exists():
        return
    text, end = file.read_bytes(), 0
    for line in text.splitlines(keepends=True):
        try:
            json.loads(line)
        except ValueError:
            break
        if not line.endswith(b"\n"):
            break
        end += len(line)
    if text[end:].count(b"\n") > 1:  # not the end of it alone
        raise ValueError(f"line {text[:end].count(bytes([10])) + 1} is damaged")
    if end < len(text):
        with open_own(file, "r+b") as journal:
            journal.truncate(end)


def journal(file: Path) -> optuna.storages.JournalStorage:
    if hasattr(optuna.storages, "journal"):  # Optuna 4
        return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(file)))
    return optuna.storages.JournalStorage(optuna.storages.JournalFileStorage(str(file)))


def open_bridge(options: argparse.Namespace) -> Bridge:
    plain_options = [f"--out={options.out}", *plugin_words(options.plugin), "--json"]
    answer = json.loads(checked([options.program, "sweep", "plan", *plain_options, "--", str(options.sweep)]))
    folder = Path(answer["folder"])
    try:
        lock = open_own(folder / "optuna.lock", "a")
    except OSError as error:
        print(f"softalign: {folder / 'optuna.lock'}: cannot be opened: {error.strerror}; remove it", file=sys.stderr)
        raise SweepFailed(1) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"softalign: {folder}: another process searches this sweep; --workers does more at once", file=sys.stderr)
        raise SweepFailed(1) from None
    plan = json.loads(checked([options.program, "sweep", "status", "--json", *plugin_words(answer["plugins"]), "--", str(folder)]))
    try:
        whole_lines(folder / "optuna.journal")
        study = optuna.create_study(
            storage=journal(folder / "optuna.journal"),
            study_name=plan["name"],
            direction=plan["metric"]["goal"],
            pruner=pruner_of(plan["early_terminate"]),
            load_if_exists=True,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        place = folder / "optuna.journal"
        print(f"softalign: {place}: cannot be read ({error}); remove it, and it is made again from the runs", file=sys.stderr)
        raise SweepFailed(3) from None
    return Bridge(options.sweep, options, plan, folder, answer["plugins"], study, lock)


def texts_of(values: dict[str, Any]) -> list[tuple[str, str]]:
    """As the plan says them, to compare."""
    return sorted((path, plain(float(v) if isinstance(v, int) and not isinstance(v, bool) else v)) for path, v in values.items())


def values_of(trial: optuna.trial.FrozenTrial) -> dict[str, Any]:
    """The values that a trial has, or will have once it is asked for."""
    return dict(trial.system_attrs.get("fixed_params", trial.params))


def ask_again_for_lost_trials(bridge: Bridge) -> None:
    """Whoever ran them is gone. Their rows stand in the plan: the same values lead to the same run, which goes on. So do
    rows that Optuna knows nothing of any more, because its journal was removed: their runs tell it what it knew. A trial that
    was cut off while it was asked for has only some values; all of them are drawn again, by the same random numbers."""
    for trial in bridge.study.get_trials(deepcopy=False, states=[TrialState.RUNNING]):
        bridge.study.tell(trial.number, state=TrialState.FAIL)
        if len(values_of(trial)) == len(bridge.plan["parameters"]):
            bridge.study.enqueue_trial(values_of(trial))
    known = [texts_of(values_of(trial)) for trial in bridge.study.get_trials(deepcopy=False)]
    for row in bridge.plan["rows"]:
        if texts_of(row["set"]) not in known:
            known.append(texts_of(row["set"]))
            bridge.study.enqueue_trial(row["set"])


def trials_left(bridge: Bridge) -> int:
    done = bridge.study.get_trials(deepcopy=False, states=[TrialState.COMPLETE, TrialState.PRUNED])
    return bridge.options.run_cap // len(bridge.plan["seeds"]) - len(done)


def search(bridge: Bridge) -> None:
    with ThreadPoolExecutor(bridge.options.workers) as pool:
        trials: set[Future[None]] = set()
        while not bridge.stopping.is_set():
            while len(trials) < min(bridge.options.workers, trials_left(bridge)) and bridge.failures < 3:
                trials.add(pool.submit(bridge.run_trial, bridge.ask()))
            if not trials:
                break
            over, trials = wait(trials, timeout=0.2, return_when=FIRST_COMPLETED)
            for trial in over:
                trial.result()
    if bridge.failures >= 3:
        sys.exit(f"softalign: three trials failed; their output is in {bridge.folder / 'logs'}")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sweep", type=Path, help="the sweep's YAML file")
    parser.add_argument("--run-cap", type=int, required=True, help="how many runs")
    parser.add_argument("--out", default="results", help="where records go")
    parser.add_argument("--workers", type=int, default=1, help="trials at a time")
    parser.add_argument("--threads", type=int, default=1, help="threads of each run")
    parser.add_argument("--plugin", action="append", default=[], help="shared object with further plugins")
    parser.add_argument("--program", default="softalign", help="the program")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)  # the journal, until Optuna 4
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        bridge = open_bridge(options)
    except SweepFailed as failure:
        return int(failure.args[0])
    for number in STOPS:
        signal.signal(number, lambda *_: bridge.stop())
    try:
        ask_again_for_lost_trials(bridge)
        search(bridge)
    except KeyboardInterrupt:
        bridge.stop()
    except SweepFailed as failure:
        return int(failure.args[0])
    if bridge.stopping.is_set() and trials_left(bridge) > 0:
        os.write(2, SAVED)
        return INTERRUPTED
    for number in STOPS:  # all is done; Python would die of a signal that comes while it ends
        signal.signal(number, signal.SIG_IGN)
    return subprocess.run(bridge.program("status"), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
