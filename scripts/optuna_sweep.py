#!/usr/bin/python3
"""Runs a sweep with method optuna: asks Optuna for configurations, has `softalign sweep work` run them, and tells Optuna the results.

optuna_sweep.py SWEEP.yaml --run-cap N [--results DIR] [--workers N] [--threads N] [--program PATH]: `sweep run` starts this script.

Each trial becomes rows of the plan, one per seed, before it runs, and each row is an ordinary run. Optuna's state is in
<sweep>/optuna.journal. After a stop or a kill, the same command resumes: trials that were cut off are asked for again with their values.
With one worker, the whole search is a function of the sweep's file; with several, it also depends on the order in which trials end.
`sweep submit` has a scheduler start this script with --worker K several times: the workers ask and tell through that journal.
"""

from __future__ import annotations

import os
import signal

INTERRUPTED = 75
SAVED = b"softalign: interrupted; the state is saved, run the same command again to resume\n"
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


def leave(*_: object) -> None:
    """Exits on a signal during the imports, which take seconds on a busy machine: no trial has begun, so nothing needs to be stopped."""
    os.write(2, SAVED)
    os._exit(INTERRUPTED)


for number in STOPS:
    signal.signal(number, leave)

import argparse  # noqa: E402
import json  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from softalign_tools import missing_package  # noqa: E402, isort: skip
import optuna  # noqa: E402

from softalign_tools.optuna_search import OVER, OpenSweep, Search, open_own  # noqa: E402
from softalign_tools.program import RecordError, program  # noqa: E402

STARTUP = 5  # random trials, before TPE has data to learn from


def checked(*words: object) -> str:
    """Returns the output of a command. If it fails, raises RecordError without a text, because the command has printed its error itself."""
    done = subprocess.run([program(), *map(str, words)], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RecordError("", done.returncode)
    return done.stdout


def pruner_of(rule: dict[str, Any]) -> optuna.pruners.BasePruner:
    if rule["type"] == "asha":
        return optuna.pruners.SuccessiveHalvingPruner(min_resource=rule["min_updates"], reduction_factor=rule["eta"])
    if rule["type"] == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=rule["startup"], n_warmup_steps=rule["min_updates"])
    return optuna.pruners.NopPruner()


def check_lines(file: Path) -> None:
    """Cuts off a last line that a kill left incomplete. Raises ValueError if an earlier line is corrupt."""
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    for number, line in enumerate(lines, 1):
        try:
            json.loads(line)
        except ValueError:
            if number < len(lines):
                raise ValueError(f"line {number} is damaged") from None
            with open_own(file, "r+b") as journal:
                journal.truncate(sum(map(len, lines[:-1])))


def journal(sweep: OpenSweep) -> optuna.storages.JournalStorage:
    file = str(sweep.folder / "optuna.journal")
    sweep.locks.acquire()
    try:
        check_lines(Path(file))
    finally:
        sweep.locks.release()
    if hasattr(optuna.storages, "journal"):  # Optuna 4
        return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(file, lock_obj=sweep.locks))
    return optuna.storages.JournalStorage(optuna.storages.JournalFileStorage(file, lock_obj=sweep.locks))


def stored_study(sweep: OpenSweep) -> optuna.Study:
    """Returns the Optuna study of earlier calls, or a new one. Raises RecordError if it cannot be read."""
    place = sweep.folder / "optuna.journal"
    try:
        return optuna.create_study(
            storage=journal(sweep),
            study_name=sweep.plan["name"],
            direction=sweep.plan["metric"]["goal"],
            pruner=pruner_of(sweep.plan["early_terminate"]),
            load_if_exists=True,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{place}: cannot be read ({error}); remove it, and it is made again from the runs") from None


def open_search(options: argparse.Namespace) -> Search:
    sweep = OpenSweep.of(options.sweep, options.results, options.plugin, checked, options.worker)
    study = stored_study(sweep)
    done = len(study.get_trials(deepcopy=False, states=OVER))

    def sampler(n: int) -> optuna.samplers.BaseSampler:
        """Returns a new sampler for trial n, which makes it a function of (search_seed, n, the known trials). n does not count trials that were cut off."""
        seed = (sweep.plan["search_seed"] * 1_000_003 + n) % 2**32
        return optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP, constant_liar=options.workers > 1 or options.worker is not None)

    left = options.run_cap // len(sweep.plan["seeds"]) - (done if options.worker is None else 0)
    return Search(sweep, study, left, options.workers, options.threads, sampler)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sweep", type=Path, help="YAML file of the sweep")
    parser.add_argument("--run-cap", type=int, required=True, help="number of runs")
    parser.add_argument("--results", default="results", help="folder for the records")
    parser.add_argument("--workers", type=int, default=1, help="number of trials at a time")
    parser.add_argument("--worker", type=int, help="run as one of several workers that share the search")
    parser.add_argument("--threads", type=int, default=1, help="threads per run")
    parser.add_argument("--plugin", action="append", default=[], help="load this plugin (.so); may be repeated")
    parser.add_argument("--program", default="softalign", help="path of softalign")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)  # the journal is experimental before Optuna 4
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    os.environ["SOFTALIGN_PROGRAM"] = options.program
    try:
        search = open_search(options)
        for number in STOPS:
            signal.signal(number, lambda *_: search.stop())
        with search.sweep.locks.asking():
            search.ask_again_for_lost_trials(alone=options.worker is None)
            search.ask_for_unknown_rows()
        search.run()
    except KeyboardInterrupt:
        search.stop()
    except RecordError as error:
        if str(error):
            print(f"softalign: {error}", file=sys.stderr)
        return error.status
    if search.stopping.is_set() and search.left > 0:
        os.write(2, SAVED)
        return INTERRUPTED
    for number in STOPS:  # all trials are over; a signal during its exit would kill Python
        signal.signal(number, signal.SIG_IGN)
    return subprocess.run([program(), "sweep", "status", "--", str(search.sweep.folder)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
