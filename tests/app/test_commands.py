"""The command line: help, typing errors, completion; and commands about plugins and the machine."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
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
    on_terminal,
    softalign,
    trained_run,
    write_corpus,
)
from nightly import NIGHTLY

def commands() -> list[str]:
    """Returns the commands that the help lists."""
    names = re.findall(r"^  ([a-z]+) {3,}", softalign("--help", cwd=Path("/")).stdout, re.MULTILINE)
    assert {"run", "sweep", "verify", "completion"} <= set(names)
    return names


def test_every_command_has_help_with_an_example(tmp_path: Path) -> None:
    for command in commands():
        text = softalign(command, "--help", cwd=tmp_path).stdout
        assert "Example:\n" in text and f"softalign {command}" in text, command


def options_of(*command: str) -> list[list[str]]:
    """Returns the names of each option."""
    text = softalign(*command, "--help", cwd=Path("/")).stdout.partition("Options:")[2].partition("Example:")[0]
    return [names.split(",") for names in re.findall(r"^  (-[\w,-]+)", text, re.MULTILINE)]


def test_every_command_and_option_is_used_by_some_test() -> None:
    folder = Path(__file__).parents[1]
    tests = "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.suffix in (".py", ".cmake", ".sh"))
    for command in commands():
        assert re.search(rf"\b{command}\b", tests), command
        inner = re.findall(r"^  ([a-z]+) {3,}", softalign(command, "--help", cwd=Path("/")).stdout, re.MULTILINE) if command == "sweep" else [""]
        for words in ([command, name] if name else [command] for name in inner):
            for names in options_of(*words):
                used = any(re.search(rf"(?<![\w-]){name}(?![\w-])", tests) for name in names)
                used |= names == ["--no-prune"] and '"retry", ' in tests  # which gives it to its workers
                assert used, f"no test uses {' '.join(words)} {names}"


def test_help_is_a_command_and_that_of_a_bare_group(tmp_path: Path) -> None:
    for words in ([], ["run"], ["sweep"], ["sweep", "run"]):
        assert softalign("help", *words, cwd=tmp_path).stdout == softalign(*words, "--help", cwd=tmp_path).stdout
    bare = softalign("sweep", cwd=tmp_path).stdout
    assert bare == softalign("help", "sweep", cwd=tmp_path).stdout and re.search(r"^  status {3,}", bare, re.MULTILINE)


def test_version(tmp_path: Path) -> None:
    assert softalign("--version", cwd=tmp_path).stdout.startswith("softalign 0.")
    assert softalign("-V", cwd=tmp_path).stdout == softalign("--version", cwd=tmp_path).stdout


@pytest.mark.parametrize("words", [["--help"], ["translate", "--help"], ["help", "sweep", "run"]])
def test_help_fits_the_terminal(tmp_path: Path, words: list[str]) -> None:
    for columns in (70, 100):
        lines = on_terminal(tmp_path, columns, *words, output=True).partition("Options:")[2].partition("Example:")[0].splitlines()
        descriptions = [line for line in lines if line[28:30] == "  "]  # not the name of an option that is longer
        assert len(descriptions) > 10 and max(map(len, descriptions)) <= columns


def test_colours_are_for_terminals_and_those_who_ask(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    run = trained_run(here)
    green, red = "\x1b[32mcomplete\x1b[0m", "\x1b[1;31msoftalign:\x1b[0m "
    assert green in on_terminal(here, 200, "ls", output=True)
    assert "\x1b" not in on_terminal(here, 200, "ls", "--color", "never", output=True)
    assert "\x1b" not in softalign("ls", cwd=here).stdout and green in softalign("ls", "--color=always", cwd=here).stdout
    assert softalign("--color=always", "show", "nowhere", cwd=here, code=2).stderr.startswith(red)
    (run / "run.h5").write_bytes(b"x")
    assert "\x1b[31mcorrupt\x1b[0m" in softalign("ls", "--color=always", cwd=here).stdout
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
        assert "\x1b" not in on_terminal(here, 200, "ls", output=True)
        monkeypatch.delenv("NO_COLOR", raising=False)


def test_what_runs_are_called_colours_nothing(here: Path) -> None:
    softalign("run", "tiny.yaml", "tags=[\"a\\x1b[31mb\"]", cwd=here)
    listed = softalign("ls", "--color=always", cwd=here).stdout
    assert "a\\x1b[31mb" in listed and "\x1b[31m" not in listed


MISTAKES = [
    ["rnu", "x.yaml"], ["run"], [], ["--verison"], ["help", "rnu"], ["help", "sweep", "rnu"], ["ls", "--color", "blue"], ["tiny.yaml"], ["run", "train.epochs=3", "tiny.yaml"], ["ls", "tiny.yaml"],
    ["run", "tiny.yaml", "--thread", "2"], ["run", "tiny.yaml", "--threads", "-1"], ["run", "tiny.yaml", "--threads", "many"],
    ["study", "tiny.yaml", "--threads", "-5"], ["evaluate", "x", "--threads", "-1"], ["list", "--plugin", ""], ["train", "tiny.yaml"],
    ["run", "tiny.yaml", "--epochs", "3"], ["run", "tiny.yaml", "--lr=0.1"], ["run", "tiny.yaml", "--plugin", ""], ["list", "--plugin", "."],
    ["ls", "a\x1b[31m\nb\u009b"], ["show", "x" * 5000], ["list", "scores", "more"], ["list", "scoers"], ["describe", "score", "aditive"],
    ["describe", "score"], ["check", "all", "dot"], ["translate", "x", "--n-best", "0"], ["score", "x", "--source", "a.txt"], ["completion", "csh"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", MISTAKES, ids=lambda words: " ".join(words)[:30])
def test_a_mistake_is_one_short_line(here: Path, arguments: list[str]) -> None:
    line = error(*arguments, cwd=here, code=2)
    assert line.startswith("softalign: ") and line.isprintable() and len(line) < 1100
    assert files_below(here) == ["tiny.yaml"]


def test_numbers_in_options_are_read_as_in_specs(here: Path) -> None:
    """Returns all numeric options of all commands, from their help."""
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
    error("evaluate", "x", "--state", "010", cwd=here, code=2)


def test_validate_reads_the_lines_as_run_does(here: Path) -> None:
    write_corpus(here)
    assert softalign("validate", "text.yaml", cwd=here).stdout.startswith("text.yaml: valid, run ")
    (here / "train.es").write_text("a b\n" * 30)
    assert error("run", "text.yaml", cwd=here, code=3) in softalign("validate", "text.yaml", cwd=here, code=3).stderr


def test_options_without_effect_are_refused(here: Path, trained: Path) -> None:
    for words in (
        ["export", "--module", "nonsense"],
        ["export", "--what", "curves", "--threshold", "0.5"],
        ["export", "--what", "links", "--resamples", "5"],
        ["export", "--what", "links", "--format", "csv"],
        ["export", "--force"],
        ["translate", "--threshold", "0.5"],
        ["translate", "--row-aligns", "read"],
        ["translate", "--force"],
        ["translate", "--ensemble-mean", "probabilities"],
        ["show", "--sentence", "0", "--diagnostic", "cost"],
        ["compare", "--no-tests", "--resamples", "5"],
    ):
        error(words[0], trained, *words[1:], cwd=here, code=2)


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
    assert {option["option"] for option in answer("describe", "spec", "train.early_stopping", cwd=tmp_path)} < set(options)
    assert "unknown key 'train.early'" in error("describe", "spec", "train.early", cwd=tmp_path, code=2)
    for words in (["spec"], ["task", "parallel_text"], ["search", "beam"]):
        assert max(map(len, softalign("describe", *words, cwd=tmp_path).stdout.splitlines())) <= 100
    lines = softalign("describe", "output_layer", "gaussian", cwd=tmp_path).stdout.splitlines()
    assert sum(line.startswith("- ") for line in lines) == 3 and max(map(len, lines)) <= 100
    after = next(line for line in lines if line.startswith("Search draws from p"))
    assert lines[lines.index(after) - 1] != ""
    lines = softalign("describe", "attention", "memory_hops", cwd=tmp_path).stdout.splitlines()
    assert any(line.startswith("  m_j = ") and line.endswith("(equations 1, 2)") for line in lines)


def test_help_leads_to_specs_and_their_keys(tmp_path: Path) -> None:
    text = softalign("--help", cwd=tmp_path).stdout
    assert "softalign describe spec" in text and "share/softalign/" in text and "configs/" in text


def test_counts_of_parameters_say_what_is_not_known(here: Path) -> None:
    write_corpus(here)
    for spec, at_most in (("tiny.yaml", False), ("text.yaml", True)):
        assert answer("parameters", spec, cwd=here)["at_most"] is at_most
        assert ("at most" in softalign("parameters", spec, cwd=here).stdout) is at_most
    assert answer("parameters", "text.yaml", "--symbols", "9", cwd=here)["at_most"] is False
    assert "--symbols" in error("parameters", "text.yaml", "task.vocabulary.from=x", cwd=here, code=2)


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
    assert "is not a folder" in softalign("doctor", cwd=tmp_path, code=1).stdout


@can_be_limited
def test_doctor_ends_where_the_memory_is_too_little_for_python(tmp_path: Path) -> None:
    command = ["sh", "-c", 'ulimit -v 200000; exec "$@"', "sh", PROGRAM, "doctor"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0 and "python3 jinja2" in done.stdout


def script(shell: str) -> str:
    return subprocess.run([str(PROGRAM), "completion", shell], capture_output=True, text=True, check=True).stdout


def offered(*words: str, cwd: Path) -> list[str]:
    """Returns the completions of the last word."""
    return [line.partition("\t")[0] for line in softalign("complete", "--", *words, cwd=cwd).stdout.splitlines()]


def test_words_are_completed(run: Path, tmp_path: Path) -> None:
    def of(*words: str) -> list[str]:
        return offered(*words, cwd=tmp_path)

    assert of("tra") == ["translate"]
    assert set(of("")) == {*commands(), "--help", "--version"}
    assert of("sweep", "pl") == ["plan"] and "run" in of("help", "")
    assert of("run", "tiny.yaml", "--th") == ["--threads"]
    assert of("sweep", "run", "a.yaml", "--on") == ["--only"]
    assert of("export", "--format", "") == ["csv", "json"] and of("export", "--format=c") == ["--format=csv"]
    assert of("completion", "f") == ["fish"]
    assert of("describe", "sco") == ["score"] and of("describe", "sp") == ["spec"]
    assert of("describe", "score", "dot") == ["dot"] and {"additive", "general"} <= set(of("describe", "scores", ""))
    assert of("run", "ti") == []  # the shell offers files
    assert of("show", run.name[:3]) == of("compare", "") == of("verify", "--threads", "1", "") == [run.name]
    assert of("run", "tiny.yaml", "model.encoder.u") == ["model.encoder.units="]
    assert of("run", "tiny.yaml", "record.keep=b") == ["record.keep=best"]
    assert "model.attention.score.type=dot" in of("run", "tiny.yaml", "model.attention.score.type=")
    assert of("run", "tiny.yaml", "model.attention.score=dot", "model.attention.score.u") == []
    assert "train.epochs=" in of("run", "absent.yaml", "train.e")


BASH = """
_completed() { COMP_LINE="$1" COMP_POINT=${#1}; COMPREPLY=(); _softalign 2>/dev/null; printf '%s\\n' "${COMPREPLY[@]}"; }
"""


def test_bash_completes(run: Path, tmp_path: Path) -> None:
    def completed(line: str) -> list[str]:
        environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
        asked = ["bash", "-c", f'{script("bash")}{BASH}_completed "$1"', "bash", line]
        return subprocess.run(asked, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment).stdout.split()

    assert completed("softalign tra") == ["translate"] and completed("softalign describe score d") == ["dot"]
    assert completed("softalign run tiny.yaml record.keep=b") == ["best"]  # what stands before '=' is a word of its own to bash
    assert completed("softalign show ") == [run.name]


def test_fish_completes(run: Path, tmp_path: Path) -> None:
    if not shutil.which("fish"):
        pytest.skip("no fish here")
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    (tmp_path / "softalign.fish").write_text(script("fish"))

    def completed(line: str) -> list[str]:
        asked = ["fish", "--no-config", "-c", f'source softalign.fish; complete -C "{line}"']
        lines = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment).stdout.splitlines()
        return [word.partition("\t")[0] for word in lines]

    assert completed("softalign tra") == ["translate"] and completed("softalign describe score d") == ["dot"]
    assert run.name in completed("softalign show ") and "record.keep=best" in completed("softalign run tiny.yaml record.keep=b")


def test_zsh_completes(run: Path, tmp_path: Path) -> None:
    if not shutil.which("zsh"):
        pytest.skip("no zsh here")
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    (tmp_path / "softalign.zsh").write_text(script("zsh"))
    report = """
compdef() { }; compadd() { [[ $1 == -S ]] && print -l -- ${(P)4}; [[ $1 == -l ]] && print -l -- ${(P)5} }; _files() { print files }
source ./softalign.zsh; words=("$@"); CURRENT=$#; _softalign
"""

    def completed(*words: str) -> list[str]:
        asked = ["zsh", "-f", "-c", report, "zsh", "softalign", *words]
        return subprocess.run(asked, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment).stdout.split()

    assert completed("tra") == ["translate"] and completed("describe", "score", "d") == ["dot"]
    assert completed("show", "") == [run.name] and completed("run", "ti") == ["files"]
    assert completed("run", "tiny.yaml", "model.encoder.u") == ["model.encoder.units="]


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
