#!/usr/bin/python3
"""Times `softalign ls` and `compare` over many runs, with and without a run index.

ls.py [--runs N] [--repeat K] [--folder DIR]: makes N run folders of one name from one real tiny run. Prints the times of calls
while the runs are new and after they have settled (best and median of K for repeatable calls). Each folder is as a real run would
leave it, with its own seed, learning rate, identity, id, sealed record, status and claim; journals and checkpoints are hard links
to those of the first run.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from softalign_tools.files import printable

PROGRAM = Path(os.environ.get("SOFTALIGN_BINARY_DIR", ROOT / "build/release")).absolute() / "bin/softalign"
FIRST_SEED = 1_000_000  # all seeds have the same number of digits, so that text in a record can be replaced in place
SEAL = 20  # bytes after a record
SETTLES = 10  # seconds for which a file must be unchanged before it is cached (framework/data/cache.cpp)


def sealed(record: bytes) -> bytes:
    """A record followed by the seal of its bytes (framework/record/hdf5/hdf5.hpp)."""
    return record + b"SOFTSEAL" + struct.pack("<QI", len(record), zlib.crc32(record))


def run_one(results: Path, program: Path = PROGRAM) -> Path:
    """Trains a real run, from which the others are copied, and returns its folder."""
    command = [str(program), "run", str(ROOT / "configs/tiny.yaml"), f"seed={FIRST_SEED}", "--results", str(results)]
    subprocess.run(command, check=True, capture_output=True)
    (run,) = results.glob("tiny/*")
    return run


def copy_run(run: Path, number: int) -> Path:
    """Makes the `number`-th copy: the files of the first run with another seed, learning rate and id. Returns its folder."""
    exchange = [
        (f'"seed":{FIRST_SEED}'.encode(), f'"seed":{FIRST_SEED + number}'.encode()),
        (f"seed: {FIRST_SEED}".encode(), f"seed: {FIRST_SEED + number}".encode()),
        (b'"learning_rate":0.01', b'"learning_rate":0.0%d' % (1 + number % 5)),
        (b"learning_rate: 0.01", b"learning_rate: 0.0%d" % (1 + number % 5)),
    ]

    def changed(text: bytes) -> bytes:
        for old, new in exchange:
            text = text.replace(old, new)
        return text

    identity = changed((run / "identity.json").read_bytes())
    run_id = hashlib.sha256(identity).hexdigest()[:16]
    copy = run.with_name(run_id)
    attempt = copy / "attempt-001"
    attempt.mkdir(parents=True)
    (copy / "identity.json").write_bytes(identity)
    (copy / "spec.yaml").write_bytes(changed((run / "spec.yaml").read_bytes()))
    record = io.BytesIO(changed((run / "run.h5").read_bytes()[:-SEAL]))
    with h5py.File(record, "r+") as file:
        file.attrs.modify("run_id", np.bytes_(run_id))
    (copy / "run.h5").write_bytes(sealed(record.getvalue()))
    shutil.copy(run / "status.json", copy)
    for name in ("CLAIM", "RELEASED"):
        shutil.copy(run / "attempt-001" / name, attempt)
    os.link(run / "journal-001.jrnl", copy / "journal-001.jrnl")
    shutil.copytree(run / "ckpt", copy / "ckpt", copy_function=os.link)
    return copy


def make_runs(results: Path, runs: int, program: Path = PROGRAM) -> list[Path]:
    """Makes `runs` run folders below results/tiny and returns them. The first is a real run."""
    first = run_one(results, program)
    return [first, *(copy_run(first, number) for number in range(1, runs))]


def measure(folder: Path, runs: int, repeat: int) -> None:
    """Prints one line of times for every kind of call."""
    results = folder / "results"
    make_runs(results, runs)

    def timed(*arguments: str, cache: Path | None) -> tuple[float, subprocess.CompletedProcess[str]]:
        environment = os.environ | {"SOFTALIGN_CACHE": str(cache or "")}
        start = time.perf_counter()
        done = subprocess.run([str(PROGRAM), *arguments], check=True, capture_output=True, env=environment, text=True)
        return time.perf_counter() - start, done

    def ls(*arguments: str, cache: Path | None) -> float:
        seconds, done = timed("ls", str(results), *arguments, cache=cache)
        found = done.stdout.count('"complete"' if "--json" in arguments else " complete ")
        assert found == runs and not done.stderr, f"{found} of {runs} runs are whole: {done.stderr[:1000]}"
        return seconds

    index = folder / "cache"
    print("made just now:", *(f"{ls(cache=index):.2f} s" for _ in range(3)), flush=True)
    time.sleep(SETTLES + 2)
    print(f"settled, for the first time: {ls(cache=index):.2f} s; no cache: {ls(cache=None):.2f} s", flush=True)
    times = sorted(timed("compare", str(results), cache=index)[0] for _ in range(repeat))
    print(f"compare: best {times[0]:.2f} s, median {times[len(times) // 2]:.2f} s of {repeat}", flush=True)
    (file,) = index.glob("runs/*")
    print(f"index of {file.stat().st_size / 1e6:.1f} MB")
    for arguments in ([], ["--json"], ["--state", "complete", "--sort", "dev/loss"]):
        times = sorted(ls(*arguments, cache=index) for _ in range(repeat))
        what = " ".join(["warm", *arguments])
        print(f"{what}: best {times[0]:.3f} s, median {times[len(times) // 2]:.3f} s of {repeat}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000, metavar="N")
    parser.add_argument("--repeat", type=int, default=7, metavar="K")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where the runs go and stay (default: a scratch folder)")
    arguments = parser.parse_args()
    if arguments.runs < 1 or arguments.repeat < 1:
        parser.error("--runs and --repeat are at least 1")
    if arguments.folder:
        if arguments.folder.exists() and (not arguments.folder.is_dir() or any(arguments.folder.iterdir())):
            parser.error(printable(f"--folder {arguments.folder}: is no empty folder, which the runs need"))
        measure(arguments.folder, arguments.runs, arguments.repeat)
        return
    with tempfile.TemporaryDirectory(prefix="softalign-bench-ls-") as scratch:
        measure(Path(scratch), arguments.runs, arguments.repeat)


if __name__ == "__main__":
    main()
