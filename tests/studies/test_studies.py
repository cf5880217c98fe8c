"""The studies in their tiny form (one; all of them in nightly tests), the pages written from their records, and the published pages."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import PROGRAM, softalign
from nightly import NIGHTLY

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts/studies.sh"
STUDIES = sorted(file.parent.name for file in ROOT.glob("experiments/*/study.yaml")) if NIGHTLY else ["controls"]
PUBLISHED = sorted(file.parent for file in ROOT.glob("results/studies/*/README.md"))
MOST = 20e6  # bytes of all pages together


def studies(*words: object, code: int = 0) -> str:
    done = subprocess.run([SCRIPT, *map(str, words)], env=os.environ | {"SOFTALIGN_PROGRAM": str(PROGRAM)}, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def shipped(name: str) -> str:
    """Returns the name of the study. Skips the test if its corpus is missing."""
    if (ROOT / "experiments" / name / "PACKAGES").exists() and not (ROOT / "experiments" / name / "data").exists():
        pytest.skip(f"the corpus of {name} is not shipped and was not built")
    return name


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs the studies in their tiny form; returns the folder with their records and pages."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOFTALIGN_CACHE", str(tmp_path_factory.mktemp("cache")))  # a hundred runs read the same corpora
        studies("--tiny", "--results", folder, *STUDIES)
    there = [name for name in STUDIES if (folder / f"{name}-tiny").exists()]
    assert len(there) >= max(1, len(STUDIES) - 1)
    studies("--tiny", "--pages", "--results", folder, *there)
    return folder


@pytest.mark.parametrize("name", STUDIES)
def test_every_run_is_complete_and_every_claim_judged(name: str, out: Path):
    study = json.loads((out / f"{shipped(name)}-tiny/study.json").read_text())
    assert {run["state"] for run in study["runs"]} == {"complete"}
    assert len(study["claims"]) > 0 and "unknown" not in {claim["verdict"] for claim in study["claims"]}


@pytest.mark.parametrize("text", ["1", '{"runs": [{}]}', '{"claims": 1}', '{"tables": [{"metric": 1}]}', "nested"])
def test_a_damaged_study_is_named(out: Path, tmp_path: Path, text: str):
    name = "controls"
    folder = shutil.copytree(out / f"{name}-tiny", tmp_path / f"{name}-tiny")
    study = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps(study | json.loads(text)) if text[0] == "{" else text.replace("nested", "[" * 3000))
    assert f"study_pages: {folder}/study.json: " in studies("--tiny", "--pages", "--results", tmp_path, name, code=3)


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_has_the_numbers_of_the_records(name: str, out: Path):
    study = json.loads((out / f"{shipped(name)}-tiny/study.json").read_text())
    page = out / f"studies/{name}-tiny"
    runs, claims = rows(page / "runs.csv"), rows(page / "claims.csv")
    assert [(run["part"], run["variant"], int(run["seed"]), run["run_id"]) for run in runs] == [
        (run["part"], run["variant"], run["seed"], run["run_id"]) for run in study["runs"]]  # fmt: skip
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT[\d:]+Z", run["started"]) and run["git_commit"] and run["cpu_model"] for run in runs)
    assert all(float(run["test/perplexity"]) > 1 for run in runs)
    assert [(claim["claim"], claim["verdict"]) for claim in claims] == [(claim["claim"], claim["verdict"]) for claim in study["claims"]]
    for claim in claims:
        if claim["verdict"] in ("holds", "fails", "undecided"):
            assert float(claim["difference"]) == pytest.approx(float(claim["left"]) - float(claim["right"]))
            if claim["low"]:  # empty for claims about diagnostics, which are not bootstrapped
                assert float(claim["low"]) <= float(claim["high"])
                assert int(claim["seeds"]) == 1 or 0 < float(claim["p"]) <= 1
            assert int(claim["seeds_held"]) <= int(claim["seeds"]) == len({run["seed"] for run in runs})
    text = (page / "README.md").read_text()
    assert text.count("| `") >= len(claims) and all(claim["claim"].replace("|", "\\|") in text for claim in claims)
    figures = re.findall(r"\]\((\w+\.png)\)", text)
    assert figures and all((page / figure).read_bytes().startswith(b"\x89PNG") for figure in figures)


@pytest.mark.parametrize("name", [name for name in STUDIES if not (ROOT / "experiments" / name / "PACKAGES").exists()])
def test_the_page_has_a_record_that_verifies(name: str, out: Path):
    assert "the same bits again" in softalign("verify", out / f"studies/{name}-tiny/record.h5", cwd=ROOT).stdout


def recomputed(page: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["/usr/bin/python3", ROOT / "scripts/recompute.py", page], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", STUDIES)
def test_the_claims_can_be_recomputed_from_the_table(name: str, out: Path, tmp_path: Path):
    page = shutil.copytree(out / f"studies/{shipped(name)}-tiny", tmp_path / name)
    assert (done := recomputed(page)).returncode == 0, done.stdout + done.stderr
    claims = rows(page / "claims.csv")
    other = next(claim for claim in claims if claim["low"])
    text = (page / "claims.csv").read_text()
    (page / "claims.csv").write_text(text.replace(other["low"], str(float(other["low"]) + 1e-3)))
    assert (done := recomputed(page)).returncode == 1 and "DIFFERS" in done.stdout
    (page / "table.h5").unlink()
    assert (done := recomputed(page)).returncode == 1 and "table.h5" in done.stdout and not done.stderr
    (page / "claims.csv").write_text(f"{text.splitlines()[0]}\n[].append(0)>0,holds,holds\n")
    shutil.copy(out / f"studies/{shipped(name)}-tiny/table.h5", page)
    assert (done := recomputed(page)).returncode == 1 and "not a sum" in done.stdout and not done.stderr


@pytest.mark.parametrize("page", [page for page in PUBLISHED if (page / "table.h5").exists()], ids=lambda page: page.name)
def test_published_claims_can_be_recomputed(page: Path):
    assert (done := recomputed(page)).returncode == 0, done.stdout + done.stderr


def test_the_summary_is_that_of_the_pages(tmp_path: Path):
    for file in (ROOT / "results/README.md", *ROOT.glob("results/studies/*/README.md"), *ROOT.glob("results/studies/*/claims.csv")):
        (copy := tmp_path / file.relative_to(ROOT / "results")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    text = (tmp_path / "README.md").read_text()
    write = "import sys, pathlib; from softalign_tools.study_findings import write_summary; write_summary(pathlib.Path(sys.argv[1]))"
    subprocess.run(["/usr/bin/python3", "-c", write, tmp_path], env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")}, check=True)
    assert (tmp_path / "README.md").read_text() == text and text.count("\n## [") == len(PUBLISHED)


@pytest.mark.parametrize("page", [page for page in PUBLISHED if (ROOT / "experiments" / page.name / "finding.md").exists()], ids=lambda page: page.name)
def test_a_finding_has_the_numbers_of_the_table(page: Path, tmp_path: Path):
    write = """
import csv, pathlib, sys
from softalign_tools import study_findings
page = pathlib.Path(sys.argv[1])
numbers = ("difference", "low", "high", "p_holm")
with (page / "claims.csv").open() as lines:
    claims = [{key: float(row[key]) if row[key] else None for key in numbers} for row in csv.DictReader(lines)]
text = study_findings.filled(page.name, claims, page / "table.h5")
print(study_findings.relinked(text, "experiments/" + page.name, "results/studies/" + page.name))
"""
    done = subprocess.run(["/usr/bin/python3", "-c", write, page], env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in (page / "README.md").read_text() and "`{" not in done.stdout


@pytest.mark.parametrize("formula, reason", [("`{0}`", "0"), ("`{99}`", "99"), ("`{blue(bible/additive)}`", "blue"), ("`{bleu(bible/none)}`", "none"), ("`{x}`", "not a sum"), ("`{v[9]}`", "index"), ("{1}", "backticks")])
def test_a_formula_without_a_number_is_named(formula: str, reason: str, tmp_path: Path):
    (tmp_path / "speed").mkdir()
    (tmp_path / "speed/finding.md").write_text(f"It has {formula} points.\n")
    write = """
import pathlib, sys
from softalign_tools import study_findings
study_findings.EXPERIMENTS = pathlib.Path(sys.argv[1])
study_findings.filled("speed", [{"difference": 1, "low": None}], pathlib.Path(sys.argv[2]))
"""
    command = ["/usr/bin/python3", "-c", write, tmp_path, ROOT / "results/studies/speed/table.h5"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")}, capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert "OutputError: experiments/speed/finding.md: " in last and formula in last and reason in last


def test_a_page_is_of_the_study_as_it_is(out: Path, tmp_path: Path):
    shutil.copytree(out / "controls-tiny", tmp_path / "controls-tiny")
    command = [PROGRAM, "study", ROOT / "experiments/controls/study.yaml", "--tiny", "seed=9", "--results", tmp_path]
    subprocess.run(command, capture_output=True, check=True)
    assert "is not in study.json; run the study again" in studies("--tiny", "--pages", "--results", tmp_path, "controls", code=3)


def test_a_page_has_the_claims_of_the_file(out: Path, tmp_path: Path):
    shutil.copytree(out / "controls-tiny", tmp_path / "controls-tiny")
    file = tmp_path / "controls-tiny/study.json"
    study = json.loads(file.read_text())
    for claims in (study["claims"][1:], [*study["claims"][1:], study["claims"][0] | {"claim": "loss(a/b) > 0"}]):
        file.write_text(json.dumps(study | {"claims": claims}))
        assert "study.yaml: has other claims than study.json" in studies("--tiny", "--pages", "--results", tmp_path, "controls", code=3)


def test_started_again_it_runs_nothing_and_writes_the_same(out: Path):
    name = "controls"
    before = {file: file.read_bytes() for file in (out / f"studies/{name}-tiny").iterdir() if file.suffix != ".h5"}
    assert "begins" not in studies("--tiny", "--results", out, name)
    studies("--tiny", "--pages", "--results", out, name)
    assert {file: file.read_bytes() for file in before} == before


def test_a_page_replaces_nothing_of_others_and_is_of_its_study(out: Path, tmp_path: Path):
    page = tmp_path / "studies/controls-tiny"
    page.mkdir(parents=True)
    (page / "runs.csv").write_text("mine")
    shutil.copytree(out / "controls-tiny", tmp_path / "controls-tiny")
    studies("--tiny", "--pages", "--results", tmp_path, "controls", code=2)
    assert [(file.name, file.read_text()) for file in page.iterdir()] == [("runs.csv", "mine")]
    (tmp_path / "controls-tiny").rename(tmp_path / "precision-tiny")
    studies("--tiny", "--pages", "--results", tmp_path, "precision", code=3)
    assert not (tmp_path / "studies/precision-tiny").exists()


def test_a_part_that_cannot_be_compared_has_no_page(out: Path, tmp_path: Path):
    shutil.copytree(out / "controls-tiny", tmp_path / "controls-tiny")
    softalign("study", ROOT / "experiments/controls/study.yaml", "--tiny", "--results", tmp_path, "--only", "reverse/global", "evaluate.row_aligns=read", cwd=tmp_path)
    assert "part 'reverse': pointing_accuracy: values with different signatures" in studies("--tiny", "--pages", "--results", tmp_path, "controls", code=3)


def test_a_page_loses_pictures_of_parts_that_are_gone(out: Path, tmp_path: Path):
    for folder in ("controls-tiny", "studies/controls-tiny"):
        shutil.copytree(out / folder, tmp_path / folder)
    page = tmp_path / "studies/controls-tiny"
    names = {file.name for file in page.iterdir()}
    shutil.copy(page / "reverse.png", page / "gone.png")
    (page / "notes.txt").write_text("mine")
    studies("--tiny", "--pages", "--results", tmp_path, "controls")
    assert {file.name for file in page.iterdir()} == names | {"notes.txt"}


@pytest.mark.nightly
def test_a_script_wants_its_own_study_and_a_figure_that_can_be_drawn(out: Path, tmp_path: Path):
    for study, words, code in (("controls", [], 3), ("bottleneck", ["--metric", "nope"], 3), ("bottleneck", ["--output", "figure.xyz"], 2)):
        script = [ROOT / "experiments/bottleneck/capacity.py", out / f"{study}-tiny", *words]
        assert subprocess.run(script, cwd=tmp_path, capture_output=True, check=False).returncode == code


def test_what_is_wrong_is_refused(tmp_path: Path):
    for words in (["--results", "--tiny"], ["nothing"], ["--pagse"]):
        studies(*words, code=2)
    studies("--pages", "--results", tmp_path, "controls", code=3)
    (tmp_path / "controls").mkdir()
    for content in ("", "\xff", "{", "[]", "{}"):
        (tmp_path / "controls/study.json").write_text(content, encoding="latin-1")
        assert "study.json: " in studies("--pages", "--results", tmp_path, "controls", code=3)


def test_a_page_is_not_written_of_a_damaged_record(out: Path, tmp_path: Path):
    shutil.copytree(out / "controls-tiny", tmp_path / "controls-tiny")
    record = next((tmp_path / "controls-tiny").glob("*/*/run.h5"))
    record.write_bytes(record.read_bytes()[:-100])
    assert "run.h5: is missing or damaged; " in studies("--tiny", "--pages", "--results", tmp_path, "controls", code=3)


@pytest.mark.parametrize("page", PUBLISHED, ids=lambda page: page.name)
def test_a_published_page_is_whole(page: Path, tmp_path: Path):
    runs = rows(page / "runs.csv")
    assert len({run["seed"] for run in runs}) >= 3
    assert {claim["verdict"] for claim in rows(page / "claims.csv")} <= {"holds", "fails", "undecided"}, "every claim is judged"
    if (page / "record.h5").exists():
        assert "the same bits again" in softalign("verify", page / "record.h5", cwd=tmp_path).stdout


@pytest.mark.nightly
def test_the_diagonal_is_a_row_beside_the_aligners(out: Path, tmp_path: Path):
    for name, text in (("source", "a b c d"), ("target", "x y"), ("gold", "1-0 3-1")):
        (tmp_path / name).write_text(text + "\n")
    options = [word for name in ("source", "target", "gold") for word in (f"--{name}", tmp_path / name)]
    done = subprocess.run(
        [ROOT / "experiments/alignment_quality/directions.py", out / "alignment_quality-tiny", *options],
        env=os.environ | {"SOFTALIGN_PROGRAM": str(PROGRAM)}, capture_output=True, text=True, check=True)  # fmt: skip
    assert "| diagonal | 100.00 | 100.00 | 0.00 |" in done.stdout


def test_the_published_pages_are_small():
    assert sum(file.stat().st_size for file in ROOT.glob("results/studies/**/*") if file.is_file()) <= MOST
