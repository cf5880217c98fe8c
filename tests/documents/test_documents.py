"""Runs every block of code in the documents.

The blocks of one document are run together, those of all documents in one folder: it looks like this repository, with smaller specs. A
block is saved where the text before it says so ("Save this as `NAME`"). `sh` is run by bash; `python` that is not saved reads run.h5 and
sweep.h5 of small runs, or uses the package after the commands; `text` is output. A block that is not run says why in a comment before it.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import h5py
import pytest
from command_line import BINARIES as BUILD
from command_line import answer, softalign
from nightly import NIGHTLY

ROOT = Path(__file__).parents[2]

DOCUMENTS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("**/*.md")
                   if not path.relative_to(ROOT).parts[0].startswith((".", "build")))  # fmt: skip
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run by the tests: (.+?) -->\s*$", re.DOTALL)
SAVED = re.compile(r"[Ss]ave this (?:\w+ )*as `([\w./-]+)`")
SMALLER = {r"\btrain: 20000\b.*": "train: 100", r"\btest: 1000\b.*": "test: 50", r"\bepochs: \d+\b.*": "epochs: 1", r"units: \d+": "units: 8",
           r"((?<!_)gru\b[^\n]*?\n? +units: )8": r"\g<1>4"}  # an annotation has two of them, and is as wide as the decoder
PYTHON = """import sys, matplotlib, h5py, numpy as np
matplotlib.use("Agg")
import matplotlib.pyplot as plt
sys.argv[1:] = ["run.h5"]
f = h5py.File("run.h5")
"""


@dataclass
class Block:
    language: str
    code: str
    name: str  # of the file that it is saved as, "" for none
    not_run: str  # why

    @property
    def uses_package(self) -> bool:
        return self.language == "python" and not self.name and "softalign_lab" in self.code


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document: str) -> list[Block]:
    text, found, end = text_of(document), [], 0
    for match in BLOCK.finditer(text):
        before = text[end : match.start()]
        reason, names = NOT_RUN.search(before), SAVED.findall(before)
        found.append(Block(match[1], match[2], names[-1] if names else "", reason[1] if reason else ""))
        end = match.end()
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_says_what_it_is(document: str):
    assert {block.language for block in blocks(document)} <= {"sh", "python", "yaml", "cpp", "cmake", "text"}
    prose = BLOCK.sub("", text_of(document))
    assert not re.findall(r"^    (?:softalign|scripts/|cmake|export|import)\b.*", prose, re.MULTILINE), "an indented block is not run"


def run(words: list[str], place: Path, code: str = "", path: str = "") -> str:
    environment = {"PATH": f"{path}:{BUILD}/bin:/usr/bin:/bin", "HOME": str(place), "MPLBACKEND": "Agg", "SOFTALIGN": str(ROOT), "LANG": "C.UTF-8", "PYTHONPATH": f"{BUILD}/python"}
    done = subprocess.run(words, cwd=place, input=code, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{code}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder like this repository, with small specs, and run.h5 and sweep.h5."""
    place = tmp_path_factory.mktemp("repository")
    for name in ("scripts", "framework", "tests"):
        (place / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "configs", place / "configs")
    for spec in [*place.glob("configs/*.yaml"), *place.glob("configs/sweeps/*.yaml")]:
        text = spec.read_text()
        for pattern, small in SMALLER.items():
            text = re.sub(pattern, small, text)
        spec.write_text(text)
    (place / "experiments").mkdir()
    (place / "experiments/bible_en_es").symlink_to(ROOT / "experiments/bible_en_es")
    (place / "build").mkdir()
    (place / "build/release").symlink_to(BUILD)
    return place


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with run.h5 and sweep.h5."""
    place = tmp_path_factory.mktemp("records")
    (place / "sweep.yaml").write_text(f"name: s\nbase: {ROOT}/configs/tiny.yaml\nparameters:\n"
                                      "  model.attention.score.type: {values: [additive, dot, general, scaled_dot]}\n")  # fmt: skip
    run(["softalign", "sweep", "run", "sweep.yaml"], place)
    shutil.copy(next(place.glob("results/s/*/run.h5")), place / "run.h5")
    shutil.copy(place / "results/s/sweep.h5", place / "sweep.h5")
    return place


def compiled(sources: list[str], place: Path, name: str) -> None:
    """Compiles these plugins to one shared object, because their common headers take most of the time."""
    compiler = os.environ.get("SOFTALIGN_CXX", "c++")  # whose plugins the program takes
    (place / f"{name}.cpp").write_text("\n".join(sources), encoding="utf-8")
    run([compiler, "-std=c++20", "-O0", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{ROOT}", f"{name}.cpp", "-o", f"{name}.so",
         f"-L{BUILD}/lib", "-lsoftalign", "-lfmt"], place)  # fmt: skip


def plugged(source: str, place: Path) -> str:
    """Returns a folder with a `softalign` that loads the plugin, like a build of the repository with this file."""
    compiled([source], place, "plugin")
    (place / "build/release").unlink()
    folder = place / "build/release/bin"
    folder.mkdir(parents=True)
    (folder / "softalign").write_text(
        f'#!/bin/sh\ncase $1 in run | check) set -- "$@" --plugin {place}/plugin.so ;; esac\nexec {BUILD}/bin/softalign "$@"\n'
    )
    (folder / "softalign").chmod(0o755)
    return str(folder)


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with NAME.so for each plugin that a document saves as NAME.cpp: one file for all, but separate ones in nightly tests."""
    place = tmp_path_factory.mktemp("plugins")
    shown = {Path(b.name).stem: b.code for document in DOCUMENTS for b in blocks(document)
             if b.language == "cpp" and b.name and not b.name.startswith("framework/")}  # fmt: skip
    if NIGHTLY:
        for name, code in shown.items():
            compiled([code], place, name)
        return place
    compiled(list(shown.values()), place, "all")
    for name in shown:
        (place / f"{name}.so").hardlink_to(place / "all.so")
    return place


@pytest.mark.parametrize("document", [document for document in DOCUMENTS if any(b.language == "sh" for b in blocks(document))])
def test_the_commands_run(document: str, repository: Path, tmp_path: Path, request: pytest.FixtureRequest):
    place, path, commands = repository, "", ""
    as_shown = "empty folder" in text_of(document)  # with its own specs, so its output is that which is shown
    if as_shown:
        place = repository / "empty"
        place.mkdir()
    for block in blocks(document):
        if block.not_run:
            continue
        if block.language == "cpp" and block.name.startswith("framework/"):
            path = plugged(block.code, place)
        elif block.language == "cpp":
            shutil.copy(request.getfixturevalue("plugins") / f"{Path(block.name).stem}.so", place)
        elif block.name:
            (place / block.name).parent.mkdir(parents=True, exist_ok=True)
            (place / block.name).write_text(block.code, encoding="utf-8")
        elif block.language == "sh":
            commands += block.code
    output = run(["bash", "-euxo", "pipefail"], place, commands, path)
    package = "\n".join(block.code for block in blocks(document) if block.uses_package and not block.not_run)
    if package and (BUILD / "python/softalign_lab/_core.pyi").exists():
        if "optuna" in package:
            pytest.importorskip("optuna")
        (tmp_path / "configs").symlink_to(place / "configs")  # without the runs of a program that knows the document's plugin
        run([sys.executable, "-"], tmp_path, package)
    if as_shown:
        assert all(block.code in output for block in blocks(document) if block.language == "text"), output


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if any(b.language == "python" and not (b.name or b.uses_package) for b in blocks(d))])
def test_the_python_runs(document: str, records: Path):
    code = "\n".join(block.code for block in blocks(document) if block.language == "python" and not (block.not_run or block.uses_package))
    if "xarray" in code:
        pytest.importorskip("xarray")
    (records / "code.py").write_text(PYTHON + code)
    run([sys.executable, "code.py"], records)
    assert (records / "alignment.png").read_bytes().startswith(b"\x89PNG")


def test_the_analysis_finds_the_entropies_that_the_run_measured(tmp_path: Path):
    softalign("run", ROOT / "configs/tiny.yaml", "train.epochs=1", "record.alignments=40", cwd=tmp_path)  # all test sentences
    (record,) = tmp_path.glob("results/tiny/*/run.h5")
    shown = run([sys.executable, str(ROOT / "experiments/analysis/entropy.py"), str(record)], tmp_path)
    with h5py.File(record) as file:
        buckets = zip(*(file[f"test/by_length/{name}"][:].tolist() for name in ("n", "attention_entropy")))
    table = [line.split() for line in shown.splitlines()[1:]]
    assert [(int(n), float(entropy)) for _, n, entropy, _ in table] == [(n, round(entropy, 4)) for n, entropy in buckets]
    assert all(0.5 < float(share) <= 1 for *_, share in table)  # hardly trained


def test_a_plugin_elsewhere_is_the_project_that_is_shown():
    (block,) = [block for block in blocks("framework/plugins/README.md") if block.language == "cmake"]
    shown, built = (re.findall(r"^(?:cmake_min|find_|softalign_).*$", text, re.MULTILINE)
                    for text in (block.code, text_of("tests/package/CMakeLists.txt")))  # fmt: skip
    assert shown == [line.replace("probe", "angular").replace(" 0.1", "") for line in built]


def test_the_study_that_is_shown_says_what_the_text_says(tmp_path: Path):
    study = next(block for block in blocks("experiments/README.md") if block.language == "yaml")
    file = tmp_path / study.name
    file.parent.mkdir(parents=True)
    file.write_text(study.code, encoding="utf-8")
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    planned = answer("study", file, "--dry-run", cwd=tmp_path)
    assert [(run["part"], run["variant"]) for run in planned["runs"][::3]] == [
        ("short", "none"), ("short", "dot"), ("long", "none"), ("long", "dot"), ("long", "additive")]  # fmt: skip
    ran = softalign("study", file, cwd=tmp_path)
    assert "1. holds" in ran.stdout and "2. open" in ran.stdout, ran.stdout + ran.stderr


def test_the_grammar_of_claims_is_that_of_the_parser():
    header = text_of("framework/study/claim.hpp")
    rules = re.findall(r"^(\w+) +:= (.*)$", text_of("experiments/README.md"), re.MULTILINE)
    assert len(rules) == 8
    for name, rule in rules:
        assert re.search(rf"^// +{name} +:= {re.escape(rule)}(  |$)", header, re.MULTILINE), name


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_that_is_named_exists(document: str):
    names = re.findall(r"(?<![\w/.<>*])((?:configs|experiments|framework|scripts|tests)/[\w./-]*\w)", text_of(document))
    made = [block.name for block in blocks(document)]
    if document != "CHANGELOG.md":
        assert not [name for name in names if name not in made and "NAME" not in name and not (ROOT / name).exists()]
