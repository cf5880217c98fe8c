"""The campaigns: ways to torture softalign, each a function that makes one try and raises Failure if a check fails.

A try is a function of (seed, campaign, number) alone, so it can be repeated. It works in a folder of its own: `inputs` is only read;
`work` holds the records (`out`) and the cache, and nothing else may be changed.
"""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from pathlib import Path

import checks
import power_cut
import works
from shim import ALL_CALLS, BINARIES, CHANGES, SHIM, Change, Fault, read_trace
from works import MORE_WORKS, PLAIN, WORKS, Work

PROGRAM = BINARIES / "bin" / "softalign"
HANGS_AFTER = 120  # seconds
MOST_RESTARTS = 5  # of a run that is not disturbed any more


class Failure(Exception):
    """A check failed."""


class Skipped(Exception):
    """This machine cannot run the campaign; the message says why."""


@dataclass(frozen=True)
class End:
    """Exit status and output of a process."""

    status: int  # a signal if negative
    errors: str
    output: str = ""


class Try:
    """One try: its folder, its random numbers, and a transcript for the report of a failure."""

    def __init__(self, folder: Path, number: int, chance: random.Random, seed: int = 1) -> None:
        self.folder, self.number, self.chance, self.seed = folder, number, chance, seed
        self.inputs, self.place = folder / "inputs", folder / "work"
        self.strays = folder / "strays"
        self.transcript: list[str] = []
        self._started: list[subprocess.Popen[str]] = []
        if not self.inputs.exists():
            works.write_inputs(self.inputs)
        self.clear()

    @property
    def out(self) -> Path:
        return self.place / "out"

    def clear(self) -> None:
        """Empties the work folder and kills the processes that are left."""
        for process in self._started:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # workers that outlived a killed sweep
            except ProcessLookupError:
                pass
        self._started.clear()
        shutil.rmtree(self.place, ignore_errors=True)
        self.strays.unlink(missing_ok=True)
        self.out.mkdir(parents=True)

    def begin_with_state(self, state: power_cut.State) -> None:
        """Replaces the work folder by the state that a power cut left."""
        self.clear()
        self.out.rmdir()
        power_cut.put(state, self.place)

    def note(self, text: str) -> None:
        self.transcript.append(text)

    def command(self, work: Work, number: int | None = 0) -> list[str]:
        """Returns a command with its folders filled in."""
        run = next(iter(sorted(self.out.glob("*/*/"))), self.out)
        return [str(PROGRAM), *work.command(number, inputs=self.inputs, out=self.out, run=run)]

    def start(self, command: list[str], fault: Fault | None = None, **variables: str) -> subprocess.Popen[str]:
        """Starts a process with the shim preloaded."""
        count = self.folder / "count"
        count.unlink(missing_ok=True)
        own = {
            "LD_PRELOAD": str(SHIM),
            "TORTURE_BELOW": str(self.place),
            "TORTURE_STRAYS": str(self.strays),
            "SOFTALIGN_CACHE": str(self.place / "cache"),
            **({"TORTURE_COUNT": str(count), **fault.environment()} if fault else {}),
            **variables,
        }
        shown = " ".join(f"{name}={shlex.quote(value)}" for name, value in own.items() if name not in ("TORTURE_STRAYS",))
        self.note(f"$ {shown} {shlex.join(command)}")
        process = subprocess.Popen(
            command,
            cwd=self.inputs,
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def end(self, process: subprocess.Popen[str]) -> End:
        """Waits for the end of a process. Raises Failure if it hangs."""
        try:
            output, errors = process.communicate(timeout=HANGS_AFTER)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failure(f"no end after {HANGS_AFTER} s") from None
        self.note(f"{errors.rstrip()}\n-> {process.returncode}")
        return End(process.returncode, errors, output)

    def softalign(self, command: list[str], fault: Fault | None = None, **variables: str) -> End:
        return self.end(self.start(command, fault, **variables))

    # Checks; each raises Failure.

    def expect(self, true: bool, text: str) -> None:
        if not true:
            raise Failure(text)

    def check_end(self, end: End, work: Work, allowed: tuple[int, ...]) -> None:
        """Checks that the exit status is allowed and the messages are correct."""
        self.expect(end.status in allowed, f"exit status {end.status}: {end.errors.strip()[-300:]}")
        self.expect("drift after resumption" not in end.errors, f"drift: {end.errors.strip()[-300:]}")
        if end.status >= 0:
            wrong = checks.wrong_words(end.status, end.errors, work.many_runs)
            self.expect(not wrong, f"{wrong}: {end.errors.strip()[-300:]}")

    def check_readable(self) -> None:
        """Checks that every published record is readable."""
        for path, record in checks.records_below(self.out).items():
            try:
                checks.numbers(record)
            except Exception as error:  # any error of h5py
                raise Failure(f"{path} cannot be read: {error}") from error

    def check_strays(self) -> None:
        """Checks that nothing was changed outside the work folder."""
        strays = self.strays.read_text() if self.strays.exists() else ""
        self.expect(not strays, f"changed outside its folders: {strays[:300]}")

    def finish(self, work: Work, retry: bool = False) -> None:
        """Checks that the work, undisturbed now, completes with the same bits as the reference.

        Rows that failed stay failed until they are retried.
        """
        before = set(self.out.rglob("attempt-*"))
        for number in range(len(work.commands)):
            end = self.softalign(self.command(work, number))
            if retry and work.retry and f"softalign {shlex.join(self.command(work, None)[1:])}" in end.errors:
                end = self.softalign(self.command(work, None))
            self.check_end(end, work, (0,))
        self.check_strays()
        self.compare(self.out, work)
        begun_again = {attempt.parent for attempt in set(self.out.rglob("attempt-*")) - before}
        left = [str(path.relative_to(self.out)) for run in begun_again for path in run.rglob("*") if checks.is_temporary(path)]
        self.expect(not left, f"temporary files remain: {left}")

    def compare(self, out: Path, work: Work) -> None:
        """Checks that the records equal those of the reference, read without softalign."""
        expected, found = reference(self.folder, work).records, checks.records_below(out)
        self.expect(found.keys() == expected.keys(), f"records {sorted(found)} instead of {sorted(expected)}")
        for path, record in found.items():
            different = checks.differences(expected[path], checks.numbers(record))
            self.expect(not different, f"{path}: other bits in {different[:5]}")

    def look(self, work: Work) -> None:
        """In one of ten calls, checks that `softalign ls` works on the current state."""
        if self.chance.random() < 0.1:
            self.check_end(self.softalign([str(PROGRAM), "ls", str(self.out)]), work, (0,))


@dataclass(frozen=True)
class Reference:
    """A work that was not disturbed: its records, its finished folder, its number of calls of each kind, and its duration."""

    records: dict[str, checks.Numbers]
    out: Path
    calls: dict[str, int]
    seconds: float

    def count(self, calls: tuple[str, ...]) -> int:
        return sum(self.calls[call] for call in calls)


@lru_cache(maxsize=None)
def reference(folder: Path, work: Work) -> Reference:
    """Returns the reference of a work, which is made once for each folder of tries."""
    made = Try(folder / "reference" / work.name, 0, random.Random(0))
    begin_with(made, work)
    count = made.folder / "count"
    begin = time.monotonic()
    made.check_end(made.softalign(made.command(work), TORTURE_COUNT=str(count)), work, (0,))
    seconds = time.monotonic() - begin
    _, *calls = struct.unpack(f"{1 + len(ALL_CALLS)}Q", count.read_bytes())
    for number in range(1, len(work.commands)):
        made.check_end(made.softalign(made.command(work, number)), work, (0,))
    made.check_strays()
    records = {path: checks.numbers(record) for path, record in checks.records_below(made.out).items()}
    return Reference(records, made.out, dict(zip(ALL_CALLS, calls, strict=True)), seconds)


def begin_with(this: Try, work: Work) -> None:
    """Prepares an empty folder, or the state that the work starts from."""
    this.clear()
    if work.begins_with:
        shutil.copytree(reference(this.folder, WORKS[work.begins_with]).out, this.out, dirs_exist_ok=True)
        for record in checks.records_below(this.out).values():
            record.unlink()


def scattered(number: int, count: int) -> int:
    """Returns one of 1..count: `count` consecutive numbers give each value once, and neighbours are far apart."""
    step = max(1, round(count * 0.618))
    while gcd(step, count) > 1:
        step += 1
    return 1 + number * step % count


# The works take turns. Those of many runs take ten times as long, so they have fewer turns.
QUICK = [work for work in WORKS.values() if not work.many_runs]
TURNS = [*QUICK, *QUICK, *QUICK, *(work for work in WORKS.values() if work.many_runs)]


def turn_of(number: int) -> tuple[Work, int]:
    """Returns the work whose turn it is, and the number of its earlier turns."""
    rounds, place = divmod(number, len(TURNS))
    return TURNS[place], rounds * TURNS.count(TURNS[place]) + TURNS[:place].count(TURNS[place])


# ---- The campaigns. Each returns its number of faults; torture.py prints the first line of its docstring.

KILLS = {"kill-before": CHANGES, "kill-after": CHANGES, "kill-inside": ("write",)}  # inside: half of the bytes are written


def kills(this: Try) -> int:
    """SIGKILL before, during and after each call that changes a file; then at random calls, several in a row."""
    work, turn = turn_of(this.number)
    known = reference(this.folder, work)
    planned = None
    for how, calls in KILLS.items():
        if planned is None and turn < known.count(calls):
            planned = Fault(how, scattered(turn, known.count(calls)), calls)
        turn -= known.count(calls)
    begin_with(this, work)
    done = 0
    for _ in range(1 if planned else this.chance.randint(2, 5)):
        how = this.chance.choice(list(KILLS))
        fault = planned or Fault(how, this.chance.randint(1, known.count(KILLS[how])), KILLS[how])
        end = this.softalign(this.command(work), fault)
        # A sweep survives a killed worker or reports it; a resumed run may end before the call at which it would be killed.
        this.check_end(end, work, (-signal.SIGKILL, 0, *((1, 75) if work.many_runs else ())))
        done += end.status != 0 or bool(planned)
        this.check_readable()
        this.look(work)
    this.finish(work)
    return done


@dataclass(frozen=True)
class Disturbance:
    """A system error: the calls that it affects, and whether the program must handle it without a message."""

    what: str
    number: int
    calls: tuple[str, ...]
    times: tuple[int, ...] = (1, 0)
    unnoticed: bool = False


DISTURBANCES = (
    Disturbance("fail", errno.ENOSPC, ("create", "write", "sync", "rename", "link", "mkdir")),
    Disturbance("fail", errno.EIO, ALL_CALLS),
    Disturbance("fail", errno.EMFILE, ("create", "open", "opendir")),
    Disturbance("fail", errno.EROFS, ("create", "rename", "link", "unlink", "mkdir")),
    Disturbance("fail", errno.ENOMEM, ("mmap", "open")),
    Disturbance("fail", errno.EINTR, ("write", "sync", "truncate", "read"), (1, 3), unnoticed=True),
    Disturbance("short", 0, ("write", "read"), (1, 0), unnoticed=True),
)


def faults(this: Try) -> int:
    """Errors (ENOSPC, EIO, EMFILE, EROFS, ENOMEM, EINTR) and short writes and reads at each call; only once, or for all later calls."""
    turn, which = divmod(this.number, len(DISTURBANCES))
    disturbance = DISTURBANCES[which]
    work, turn = turn_of(turn)
    known = reference(this.folder, work)
    turn, times = divmod(turn, len(disturbance.times))
    begin_with(this, work)
    fault = Fault(
        disturbance.what,
        scattered(turn, max(1, known.count(disturbance.calls))),
        disturbance.calls,
        disturbance.times[times],
        disturbance.number,
    )
    end = this.softalign(this.command(work), fault)
    this.check_end(end, work, (0,) if disturbance.unnoticed else (0, 1, 75))
    this.check_readable()
    if end.status == 0:
        if "note: " not in end.errors or "sweep.h5: " not in end.errors:  # otherwise sweep.h5 was not written; the next command writes it again
            this.compare(this.out, work)
    elif not work.many_runs:
        known = os.strerror(disturbance.number) in end.errors or "check the disk" in end.errors
        this.expect(known, f"the cause is not named: {end.errors.strip()[-300:]}")
    this.look(work)
    this.finish(work, retry=end.status == 1)
    return 1


STATES_OF_A_TRACE = 50  # tries per trace; the first attempt of the next trace is killed elsewhere


@dataclass
class Traced:
    """The first state of a disk and all later changes. States in `seen` are not tried again."""

    begin: power_cut.Snapshot
    changes: list[Change]
    seen: set[bytes]


@lru_cache(maxsize=len(WORKS))
def traced(folder: Path, work: Work, seed: int, which: int) -> Traced:
    """Traces a work that is killed somewhere, resumed and, if it is a run, restarted."""
    this = Try(folder, 0, random.Random(f"{seed} {work.name} {which}"), seed)
    begin_with(this, work)
    begin = power_cut.snapshot(this.place)
    trace = this.folder / "trace"
    trace.unlink(missing_ok=True)
    at = this.chance.randint(1, reference(folder, work).count(CHANGES))
    this.softalign(this.command(work), Fault("kill-before", at), TORTURE_TRACE=str(trace))
    for number in range(len(work.commands)):
        this.softalign(this.command(work, number), TORTURE_TRACE=str(trace))
    if work.commands[0][0] == "run":
        this.softalign([*this.command(work), "--force"], TORTURE_TRACE=str(trace))
    changes = list(read_trace(trace))
    check_replay(this.place, begin, changes)
    this.clear()
    return Traced(begin, changes, set())


def check_replay(place: Path, begin: power_cut.Snapshot, changes: list[Change]) -> None:
    """Checks that the trace is complete: replaying it gives the current content of the folder."""
    disk = power_cut.Disk(place, begin)
    for change in changes:
        disk.apply(change)
    there = {path: content for path, (_, content) in power_cut.snapshot(place).items()}
    replayed = disk.as_seen()
    # Logs are not compared: workers print them through the C library, whose own calls cannot be intercepted, and only people read them.
    paths = {path for path in there.keys() | replayed.keys() if not path.endswith(".log")}
    different = [path for path in paths if there.get(path, 0) != replayed.get(path, 0)]
    if different:
        raise Failure(f"the trace is incomplete: {sorted(different)}")


def cuts(this: Try) -> int:
    """Power cuts after each change of a file; any part of the unsynced data is lost, torn, zeroed or reordered."""
    work, turn = turn_of(this.number)
    history = traced(this.folder, work, this.seed, turn // STATES_OF_A_TRACE)
    at = scattered(turn, len(history.changes))
    disk = power_cut.Disk(this.place, history.begin)
    for change in history.changes[:at]:
        disk.apply(change)
    for _ in range(20):
        state = power_cut.after_cut(disk, this.chance)
        if power_cut.digest(state) not in history.seen:
            break
    else:
        return 0  # no new state in 20 draws
    history.seen.add(power_cut.digest(state))
    this.note(f"# a power cut after change {at} of {len(history.changes)}, {history.changes[at - 1].what} {history.changes[at - 1].path}")
    this.begin_with_state(state)
    try:
        this.look(work)
        this.finish(work)
    except Failure:
        this.begin_with_state(state)  # so that the report has the state that the power cut left
        raise
    return 1


SIGNALS = [signal.SIGKILL] * 8 + [signal.SIGTERM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1]


def signals(this: Try) -> int:
    """Signals, mostly SIGKILL, repeatedly, at random times and calls, with all kinds of commands and numbers of threads."""
    every = [work for work in (*WORKS.values(), *MORE_WORKS.values()) if not work.begins_with]
    work = every[this.number % len(every)]
    known = reference(this.folder, work)
    begin_with(this, work)
    hit = 0
    for _ in range(this.chance.randint(1, 8)):
        command = this.command(work)
        if "--threads" in command:
            command[command.index("--threads") + 1] = str(this.chance.choice([1, 1, 2, 3]))
        sent = [this.chance.choice(SIGNALS) for _ in range(this.chance.choice([1, 1, 1, 2]))]
        this.note(f"# {[number.name for number in sent]}")
        at_a_call = this.chance.random() < 0.3
        if at_a_call:
            at = this.chance.randint(1, known.count(ALL_CALLS))
            process = this.start(command, Fault("signal", at, ALL_CALLS, number=sent[0]))
        else:
            process = this.start(command)
            time.sleep(this.chance.uniform(0, this.chance.choice([0.2, 0.6, 1.1]) * known.seconds))
            hit += process.poll() is None
            for number in sent:
                process.send_signal(number)
                time.sleep(this.chance.uniform(0, 0.02))
        end = this.end(process)
        hit += at_a_call and end.status != 0
        this.check_end(end, work, (0, 75, *((1,) if work.many_runs else ()), *(-number for number in sent)))
        this.check_readable()
        this.look(work)
    this.finish(work)
    return hit


def races(this: Try) -> int:
    """Two or three processes work on one run at the same time; one of them may be killed."""
    every = list(WORKS.values())
    work = every[this.number % len(every)]
    known = reference(this.folder, work)
    begin_with(this, work)
    command = this.command(work)
    number = this.chance.randint(2, 3)
    killed = this.chance.randrange(number) if this.chance.random() < 0.3 else None
    processes = []
    for i in range(number):
        fault = Fault("kill-before", this.chance.randint(1, known.count(CHANGES))) if i == killed else None
        processes.append(this.start(command, fault))
        time.sleep(this.chance.choice([0, 0, 0.01, 0.1]))
    ends = [this.end(process) for process in processes]
    for i, end in enumerate(ends):
        # 1: another process works on the run, and the message says so.
        this.check_end(end, work, (0, 1, 75, *((-signal.SIGKILL,) if i == killed else ())))
    this.check_readable()
    this.finish(work)
    return number


def full_disks(this: Try) -> int:
    """A file system that is full and grows later."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
        raise Skipped("no mount namespaces here")
    work = QUICK[this.number % len(QUICK)]
    reference(this.folder, work)
    begin_with(this, work)
    kept = this.folder / "kept"  # because the tmpfs disappears when the shell ends
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    size = this.chance.randrange(4, 1800, 4)
    command = shlex.join(this.command(work))
    script = f"""
        cp -a {this.out} {kept}/begin
        mount -t tmpfs -o size={size}k none {this.place} || exit 99
        mkdir {this.out} && cp -a {kept}/begin/. {this.out} || exit 98
        {command} >/dev/null 2>{kept}/errors; echo $? >{kept}/status
        cp -r {this.out} {kept}/stopped
        mount -o remount,size=64m {this.place}
        {command} >/dev/null 2>{kept}/errors-then; echo $? >{kept}/status-then
        cp -r {this.out} {kept}/finished
    """
    shell = this.softalign(["unshare", "-rm", "sh", "-c", script], TORTURE_STRAYS="")  # not checked, because the shell writes files of its own
    if shell.status == 99:
        raise Skipped("no tmpfs may be mounted here")
    if shell.status == 98:
        return 0  # too small for the initial state of the work
    first, then = (
        End(int((kept / f"status{which}").read_text()), (kept / f"errors{which}").read_text()) for which in ("", "-then")
    )
    this.note(f"first: {first}\nthen: {then}")
    this.check_end(first, work, (0, 1))
    for record in checks.records_below(kept / "stopped").values():
        checks.numbers(record)
    this.check_end(then, work, (0,))
    this.compare(kept / "finished", work)
    return 1


def claims(this: Try) -> int:
    """A killed run whose CLAIM file was replaced by arbitrary content."""
    known = reference(this.folder, PLAIN)
    begin_with(this, PLAIN)
    changes = known.count(CHANGES)
    this.softalign(this.command(PLAIN), Fault("kill-before", this.chance.randint(changes // 4, changes * 3 // 4)))
    (claim,) = this.out.glob("*/*/attempt-001/CLAIM")
    honest = claim.read_bytes()
    hostile = works.hostile_claim(json.loads(honest), this.chance)
    this.note(f"# CLAIM: {hostile[:500]!r}")
    claim.unlink()
    claim.write_bytes(hostile)
    command = this.command(PLAIN)
    for arguments in (command, [str(PROGRAM), "ls", str(this.out)], command + ["--steal"]):
        this.check_end(this.softalign(arguments), PLAIN, (0, 1, 3))
        this.check_readable()
    claim.unlink()
    claim.write_bytes(honest)
    this.finish(PLAIN)
    return 1


READS = ("open", "opendir", "read", "mmap", "stat")
# Errors that the system can return for intact files.
READ_ERRORS = (
    errno.EACCES, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN,
)  # fmt: skip
DAMAGE = re.compile(r"(?<!\.)corrupt|damaged|sweep retry|--force|restarting")


@dataclass(frozen=True)
class Decision:
    """A command that reads the folder of a finished work to decide what to do, and must not repeat finished work."""

    work: Work
    words: tuple[str, ...]
    repeats: bool = True  # its output is the same each time
    writes: str = ""  # suffix of the files that it writes again
    adds: bool = False  # it may add a run
    says: str = ""  # its message on success


SWEEP, STUDY = WORKS["sweep"], WORKS["study"]
DECISIONS = (
    Decision(PLAIN, ("ls", "{out}", "--json")),
    Decision(PLAIN, PLAIN.commands[0]),
    Decision(PLAIN, ("compare", "{out}", "--json")),
    Decision(PLAIN, ("export", "{out}")),
    Decision(PLAIN, ("recover", "{run}"), writes="run.h5"),
    Decision(PLAIN, (*PLAIN.commands[0], "train.epochs=4"), repeats=False, adds=True, says="extending run"),
    Decision(SWEEP, ("sweep", "status", "{out}/small", "--json"), writes="sweep.h5"),
    Decision(SWEEP, ("sweep", "run", "{out}/small"), writes="sweep.h5"),
    Decision(SWEEP, ("sweep", "retry", "{out}/small", "--state", "failed,pruned,corrupt,lost,interrupted"), writes="sweep.h5"),
    Decision(SWEEP, ("compare", "{out}", "--json")),
    Decision(STUDY, STUDY.commands[0], writes="study.json"),
)


@lru_cache(maxsize=None)
def undisturbed(folder: Path, decision: Decision) -> tuple[str, int]:
    """Returns the output of an undisturbed command and its number of reading calls."""
    this = Try(folder / "reference" / f"decision-{DECISIONS.index(decision)}", 0, random.Random(0))
    count = this.folder / "count-of-reads"
    count.unlink(missing_ok=True)
    end = decide(this, reference(folder, decision.work).out, decision, TORTURE_COUNT=str(count))
    this.check_end(end, decision.work, (0,))
    this.expect(decision.says in end.errors, f"'{decision.says}' is missing: {end.errors}")
    _, *calls = struct.unpack(f"{1 + len(ALL_CALLS)}Q", count.read_bytes())
    return without_places(end.output), sum(calls[ALL_CALLS.index(call)] for call in READS)


def without_places(output: str) -> str:
    """Removes the folders before out/ and inputs/, because they differ each time and may be relative."""
    return re.sub(r"[^\s\"]*/(out|inputs)/", r"\1/", output)


def decide(this: Try, finished: Path, decision: Decision, fault: Fault | None = None, **variables: str) -> End:
    """Runs the command on a copy of the finished folder. Faults also hit /proc and the machine ID, which show whether an owner is alive."""
    shutil.copytree(finished, this.out, dirs_exist_ok=True)
    run = sorted(this.out.rglob("run.h5"))[0].parent
    words = Work("", (decision.words,)).command(0, inputs=this.inputs, out=this.out, run=run)
    return this.softalign([str(PROGRAM), *words], fault, TORTURE_BELOW=f"{this.place}:/proc:/etc/machine-id", **variables)


def decisions(this: Try) -> int:
    """Errors (EACCES, EIO, ESTALE, EMFILE, ...) while a command reads what to do next: it must not report intact runs as damaged, move them or train them again."""
    turn, which = divmod(this.number, len(DECISIONS))
    decision = DECISIONS[which]
    said, calls = undisturbed(this.folder, decision)
    finished = reference(this.folder, decision.work).out
    fault = Fault("fail", scattered(turn, calls), READS, this.chance.randrange(2), this.chance.choice(READ_ERRORS))
    end = decide(this, finished, decision, fault)
    this.check_end(end, SWEEP, (0, 1))  # a line for each run
    told = DAMAGE.search(end.output + end.errors)
    this.expect(told is None, f"damage is reported: {end.errors.strip()[-300:]}")
    before, after = ({path: content for path, (_, content) in power_cut.snapshot(out).items()} for out in (finished, this.out))
    wrong = [
        path
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
        and not (decision.writes and path.endswith(decision.writes))
        and not (decision.adds and path not in before)
    ]
    this.expect(not wrong, f"changed: {sorted(wrong)[:5]}")
    if end.status == 0:
        this.expect(not decision.repeats or without_places(end.output) == said, f"other output: {end.output[-300:]}")
        this.expect(decision.says in end.errors, f"trained again: {end.errors.strip()[-300:]}")
    else:
        told = any(words in end.errors for words in (os.strerror(fault.number), "out of memory", "check the disk", "could not be read"))
        this.expect(told, f"the cause is not named: {end.errors.strip()[-300:]}")
    this.check_strays()
    return 1


# Name: campaign and its share of the time.
CAMPAIGNS: dict[str, tuple[Callable[[Try], int], float]] = {
    "kills": (kills, 4),
    "faults": (faults, 3),
    "cuts": (cuts, 6),
    "signals": (signals, 1),
    "races": (races, 1),
    "full_disks": (full_disks, 1),
    "claims": (claims, 0.5),
    "decisions": (decisions, 3),
}
