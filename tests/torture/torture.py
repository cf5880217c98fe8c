#!/usr/bin/python3
"""Tortures the built softalign: kills it at every call, lets calls fail, cuts the power, fills its disk; and runs the fuzzers.

scripts/torture.sh builds the programs and calls this script. Each try is a function of the seed, the campaign and its number; several
processes share the numbers. Counts are stored in a folder, so that stopping (Ctrl-C) loses nothing and the same command continues.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from campaigns import CAMPAIGNS, PROGRAM, Failure, Skipped, Try
from shim import BINARIES, SHIM

ROOT = Path(__file__).parents[2]
FUZZERS = ROOT / "build" / "fuzz" / "bin"
FUZZING_SECONDS = 60  # per try
FUZZER_SHARE = 0.5
FUZZER_INTERRUPTED = 72  # its exit status after a signal, such as Ctrl-C


@dataclass
class Tally:
    """Progress of one campaign."""

    next: int = 0  # the number of the next try
    tries: int = 0
    failures: int = 0
    seconds: float = 0
    skipped: str = ""


@dataclass
class Standing:
    """Progress of one worker, stored in a file of its own."""

    file: Path
    tallies: dict[str, Tally] = field(default_factory=dict)

    def read(self) -> None:
        if self.file.exists():
            self.tallies = {name: Tally(**tally) for name, tally in json.loads(self.file.read_text()).items()}

    def write(self) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps({name: asdict(tally) for name, tally in self.tallies.items()}, indent=1))
        new.replace(self.file)


def fuzzer(program: Path, results: Path) -> Callable[[Try], int]:
    """Returns the campaign of a libFuzzer program: a try runs it for a minute. Its corpus grows in the results folder."""

    def fuzz(this: Try) -> int:
        """executions by libFuzzer"""
        name = program.name.removeprefix("fuzz_")
        corpus, found = results / "corpora" / name, results / "failures" / f"{program.name}-{this.number}"
        corpus.mkdir(parents=True, exist_ok=True)
        found.mkdir(parents=True, exist_ok=True)
        command = [
            str(program),
            f"-max_total_time={FUZZING_SECONDS}",
            f"-timeout={FUZZING_SECONDS}",
            f"-report_slow_units={FUZZING_SECONDS}",
            "-detect_leaks=0",  # leaks are searched for only at exit: doing so after each input that calls HDF5 takes half the time
            f"-seed={this.chance.randrange(1, 2**31)}",
            f"-artifact_prefix={found}/",
            "-print_final_stats=1",
            str(corpus),
            str(ROOT / "tests" / "fuzz" / "corpora" / name),
        ]
        done = subprocess.run(command, cwd=this.place, capture_output=True, text=True, errors="replace")
        executed = re.search(r"number_of_executed_units:\s*(\d+)", done.stderr)
        if done.returncode not in (0, FUZZER_INTERRUPTED):
            this.note(f"$ {' '.join(command)}\n{done.stderr[-5000:]}")
            raise Failure(f"{program.name} ends with {done.returncode}; its input is in {found}")
        found.rmdir()
        return int(executed[1]) if executed else 0

    return fuzz


def all_campaigns(results: Path) -> dict[str, tuple[Callable[[Try], int], float]]:
    """Returns the campaigns and the fuzzers that are built, each with its share of the time."""
    fuzzers = sorted(program for program in FUZZERS.glob("fuzz_*") if os.access(program, os.X_OK) and program.is_file())
    return {**CAMPAIGNS, **{program.name: (fuzzer(program, results), FUZZER_SHARE) for program in fuzzers}}


def attempt(name: str, number: int, seed: int, campaign: Callable[[Try], int], folder: Path, results: Path) -> tuple[int, str]:
    """Makes one try; returns its number of faults and its fault ("" if all checks passed). A failure leaves a folder in the results."""
    this = Try(folder, number, random.Random(f"{seed} {name} {number}"), seed)
    try:
        return campaign(this), ""
    except Skipped:
        raise
    except Failure as failure:
        fault = str(failure)
    except Exception:  # an error of the harness should not end the whole campaign
        fault = traceback.format_exc()
    kept = results / "failures" / f"{name}-{number}"
    shutil.copytree(this.place, kept / "work", symlinks=True, dirs_exist_ok=True)
    replay = f"scripts/torture.sh --seed {seed} --only {name} --number {number}"
    (kept / "README").write_text(f"{fault}\n\nAgain: {replay}\n\n" + "\n".join(this.transcript) + "\n")
    return 1, fault


def processor_time() -> float:
    """Returns the CPU seconds used by this process and by the children that it has waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class Worker:
    """One of n processes: makes every n-th try of a campaign, and always continues with the campaign that has used least of its share of the time."""

    def __init__(self, arguments: argparse.Namespace, worker: int) -> None:
        self.arguments, self.worker = arguments, worker
        self.standing = Standing(arguments.results / f"worker-{worker}.json")
        self.standing.read()
        self.campaigns = {
            name: campaign for name, campaign in all_campaigns(arguments.results).items() if not arguments.only or name in arguments.only
        }
        for name in self.campaigns:
            self.standing.tallies.setdefault(name, Tally(next=worker))
        self.stopping = False

    def stop(self, *_: object) -> None:
        self.stopping = True

    def wanted(self) -> list[str]:
        """Returns the campaigns that have tries left. A fuzzer with a folder of failures is skipped, because it would find the same failure again."""
        tallies, numbers, failures = self.standing.tallies, self.arguments.numbers, self.arguments.results / "failures"
        return [
            name
            for name in self.campaigns
            if not tallies[name].skipped
            and (numbers is None or tallies[name].next < len(numbers[name]))
            and not (name not in CAMPAIGNS and any(failures.glob(f"{name}-*/README")))
        ]

    def work(self, until: float) -> None:
        """Makes tries until the time is up or a signal stops it."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a sync costs nothing there
        with tempfile.TemporaryDirectory(prefix="softalign-torture-", dir=memory) as folder:
            while not self.stopping and time.time() < until and (names := self.wanted()):
                name = min(names, key=lambda name: self.standing.tallies[name].seconds / self.campaigns[name][1])
                self.one(name, Path(folder))

    def one(self, name: str, folder: Path) -> None:
        tally = self.standing.tallies[name]
        number = self.arguments.numbers[name][tally.next] if self.arguments.numbers else tally.next
        begin = processor_time()
        try:
            tries, fault = attempt(name, number, self.arguments.seed, self.campaigns[name][0], folder, self.arguments.results)
            tally.tries += tries
            if fault:
                tally.failures += 1
                with (self.arguments.results / "log").open("a") as log:
                    log.write(f"{name} {number}: {fault.strip()}\n")
        except Skipped as reason:
            tally.skipped = str(reason)
        tally.next += self.arguments.workers
        tally.seconds += processor_time() - begin
        self.standing.write()


def total(results: Path) -> dict[str, Tally]:
    """Returns the sums over all workers."""
    sums: dict[str, Tally] = {}
    for file in sorted(results.glob("worker-*.json")):
        standing = Standing(file)
        standing.read()
        for name, tally in standing.tallies.items():
            done = sums.setdefault(name, Tally())
            done.tries += tally.tries
            done.failures += tally.failures
            done.seconds += tally.seconds
            done.skipped = done.skipped or tally.skipped
    return sums


def table(results: Path) -> str:
    """Returns the sums over all workers as a Markdown table."""
    lines = ["| campaign | | tries | minutes | failures |", "| --- | --- | ---: | ---: | ---: |"]
    tallies, campaigns = total(results), all_campaigns(results)
    for name in [name for name in campaigns if name in tallies]:
        what = (campaigns[name][0].__doc__ or "").splitlines()[0].rstrip(".")
        tries = f"skipped: {tallies[name].skipped}" if tallies[name].skipped else f"{tallies[name].tries:,}"
        minutes = f"{tallies[name].seconds / 60:,.0f}"  # of one core
        lines.append(f"| {name} | {what} | {tries} | {minutes} | {tallies[name].failures} |")
    return "\n".join(lines)


def torture(arguments: argparse.Namespace) -> dict[str, Tally]:
    """Runs all workers to their end. With the same arguments, they continue where they stopped."""
    arguments.results.mkdir(parents=True, exist_ok=True)
    settings = arguments.results / "settings"
    mine = f"seed {arguments.seed}, {arguments.workers} workers\n"
    if settings.exists() and settings.read_text() != mine:
        raise SystemExit(f"{settings}: begun with {settings.read_text().strip()}; go on with these, or give other --results")
    settings.write_text(mine)
    until = time.time() + arguments.hours * 3600
    children = []
    for worker in range(arguments.workers):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                Worker(arguments, worker).work(until)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        children.append(child)

    def pass_on(number: int, _: object) -> None:
        for child in children:
            os.kill(child, number)

    handlers = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    statuses = [os.waitpid(child, 0)[1] for child in children]
    for number, handler in handlers.items():
        signal.signal(number, handler)
    if any(statuses):
        raise RuntimeError(f"a worker ended with {statuses}")
    return total(arguments.results)


def parsed(words: list[str] | None = None) -> argparse.Namespace:
    """Returns the parsed arguments (tests call this, too)."""
    names = list(all_campaigns(Path()))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0, help="duration (default: 1)")
    parser.add_argument("--only", nargs="+", choices=names, metavar="CAMPAIGN", help="only these campaigns: " + ", ".join(names))
    parser.add_argument("--seed", type=int, default=1, help="of all tries (default: 1)")
    parser.add_argument("--number", type=int, help="repeat this try of one campaign and print the failed check")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes (default: all cores)")
    parser.add_argument("--results", type=Path, help="folder of counts and failures (default: build/torture/seed-N)")
    parser.set_defaults(numbers=None)  # numbers of the tries of each campaign; None: all in order
    arguments = parser.parse_args(words)
    arguments.results = (arguments.results or ROOT / "build" / "torture" / f"seed-{arguments.seed}").absolute()
    if arguments.number is not None and len(arguments.only or []) != 1:
        parser.error("--number repeats a try of one campaign; name it with --only")
    return arguments


def main() -> int:
    arguments = parsed()
    for file in (PROGRAM, SHIM):
        if not file.exists():
            raise SystemExit(f"{file}: is not built; scripts/torture.sh builds it")
    if arguments.number is not None:
        (name,) = arguments.only
        with tempfile.TemporaryDirectory() as folder:
            campaign = all_campaigns(arguments.results)[name][0]
            _, fault = attempt(name, arguments.number, arguments.seed, campaign, Path(folder), arguments.results)
        print(fault or "all checks passed")
        return 1 if fault else 0
    print(f"program {BINARIES}, results {arguments.results}; Ctrl-C stops, the same command continues", flush=True)
    tallies = torture(arguments)
    print(table(arguments.results))
    failed = sum(tally.failures for tally in tallies.values())
    if failed:
        print(f"{arguments.results}/failures has a folder for each failure, with the command that repeats it")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
