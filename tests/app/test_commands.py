"""The command line itself: help, mistakes, completion; and the commands about plugins and the machine."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import time
from pathlib import Path

import h5py
import pytest

from command_line import (
    PROGRAM,
    SANITIZED,
    TINY,
    answer,
    can_be_limited,
    error,
    files_below,
    softalign,
    trained_run,
    write_corpus,
)
from nightly import NIGHTLY

def commands() -> list[str]:
    """As the help names them."""
    names = re.findall(r"^  ([a-z]+) {3,}", softalign("--help", cwd=Path("/")).stdout, re.MULTILINE)
    assert {"run", "sweep", "verify", "completion"} <= set(names)
    return names


def test_every_command_has_help_with_an_example(tmp_path: Path) -> None:
    for command in commands():
        text = softalign(command, "--help", cwd=tmp_path).stdout
        assert "Example:\n" in text and f"softalign {command}" in text, command


def test_version(tmp_path: Path) -> None:
    assert softalign("--version", cwd=tmp_path).stdout.startswith("softalign 0.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu", "x.yaml"], "unknown command 'rnu'; did you mean 'run'?"),
        (["run"], "spec is required; see softalign run --help"),
        ([], "no command; see softalign --help"),
        (["--verison"], "unknown option '--verison'; see softalign --help"),
        (["help"], "unknown command 'help'; see softalign --help, and softalign COMMAND --help"),
        (["tiny.yaml"], "unknown command 'tiny.yaml'; did you mean 'run tiny.yaml'?"),
        (["run", "train.epochs=3", "tiny.yaml"], "override 1 ('tiny.yaml'): is a spec; name it before what changes it"),
        (["ls", "tiny.yaml"], "tiny.yaml: not a folder; "),
        (["run", "tiny.yaml", "--thread", "2"], "unknown option '--thread'; did you mean '--threads'?"),
        (["run", "tiny.yaml", "--threads", "-1"], "--threads: "),
        (["run", "tiny.yaml", "--threads", "many"], "--threads"),
        (["study", "tiny.yaml", "--threads", "-5"], "--threads: expected an integer in [0, 1024], got '-5'"),
        (["evaluate", "x", "--threads", "-1"], "--threads: expected an integer in [0, 1024], got '-1'"),
        (["list", "--plugin", ""], "--plugin: no file is named"),
        (["train", "tiny.yaml"], "unknown command 'train'; did you mean 'run'?"),
        (["run", "tiny.yaml", "--epochs", "3"], "unknown option '--epochs'; options of the spec are written as train.epochs=VALUE"),
        (["run", "tiny.yaml", "--lr=0.1"], "unknown option '--lr=0.1'; options of the spec are written as train.optimizer.learning_rate=VALUE"),
        (["run", "tiny.yaml", "--plugin", ""], "--plugin: no file is named"),
        (["list", "--plugin", "."], ""),
        (["ls", "a\x1b[31m\nb\u009b"], "a\\x1b[31m\\nb\\xc2\\x9b: no such folder"),
        (["list", "scores", "more"], "'more' is one argument too many"),
        (["list", "scoers"], "unknown kind 'scoers'; did you mean 'score'?"),
        (["describe", "score", "aditive"], "unknown score 'aditive'; did you mean 'additive'?"),
        (["describe", "score"], "describe which score?"),
        (["check", "all", "dot"], "check all takes no name"),
        (["translate", "x", "--n-best", "0"], "--n-best: expected an integer in [1, 1000], got '0'"),
        (["score", "x", "--source", "a.txt"], "--target is required"),
        (["completion", "fish"], "shell: fish not in {bash}"),
    ],
)
def test_a_mistake_is_one_line_with_the_remedy(here: Path, arguments: list[str], message: str) -> None:
    line = error(*arguments, cwd=here, code=2)
    assert line.startswith(f"softalign: {message}"), line
    assert files_below(here) == ["tiny.yaml"]


def test_numbers_in_options_are_read_as_in_specs(here: Path) -> None:
    """Every option of every command that is a number, found in its help."""
    numbers = [
        ([*command, name], kind)
        for command in [[name] for name in commands()] + [["sweep", name] for name in ("run", "retry", "work")]
        for name, kind in re.findall(r"(--[a-z-]+) (INT|UINT|FLOAT|UPDATE|N)\b", softalign(*command, "--help", cwd=here).stdout)
    ]
    assert {" ".join(words) for words, _ in numbers} >= {"show --sentence", "sweep work --row", "verify --from", "translate --threshold"}
    octal = "leading zeros are refused, YAML reads them as octal"
    for at, (words, kind) in enumerate(numbers):
        assert octal in error(*words, "01" if kind == "FLOAT" else "010", cwd=here, code=2), words
        wrong = ["0x1", "nan", "1_0", "9223372036854775808" if kind != "FLOAT" else "1e-46"]
        for text in wrong if NIGHTLY else wrong[at % 4 : at % 4 + 1]:
            assert f"{words[-1]}: expected a" in error(*words, text, cwd=here, code=2), (words, text)
    assert octal in error("parameters", "tiny.yaml", "--lengths", "20,010", cwd=here, code=2)
    assert "'010' is neither best nor last nor an update's number" in error("evaluate", "x", "--state", "010", cwd=here, code=2)


def test_a_hint_leads_to_the_option_that_was_meant(here: Path) -> None:
    write_corpus(here)
    for spec, change, hint in (
        ("tiny.yaml", "train.lr=0.1", "unknown key 'lr' in train; did you mean train.optimizer.learning_rate? legal: "),
        ("text.yaml", "vocabulary.size=100", "unknown key 'vocabulary' in the spec; did you mean task.vocabulary? legal: "),
        ("tiny.yaml", "batch_size=3", "; did you mean train.batch.sentences? legal: "),
        ("tiny.yaml", "task.train=50", "; did you mean task.length.train or task.examples.train or train? legal: "),
        ("tiny.yaml", "model.encoder=GRU", "; did you mean 'gru'? legal: "),
        ("tiny.yaml", "model.attention=dot", "; 'dot' is a score: write model.attention.score=dot"),
        ("tiny.yaml", "model.encoder=attentional_gru", "; 'attentional_gru' is a decoder"),
    ):
        assert hint in error("validate", spec, change, cwd=here, code=2), change


def test_validate_reads_the_lines_as_run_does(here: Path) -> None:
    write_corpus(here)
    assert softalign("validate", "text.yaml", cwd=here).stdout.startswith("text.yaml: valid, run ")
    (here / "train.es").write_text("a b\n" * 30)
    fault = f"{here}/train.en has 20 lines and {here}/train.es has 30; line k of one must belong to line k of the other"
    assert fault in softalign("validate", "text.yaml", cwd=here, code=3).stderr
    assert fault in error("run", "text.yaml", cwd=here, code=3)


def test_options_without_effect_are_refused(here: Path, trained: Path) -> None:
    for words, fault in (
        (["export", trained, "--module", "nonsense"], "--module: has no effect on runs; leave it out, or add --what links"),
        (["export", trained, "--what", "curves", "--threshold", "0.5"], "--threshold: has no effect on curves"),
        (["export", trained, "--what", "links", "--resamples", "5"], "--resamples: has no effect on links"),
        (["export", trained, "--what", "links", "--format", "csv"], "--format: links have one format only"),
        (["export", trained, "--force"], "--force requires --output"),
        (["translate", trained, "--threshold", "0.5"], "--threshold requires --links"),
        (["translate", trained, "--row-aligns", "read"], "--row-aligns requires --links"),
        (["translate", trained, "--force"], "--force: no file is written"),
        (["show", trained, "--sentence", "0", "--diagnostic", "cost"], "--sentence excludes --diagnostic"),
        (["compare", trained, "--no-tests", "--trials", "5"], "--trials excludes --no-tests"),
        (["translate", trained, "--average", "probabilities"], "--average requires --ensemble"),
    ):
        assert fault in error(*words, cwd=here, code=2), words


@pytest.mark.parametrize("command, code", [(["run", "tiny.yaml", "--out"], 3), (["show"], 2), (["ls"], 2)])
def test_a_message_is_never_longer_than_a_screen(here: Path, command: list[str], code: int) -> None:
    line = error(*command, "x" * 5000, cwd=here, code=code)
    assert len(line) < 1100 and " … " in line


def test_output_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(PROGRAM), "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and done.stderr.startswith("softalign: standard output cannot be written")


def test_list_knows_singular_and_plural_and_is_fast(tmp_path: Path) -> None:
    one = softalign("list", "score", cwd=tmp_path).stdout
    assert one == softalign("list", "scores", cwd=tmp_path).stdout
    names = [line.split()[1] for line in one.splitlines()]
    assert names[0] == "name" and names[1:] == sorted(names[1:]) and {"additive", "dot", "general"} <= set(names)
    assert softalign("list", "searches", cwd=tmp_path).stdout.splitlines()[1].split()[1] == "beam"
    listed = answer("list", cwd=tmp_path)
    assert {"kind": "score", "name": "dot", "summary": "s · h (Luong et al. 2015)",
            "source": "framework/plugins/scores/dot.cpp"} in listed  # fmt: skip
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        softalign("list", cwd=tmp_path)
        times.append(time.perf_counter() - begin)
    assert SANITIZED or min(times) < 0.15  # 0.02 s on an idle machine


def test_describe(tmp_path: Path) -> None:
    text = softalign("describe", "search", "beam", cwd=tmp_path).stdout
    assert "framework/plugins/searches/beam.cpp" in text
    assert any(line.split()[:4] == ["width", "integer", "5", "in"] for line in text.splitlines())
    options = {option["option"]: option for option in answer("describe", "spec", cwd=tmp_path)}
    assert options["task"]["required"] is True
    assert options["train.early_stopping.patience"]["default"] == "5"
    assert all(option["help"] for option in options.values())


def test_check(tmp_path: Path) -> None:
    results = answer("check", "scores", cwd=tmp_path)
    assert {"additive", "dot", "general"} <= {r["name"] for r in results} and all(r["passed"] for r in results)
    text = softalign("check", "score", "dot", cwd=tmp_path).stdout
    assert "score dot  gradients" in text and text.splitlines()[-1].endswith("checks passed")


def test_doctor(tmp_path: Path) -> None:
    findings = {finding["what"]: finding for finding in answer("doctor", cwd=tmp_path)}
    assert float(findings["speed, 1 thread"]["found"].split()[0]) > 0
    assert findings["results"]["well"] and findings["matrix products"]["found"] in (
        "AVX-512 with bfloat16", "AVX-512", "AVX2", "portable")
    assert files_below(tmp_path) == []
    (tmp_path / "results").write_text("a file, no folder")
    assert "is no folder" in softalign("doctor", cwd=tmp_path, code=1).stdout


@can_be_limited
def test_doctor_ends_where_the_memory_is_too_little_for_python(tmp_path: Path) -> None:
    command = ["sh", "-c", 'ulimit -v 200000; exec "$@"', "sh", PROGRAM, "doctor"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0 and "python3 jinja2" in done.stdout


def completed(*words: str) -> list[str]:
    """What bash offers for the last word."""
    script = subprocess.run([str(PROGRAM), "completion", "bash"], capture_output=True, text=True, check=True).stdout
    quoted = " ".join(f"'{word}'" for word in ("softalign", *words))
    ask = f'{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _softalign; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completion(tmp_path: Path) -> None:
    assert completed("tra") == ["translate"]
    assert set(completed("")) == {*commands(), "--help", "--version"}
    assert completed("run", "tiny.yaml", "--th") == ["--threads"]
    assert completed("describe", "sco") == ["score"]
    assert completed("describe", "sp") == ["spec"]
    assert completed("describe", "score", "dot") == ["dot"]
    assert {"additive", "dot", "general"} <= set(completed("describe", "score", ""))
    assert completed("run", "ti") == []  # bash goes on with files


def test_json_stays_json_when_a_file_name_is_no_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"sp\xffec.yaml")
    (tmp_path / name).write_text("seed: 1\n")
    done = softalign("validate", name, "--json", cwd=tmp_path, code=2)
    assert json.loads(done.stdout)[0]["valid"] is False


def test_numbers_of_a_column_have_one_format(here: Path) -> None:
    run = trained_run(here, "evaluate.lengths=[3]")
    with h5py.File(run / "run.h5", "a") as file:
        file["test"].attrs["bleu"] = 1.0234
        file["test/by_length/bleu"][:] = [0.024, 3.8e-06]
        file["test/by_length/perplexity"][:] = [0.024, math.inf]
        file["test/by_length/loss"][:] = [58819506035293265920.0, 1234567.891]
    lines = [line.split() for line in softalign("show", run, cwd=here).stdout.splitlines()]
    (header,) = [line for line in lines if line[:2] == ["length", "n"]]
    table = {row[0]: dict(zip(header, row)) for row in lines[lines.index(header) + 1 :][:3]}
    assert [table[row]["bleu"] for row in ("1-3", "4+", "all")] == ["0.02", "0.00", "1.02"]
    assert [table[row]["perplexity"] for row in ("1-3", "4+")] == ["0.024", "inf"]
    assert [table[row]["loss"] for row in ("1-3", "4+")] == ["5.88e+19", "1234567.89"]


def test_the_python_of_scripts_is_the_one_that_is_set_else_the_active_environment_s(tmp_path: Path) -> None:
    def stand_in(path: Path) -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#!/bin/sh\ncase $1 in -c) echo 9.9 ;; *) echo "$0 runs $(basename "$1")" ;; esac\n')
        path.chmod(0o755)
        return str(path)

    mine, active, conda = stand_in(tmp_path / "mine"), stand_in(tmp_path / "active/bin/python3"), stand_in(tmp_path / "conda/bin/python3")
    sweep = "name: s\nbase: tiny.yaml\nmethod: optuna\nrun_cap: 1\nmetric: {name: dev/loss}\nparameters:\n  train.optimizer.learning_rate: {distribution: log_uniform_values, min: 0.001, max: 0.1}\n"
    (tmp_path / "sweep.yaml").write_text(sweep)
    (tmp_path / "tiny.yaml").write_text(TINY)
    none = {**os.environ, "SOFTALIGN_PYTHON": "", "VIRTUAL_ENV": "", "CONDA_PREFIX": ""}
    for environment, expected in (
        ({"SOFTALIGN_PYTHON": mine, "VIRTUAL_ENV": f"{tmp_path}/active"}, mine),
        ({"VIRTUAL_ENV": f"{tmp_path}/active", "CONDA_PREFIX": f"{tmp_path}/conda"}, active),
        ({"VIRTUAL_ENV": f"{tmp_path}/nowhere", "CONDA_PREFIX": f"{tmp_path}/conda"}, conda),
        ({}, "/usr/bin/python3"),
    ):
        environment = none | environment
        facts = {line["what"]: line["found"] for line in json.loads(softalign("doctor", "--json", cwd=tmp_path, env=environment).stdout)}
        assert f"{expected} jinja2" in facts
        if expected != "/usr/bin/python3":
            assert facts[f"{expected} jinja2"] == "9.9"
            for words, script in ((["report", "."], "report.py"), (["sweep", "run", "sweep.yaml"], "optuna_sweep.py")):
                assert softalign(*words, cwd=tmp_path, env=environment).stdout == f"{expected} runs {script}\n"
    assert "cannot be started" in error("report", ".", cwd=tmp_path, env=none | {"SOFTALIGN_PYTHON": "/nowhere/python3"}, code=1)
