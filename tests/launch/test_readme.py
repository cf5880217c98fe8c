"""What the README shows works as it stands there."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
from conftest import BUILD, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
STUDIES = (ROOT / "experiments/README.md").read_text(encoding="utf-8")


def block(language: str, text: str = README) -> str:
    """The one fenced block of a language."""
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{len(found)} blocks of {language}"
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


def test_the_analysis_finds_the_entropies_that_the_run_measured(softalign, tmp_path: Path):
    ran = softalign("run", ROOT / "configs/tiny.yaml", "train.epochs=1", "record.alignments=40")  # all test sentences
    assert ran.returncode == 0, ran.stderr
    (record,) = tmp_path.glob("results/tiny/*/run.h5")
    shown = subprocess.run([sys.executable, ROOT / "experiments/analysis/entropy.py", record], capture_output=True, text=True,
                           check=True, timeout=60).stdout  # fmt: skip
    with h5py.File(record) as file:
        buckets = zip(*(file[f"test/by_length/{name}"][:].tolist() for name in ("n", "attention_entropy")))
    table = [line.split() for line in shown.splitlines()[1:]]
    assert [(int(n), float(entropy)) for _, n, entropy, _ in table] == [(n, round(entropy, 4)) for n, entropy in buckets]
    assert all(0.5 < float(share) <= 1 for *_, share in table)  # hardly trained


def test_the_learning_curve_opens_in_xarray(run_h5: Path):
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(run_h5, group="train") as train:
        assert train.loss.sizes["update"] > 1


def test_the_score_is_one_file(softalign, tmp_path: Path):
    (tmp_path / "angular.cpp").write_text(block("cpp"), encoding="utf-8")
    compiler = os.environ.get("SOFTALIGN_CXX", "c++")  # whose plugins the program takes
    compiled = subprocess.run(
        [compiler, "-std=c++20", "-O0", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{ROOT}", "angular.cpp", "-o", "angular.so",
         f"-L{BUILD}/lib", "-lsoftalign", "-lfmt"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert compiled.returncode == 0, compiled.stderr
    ran = softalign("run", ROOT / "configs/tiny.yaml", "model.attention.score=angular", "--plugin", "angular.so")
    assert ran.returncode == 0, ran.stderr


def test_a_plugin_elsewhere_is_the_project_that_is_shown():
    shown, built = (re.findall(r"^(?:cmake_min|find_|softalign_).*$", text, re.MULTILINE)
                    for text in (block("cmake"), (ROOT / "tests/package/CMakeLists.txt").read_text(encoding="utf-8")))  # fmt: skip
    assert shown == [line.replace("probe", "angular").replace(" 0.1", "") for line in built]


def test_the_study_that_is_shown_runs(softalign, tmp_path: Path):
    file = tmp_path / "experiments/mine/study.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(block("yaml", STUDIES), encoding="utf-8")
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    listed = softalign("study", file, "--dry-run", "--json")
    planned = json.loads(listed.stdout or listed.stderr)
    assert [(run["part"], run["variant"]) for run in planned["runs"][::2]] == [
        ("short", "none"), ("short", "dot"), ("long", "none"), ("long", "dot"), ("long", "additive")]  # fmt: skip
    ran = softalign("study", file)
    assert ran.returncode == 0 and "1. holds" in ran.stdout and "2. open" in ran.stdout, ran.stdout + ran.stderr


def test_the_grammar_of_claims_is_that_of_the_parser():
    header = (ROOT / "framework/launch/statement.hpp").read_text(encoding="utf-8")
    rules = {name: " ".join(rule.split()) for name, rule in re.findall(r"^ +(\w+) +:= (.*)$", STUDIES, re.MULTILINE)}
    assert len(rules) == 6
    for name, rule in rules.items():
        assert re.search(rf"^// +{name} +:= {re.escape(rule)}(  |$)", header, re.MULTILINE), name


def test_every_file_that_is_named_exists():
    later = {"results/reverse", "results/scores", "angular.so", "run.h5", "alignment.png"}
    for name in re.findall(r"(?<![\w/.])((?:configs|experiments|framework|scripts|tests|results)/[\w./-]*[\w/])", README):
        if name not in later and "angular" not in name and "figures/" not in name:
            assert (ROOT / name).exists(), f"README.md names {name}"


def test_the_five_commands_are_legal(softalign):
    for line in re.findall(r"^    softalign (run|validate) (.*?)$", README, re.MULTILINE):
        spec, *overrides = line[1].split()
        if "model.attention.score=angular" not in overrides:
            ran = softalign("run", ROOT / spec, *overrides, "--dry-run")
            assert ran.returncode == 0, ran.stderr
