"""The arithmetic gives the same bits by every compiler that is here, at every level of optimisation, and on 64-bit ARM.

A sample that takes seconds: the kernels alone. matrix.py verifies whole records.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BINARIES = Path(os.environ.get("SOFTALIGN_BINARY_DIR", "build/release")).absolute()
PROGRAM = ROOT / "tests" / "matrix" / "arithmetic.cpp"
FRAMEWORK = ROOT / "framework"
SOURCES = [*sorted(FRAMEWORK.glob("kernels/gemm*.cpp")), *(FRAMEWORK / "kernels" / f"{name}.cpp" for name in ("elementwise", "transpose", "work")),
           *(FRAMEWORK / "base" / f"{name}.cpp" for name in ("arena", "elementary", "text"))]  # fmt: skip
COMPILERS = {
    "g++ -O0": ["g++", "-O0"],
    "clang++-19 -O3": ["clang++-19", "-O3"],
    "ARM g++ -O2": ["aarch64-linux-gnu-g++", "-O2", "-static"],
}


def flags_of(source: Path) -> list[str]:
    """Returns the flags of the build that affect results."""
    entries = json.loads((BINARIES / "compile_commands.json").read_text(encoding="utf-8"))

    def compiles(entry: dict[str, str]) -> bool:  # alone, or with its folder
        file = Path(entry["file"])
        return file == source or (file.parent.name == "Unity" and f'"{source}"' in file.read_text(encoding="utf-8"))

    words = next(shlex.split(entry["command"]) for entry in entries if "libsoftalign.dir" in entry["command"] and compiles(entry))
    return [word for word in words if word.startswith(("-f", "-m", "-std")) and "pch" not in word]


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns headers of libraries that are the same for all processors: fmt and UTF-8."""
    folder = tmp_path_factory.mktemp("headers")
    (folder / "fmt").symlink_to("/usr/include/fmt")
    for header in Path("/usr/include/utf8cpp").iterdir():
        (folder / header.name).symlink_to(header)
    return folder


def run(program: Path, *emulator: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Returns the digests by kind of arithmetic, and those of products by each kernel."""
    done = subprocess.run([*emulator, program], check=True, capture_output=True, text=True)
    kernels = {line.rsplit(" ", 2)[0]: line.split()[-2:] for line in done.stderr.splitlines()}
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines()), kernels


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Returns the digests of the library of this build."""
    program = tmp_path_factory.mktemp("built") / "arithmetic"
    compiler = os.environ.get("SOFTALIGN_CXX", "c++")
    subprocess.run([compiler, *flags_of(SOURCES[0]), "-DFMT_SHARED", "-I", ROOT, PROGRAM, "-o", program, "-L", BINARIES / "lib", "-lsoftalign",
                    "-lfmt", f"-Wl,-rpath,{BINARIES / 'lib'}"], check=True)  # fmt: skip
    found, _ = run(program)
    return found


@pytest.mark.parametrize("name", COMPILERS)
def test_the_arithmetic_has_the_same_bits(name: str, built: dict[str, str], headers: Path, tmp_path: Path) -> None:
    compiler, *how = COMPILERS[name]
    arm = compiler.startswith("aarch64")
    for needed in (compiler, *(["qemu-aarch64"] if arm else [])):
        if shutil.which(needed) is None:
            pytest.skip(f"{needed} is not installed (scripts/setup.sh matrix)")
    command = [*(["ccache"] if shutil.which("ccache") else []), compiler, *how]
    objects = []
    for source in (PROGRAM, *SOURCES):
        flags = flags_of(SOURCES[0] if source == PROGRAM else source)
        flags = [flag for flag in flags if "sanitize" not in flag and not (arm and flag.startswith("-m"))]
        objects.append(tmp_path / f"{source.stem}.o")
        subprocess.run([*command, *flags, "-DFMT_HEADER_ONLY", "-I", ROOT, "-isystem", headers, "-c", source, "-o", objects[-1]], check=True)
    subprocess.run([compiler, *how, *objects, "-o", tmp_path / "arithmetic"], check=True)
    found, kernels = run(tmp_path / "arithmetic", *(["qemu-aarch64"] if arm else []))
    assert len(set(map(tuple, kernels.values()))) == 1, kernels
    assert "portable" in kernels and ("NEON" in kernels) == arm
    assert found == built
    assert len(found) == len(set(found.values())) == 12
