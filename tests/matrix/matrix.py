#!/usr/bin/python3
"""Verifies the published records in many environments: compilers, optimisation, C libraries, processors, numbers of threads.

Each cell builds softalign its own way into build/matrix/ (or takes build/release), runs every record of results/published/ again
and compares all bits. Needs Debian and the packages of the group `matrix`, which scripts/setup.sh installs; root for the cells that
unpack another Debian. All cells take about an hour on two cores; one whose build exists takes seconds.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MATRIX = ROOT / "build" / "matrix"
RECORDS = sorted((ROOT / "results" / "published").glob("*.h5"))
NATIVE = ROOT / "build" / "release"


def call(*command: object) -> None:
    """Runs a command, its output into build/matrix/log. Raises CalledProcessError."""
    MATRIX.mkdir(parents=True, exist_ok=True)
    with open(MATRIX / "log", "a", encoding="utf-8") as log:
        print("$", *command, file=log, flush=True)
        subprocess.run([str(part) for part in command], check=True, stdout=log, stderr=log, cwd=ROOT)


def compiled(name: str, *settings: str) -> Callable[[], list[str]]:
    """Makes a separate build."""

    def make() -> list[str]:
        folder = MATRIX / name
        call("cmake", "-G", "Ninja", "-B", folder, "-DSOFTALIGN_TESTS=OFF", *settings)
        call("cmake", "--build", folder, "--target", "softalign")
        return [str(folder / "bin" / "softalign")]

    return make


def native(*prefix: str) -> Callable[[], list[str]]:
    return lambda: [*prefix, str(NATIVE / "bin" / "softalign")]


def packages() -> list[str]:
    """Returns the libraries of scripts/packages.txt with which the program and its tests are built."""
    text = (ROOT / "scripts" / "packages.txt").read_text(encoding="utf-8")
    groups = [text.partition(f"[{group}]")[2].partition("\n[")[0] for group in ("build", "tests")]
    return re.findall(r"^\S+-dev\b", "".join(groups), re.MULTILINE)


def aarch64() -> list[str]:
    """Builds for 64-bit ARM: Debian's libraries are unpacked, not installed, because they cannot run here."""
    root = MATRIX / "aarch64-root"
    done = root / "unpacked"
    if not done.exists():
        shutil.rmtree(root, ignore_errors=True)
        include = ",".join([*packages(), "libstdc++-12-dev"])
        call("debootstrap", "--arch=arm64", "--foreign", "--variant=minbase", f"--include={include}", "bookworm", root)
        for package in sorted((root / "var/cache/apt/archives").glob("*.deb")):
            call("dpkg", "-x", package, root)
        libraries = root / "usr/lib/aarch64-linux-gnu"
        for link in [path for path in root.rglob("*") if path.is_symlink()]:  # that begin at the root of another system
            target = os.readlink(link)
            if target.startswith("/") and (root / target[1:]).exists():
                link.unlink()
                link.symlink_to(os.path.relpath(root / target[1:], link.parent))
        for name in ("libblas.so", "libblas.so.3", "liblapack.so", "liblapack.so.3", "libopenblas.so.0"):
            if not (libraries / name).exists():  # which the packages make when they are installed
                (libraries / name).symlink_to(f"openblas-pthread/{name}")
        done.touch()
    toolchain = ("-DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake", f"-DSOFTALIGN_ROOT={root}", "-DCMAKE_BUILD_TYPE=Release")
    return ["qemu-aarch64", "-L", str(root), *compiled("aarch64", *toolchain)()]


UNIT_TESTS = {  # a qemu is 40 times slower
    "kernels": [],
    "eval": [],
    "train": ["--run_test=training_step,optimizers,schedules", "--run_test=!training_step/how_a_batch_is_cut_sets_no_bits"],
}


def aarch64_tests() -> list[str]:
    """Builds the unit tests of computations; the others need libraries that cannot run here."""
    command = aarch64()
    call("cmake", "-B", MATRIX / "aarch64", "-DSOFTALIGN_TESTS=ON")
    call("cmake", "--build", MATRIX / "aarch64", "--target", *(f"test_{name}" for name in UNIT_TESTS))
    return command[:-1]


def trixie() -> list[str]:
    """Builds in a root of Debian 13, with another compiler, C library and version of every library."""
    root = MATRIX / "trixie-root"
    if not (root / "ready").exists():
        shutil.rmtree(root, ignore_errors=True)
        call("debootstrap", "--variant=minbase", "--include=git,ca-certificates", "trixie", root)
        (root / "ready").touch()
    project = root / "project"
    project.mkdir(exist_ok=True)
    for path in project.iterdir():
        if path.name != "build":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    call("sh", "-c", f"git ls-files -z | xargs -0 cp --parents --preserve=timestamps -t {project}")
    inside = ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', str(root)]
    call(*inside, "/project/scripts/setup.sh", "build")
    return [*inside, "/project/build/release/bin/softalign"]


@dataclass
class Cell:
    """One environment."""

    what: str
    make: Callable[[], list[str]]  # builds it and returns the command that runs the program
    threads: int = 2
    environment: dict[str, str] = field(default_factory=dict)
    place: str = str(ROOT)  # of the project, as the program sees it
    tests: bool = False  # unit tests instead of records


OPTIMISED = "-DCMAKE_BUILD_TYPE=Release"
CELLS = {
    "release": Cell("as users build it", native()),
    "threads-1": Cell("one thread", native(), threads=1),
    "threads-3": Cell("three threads", native(), threads=3),
    "threads-8": Cell("eight threads", native(), threads=8),
    "avx2": Cell("products by AVX2", native(), environment={"SOFTALIGN_ISA": "avx2"}),
    "sse2": Cell("products by the portable code", native(), environment={"SOFTALIGN_ISA": "sse2"}),
    "haswell": Cell("a Haswell, by qemu: AVX2, no AVX-512", native("qemu-x86_64", "-cpu", "Haswell")),
    "nehalem": Cell("a Nehalem, by qemu: no AVX, no FMA", native("qemu-x86_64", "-cpu", "Nehalem")),
    "gcc-O0": Cell("g++, -O0", compiled("gcc-O0", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0")),
    "gcc-O2": Cell("g++, -O2", compiled("gcc-O2", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O2")),
    "gcc-lto": Cell("g++, -O3, link-time optimisation", compiled("gcc-lto", OPTIMISED, "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON")),
    "clang-14": Cell("clang 14, -O3", compiled("clang-14", OPTIMISED, "-DCMAKE_CXX_COMPILER=clang++-14")),
    "clang-19": Cell("clang 19, -O3", compiled("clang-19", OPTIMISED, "-DCMAKE_CXX_COMPILER=clang++-19")),
    "trixie": Cell("Debian 13: g++ 14, glibc 2.41", trixie, place="/project"),
    "aarch64": Cell("64-bit ARM, by qemu: NEON", aarch64),
    "aarch64-tests": Cell(f"the same, unit tests of {', '.join(UNIT_TESTS)}", aarch64_tests, tests=True),
}


def verify(cell: Cell, command: list[str]) -> list[str]:
    """Returns the records with other bits, each with the program's message."""
    different = []
    for record in RECORDS:
        here = f"{cell.place}/{record.relative_to(ROOT)}"
        done = subprocess.run([*command, "verify", here, "--threads", str(cell.threads)], capture_output=True, text=True,
                              env=os.environ | cell.environment, cwd=ROOT, check=False)  # fmt: skip
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            different.append(f"{record.stem}: {lines[-1]}")
    return different


def failing(command: list[str]) -> list[str]:
    """Returns the unit tests that fail, each with its last line."""
    failed = []
    for name, options in UNIT_TESTS.items():
        done = subprocess.run([*command, MATRIX / "aarch64" / "bin" / f"test_{name}", *options], capture_output=True, text=True,
                              env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, cwd=ROOT, check=False)  # fmt: skip
        if done.returncode:
            failed.append(f"{name}: {(done.stderr.strip().splitlines() or [f'exit status {done.returncode}'])[-1]}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="*", metavar="CELL", help=f"only these, of {', '.join(CELLS)} (default: all)")
    names = parser.parse_args().cells or list(CELLS)
    if unknown := [name for name in names if name not in CELLS]:
        parser.error(f"there is no cell '{unknown[0]}'; choose from {', '.join(CELLS)}")
    if not RECORDS:
        parser.error("results/published/ holds no records")
    failed = False
    print(f"| environment | {len(RECORDS)} records | seconds |\n| --- | --- | ---: |")
    for name in names:
        cell = CELLS[name]
        try:
            command = cell.make()
            start = time.monotonic()
            different = failing(command) if cell.tests else verify(cell, command)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"| {cell.what} | could not be built: {error}; see build/matrix/log | |", flush=True)
            failed = True
            continue
        print(f"| {cell.what} | {'; '.join(different) or ('all pass' if cell.tests else 'the same bits')} | {time.monotonic() - start:.0f} |", flush=True)
        failed = failed or bool(different)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
