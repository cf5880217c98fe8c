"""What the README shows works as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The one fenced block of a language."""
    found = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{len(found)} blocks of {language} in README.md"
    return found[0]


@pytest.fixture
def run_h5(softalign, tmp_path: Path) -> Path:
    ran = softalign("run", ROOT / "configs/tiny.yaml", "train.epochs=1")
    assert ran.returncode == 0, ran.stderr
    return next(tmp_path.glob("results/tiny/*/run.h5"))


def test_the_example_draws_an_alignment(run_h5: Path, tmp_path: Path):
    code = block("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 11
    (tmp_path / "draw.py").write_text("import matplotlib\nmatplotlib.use('Agg')\n" + code)
    subprocess.run([sys.executable, "draw.py", run_h5], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "alignment.png").read_bytes().startswith(b"\x89PNG")


def test_the_learning_curve_opens_in_xarray(run_h5: Path):
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(run_h5, group="train") as train:
        assert train.loss.sizes["update"] > 1


def test_the_score_is_one_file(softalign, tmp_path: Path):
    (tmp_path / "cosine.cpp").write_text(block("cpp"), encoding="utf-8")
    compiled = subprocess.run(
        ["c++", "-std=c++20", "-O0", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{ROOT}", "cosine.cpp", "-o", "cosine.so",
         f"-L{BUILD}/lib", "-lsoftalign", "-lfmt"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert compiled.returncode == 0, compiled.stderr
    ran = softalign("run", ROOT / "configs/tiny.yaml", "model.attention.score=cosine", "--plugin", "cosine.so")
    assert ran.returncode == 0, ran.stderr


def test_every_file_that_is_named_exists():
    later = {"results/reverse", "cosine.so", "run.h5", "alignment.png"}
    for name in re.findall(r"(?<![\w/.])((?:configs|experiments|framework|scripts|tests|results)/[\w./-]*[\w/])", README):
        if name not in later and "cosine" not in name and "figures/" not in name:
            assert (ROOT / name).exists(), f"README.md names {name}"


def test_the_five_commands_are_legal(softalign):
    for line in re.findall(r"^    softalign (run|validate) (.*?)$", README, re.MULTILINE):
        spec, *overrides = line[1].split()
        if "model.attention.score=cosine" not in overrides:
            ran = softalign("run", ROOT / spec, *overrides, "--dry-run")
            assert ran.returncode == 0, ran.stderr
