"""A run shared by several processes has the bits of one process, whichever of them dies."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import PATIENCE, PROGRAM, SANITIZED, answer, softalign, wait_until

pytestmark = [
    pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun: scripts/setup.sh mpi"),
    pytest.mark.skipif(SANITIZED, reason="MPI leaks by design"),
]
GROUPS = ["train.groups=4", "task.examples.train=640", "train.epochs=40"]
DEAD = 30  # seconds after which all ranks have ended


def mpi(ranks: int, *arguments: object, cwd: Path, program: list[str] | None = None, command: str = "run") -> subprocess.Popen[str]:
    as_root = {f"{mpi}_ALLOW_RUN_AS_ROOT{confirm}": "1" for mpi in ("OMPI", "PRTE") for confirm in ("", "_CONFIRM")}  # Open MPI 4 and 5
    environment = {**os.environ, **as_root}
    words = ["mpirun", "--oversubscribe", "-n", str(ranks), *(program or [str(PROGRAM)]), *command.split(), *map(str, arguments), "--mpi"]
    return subprocess.Popen(words, cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def shared(ranks: int, *arguments: object, cwd: Path, code: int = 0, **more: Any) -> tuple[str, list[str]]:
    """Returns standard output and the messages on standard error."""
    process = mpi(ranks, *arguments, cwd=cwd, **more)
    output, errors = process.communicate(timeout=120 * PATIENCE)
    assert process.returncode == code, output + errors
    return output, [line for line in errors.splitlines() if line.startswith("softalign: ")]


def ranks_of(process: subprocess.Popen[str]) -> list[int]:
    """Returns the processes that mpirun has started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return sorted(int(child) for child in children)


@pytest.fixture()
def alone(here: Path) -> str:
    """Returns the record of the run by one process."""
    return str(answer("run", "tiny.yaml", *GROUPS, "--results", "alone", cwd=here)["record"])


def same_bits(here: Path, alone: str, results: str) -> bool:
    (record,) = (here / results).glob("*/*/run.h5")
    return bool(answer("diff", alone, record, cwd=here, code=None)["same_bits"])


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_have_the_bits_of_one_process(here: Path, alone: str, ranks: int) -> None:
    output, errors = shared(ranks, "tiny.yaml", *GROUPS, "--results", "shared", "--json", "--threads", 1, cwd=here)
    assert json.loads(output)["was_complete"] is False  # only one rank writes
    assert errors == []
    assert same_bits(here, alone, "shared")
    output, _ = shared(ranks, "tiny.yaml", *GROUPS, "--results", "shared", "--json", cwd=here)
    assert json.loads(output)["was_complete"] is True


def test_mpirun_without_mpi_is_noted_once(here: Path) -> None:
    environment = {**os.environ, "OMPI_COMM_WORLD_SIZE": "2"}
    for rank, notes in (("0", 1), ("1", 0)):
        done = softalign("run", "tiny.yaml", "--dry-run", cwd=here, env={**environment, "OMPI_COMM_WORLD_RANK": rank})
        assert done.stderr.count("--mpi shares one run") == notes


def test_threads_are_those_that_a_rank_may_use(here: Path) -> None:
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("one processor")
    process = subprocess.run(["taskset", "-c", str(min(os.sched_getaffinity(0))), PROGRAM, "validate", "tiny.yaml"], cwd=here, capture_output=True, text=True)
    assert "on 1 thread" in process.stdout, process.stdout


def test_mpi_without_mpirun_is_a_process_alone(here: Path) -> None:
    assert answer("run", "tiny.yaml", "--mpi", cwd=here)["was_complete"] is False


@pytest.mark.parametrize(
    "ranks, override, text",
    [
        (4, "train.groups=2", "4 ranks, but train.groups is 2"),
        (2, "seed=1", "2 ranks, but train.groups is 1"),
        (3, "train.groups=4", "3 ranks; their number must be a power of two"),
        (2, "train.groups=3", "must be a power of two"),
        (2, "train.groups=32", "must divide train.batch.sentences"),
        (2, "train.colour=red", "unknown key"),
    ],
)
def test_one_rank_refuses_what_cannot_be_shared(here: Path, ranks: int, override: str, text: str) -> None:
    _, errors = shared(ranks, "tiny.yaml", override, cwd=here, code=2)
    assert len(errors) == 1 and text in errors[0], errors
    assert not (here / "results").exists()


def test_ranks_with_different_specs_are_refused(here: Path) -> None:
    own = ["sh", "-c", f'exec {PROGRAM} "$@" seed=$((OMPI_COMM_WORLD_RANK / 3))', "sh"]  # rank 3 has another seed
    _, errors = shared(4, "tiny.yaml", *GROUPS, cwd=here, code=2, program=own)
    assert len(errors) == 1 and "rank 3: spec and data of run " in errors[0] and " on rank 0" in errors[0]


@pytest.mark.parametrize("more", ["--dry-run", "seed=1,2"])
def test_ranks_with_different_options_are_refused(here: Path, more: str) -> None:
    own = ["sh", "-c", f'[ $OMPI_COMM_WORLD_RANK = 1 ] && set -- "$@" {more}; exec {PROGRAM} "$@"', "sh"]
    _, errors = shared(2, "tiny.yaml", *GROUPS, cwd=here, code=2, program=own)
    assert len(errors) == 1 and "rank 1: " in errors[0] and "but 1 run on rank 0" in errors[0]


@pytest.mark.parametrize("rank", [0, 1])
def test_wrong_overrides_of_one_rank_end_all(here: Path, rank: int) -> None:
    own = ["sh", "-c", f'[ $OMPI_COMM_WORLD_RANK = {rank} ] && set -- "$@" train.groups=2; exec {PROGRAM} "$@"', "sh"]  # for the second time
    process = mpi(2, "tiny.yaml", *GROUPS, cwd=here, program=own)
    _, errors = process.communicate(timeout=DEAD * PATIENCE)
    assert process.returncode == 2 and errors.count("softalign: ") == 1 and "train.groups" in errors


def test_ranks_with_different_plugins_are_refused(here: Path) -> None:
    for rank, end in ((0, b""), (1, b"other bytes")):
        (here / str(rank)).mkdir()
        (here / str(rank) / "angular.so").write_bytes((PROGRAM.parents[1] / "lib/angular.so").read_bytes() + end)
    own = ["sh", "-c", f'exec {PROGRAM} "$@" --plugin $OMPI_COMM_WORLD_RANK/angular.so', "sh"]
    _, errors = shared(2, "tiny.yaml", *GROUPS, "model.attention.score=angular", cwd=here, code=2, program=own)
    assert len(errors) == 1 and errors[0].count("angular.so ") == 2


def test_a_rank_without_the_spec_is_named(here: Path) -> None:
    (here / "elsewhere").mkdir()
    own = ["sh", "-c", f'[ $OMPI_COMM_WORLD_RANK = 1 ] && cd elsewhere; exec {PROGRAM} "$@"', "sh"]
    _, errors = shared(2, "tiny.yaml", *GROUPS, cwd=here, code=2, program=own)
    assert len(errors) == 1 and "rank 1: " in errors[0] and "tiny.yaml" in errors[0]


def test_a_stopped_run_is_saved_and_resumed(here: Path, alone: str) -> None:
    process = mpi(2, "tiny.yaml", *GROUPS, "--results", "shared", cwd=here)
    wait_until(lambda: any('"updates": 0' not in status.read_text() for status in here.glob("shared/*/*/status.json")))
    for rank in ranks_of(process):
        os.kill(rank, signal.SIGTERM)
    _, errors = process.communicate(timeout=DEAD * PATIENCE)
    assert "the state is saved" in errors
    shared(4, "tiny.yaml", *GROUPS, "--results", "shared", cwd=here)
    assert same_bits(here, alone, "shared")


@pytest.mark.parametrize("seed", range(3))
def test_all_ranks_end_with_one_and_any_number_resumes(here: Path, alone: str, seed: int) -> None:
    draw = random.Random(seed)
    for ranks in (4, 2):
        process = mpi(ranks, "tiny.yaml", *GROUPS, "--results", "shared", cwd=here)
        time.sleep(draw.uniform(0.3, 1.5))
        if process.poll() is None and (alive := ranks_of(process)):
            os.kill(draw.choice(alive), signal.SIGKILL)
        process.communicate(timeout=DEAD * PATIENCE)
    shared(draw.choice([1, 2, 4]), "tiny.yaml", *GROUPS, "--results", "shared", cwd=here)
    assert same_bits(here, alone, "shared")


def test_ranks_share_a_row_of_a_sweep(here: Path) -> None:
    (here / "sweep.yaml").write_text("name: small\nbase: tiny.yaml\noverrides: [train.groups=2]\nparameters: {train.epochs: {values: [2, 3]}}\nseeds: [1]\n")
    for results in ("alone", "shared"):
        softalign("sweep", "plan", "sweep.yaml", "--results", results, cwd=here)
    softalign("sweep", "work", "alone/small", "--row", 1, cwd=here)
    for end in ("complete: ", "complete already: "):
        output, errors = shared(2, "shared/small", "--row", 1, cwd=here, command="sweep work")
        assert output.startswith(end) and errors == []
    (a,), (b,) = (list((here / results).glob("*/*/run.h5")) for results in ("alone", "shared"))
    assert answer("diff", a, b, cwd=here, code=None)["same_bits"]
    # A failure before the run begins releases the other rank.
    for row, code, text in ((7, 2, "the plan has rows 0 to 1"), (0, 3, "is a link")):
        if row == 0:
            (here / "shared/small/failures").symlink_to(here)
        assert text in shared(2, "shared/small", "--row", row, cwd=here, code=code, command="sweep work")[1][-1]


def test_a_seed_that_fails_ends_all_ranks(here: Path) -> None:
    _, errors = shared(2, "tiny.yaml", *GROUPS, "seed=1,2", "--results", "/proc/nowhere", cwd=here, code=1)
    assert len(errors) == 1 and "/proc/nowhere" in errors[0]


def test_a_build_without_mpi_says_so(here: Path, tmp_path: Path) -> None:
    lacking = tmp_path / "lacking"
    (lacking / "bin").mkdir(parents=True)
    shutil.copy(PROGRAM, lacking / "bin")
    (lacking / "lib").mkdir()
    library = PROGRAM.parents[1] / "lib" / "libsoftalign.so.0"
    shutil.copy(library.resolve(), lacking / "lib" / library.name)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(lacking / "lib"), "LD_PRELOAD": str(lacking / "lib" / library.name)}
    done = subprocess.run([lacking / "bin" / "softalign", "run", "tiny.yaml", "--mpi"], cwd=here, env=environment, capture_output=True, text=True)
    assert done.returncode != 0 and "scripts/setup.sh mpi build" in done.stderr


