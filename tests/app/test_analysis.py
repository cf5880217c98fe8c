"""Commands about several runs: compare, diff, export."""

from __future__ import annotations

import csv
import errno
import io
import itertools
import json
import re
import shutil
import statistics
from pathlib import Path
from typing import Any

import pytest

from command_line import TINY, answer, error, interrupt, on_terminal, softalign, started, trained_run, unreadable, wait_until

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")
numpy = pytest.importorskip("numpy")  # comes with it
pandas = pytest.importorskip("pandas", reason="python3-pandas is not installed")


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a working folder with runs below results/: two scores with two seeds each, and no attention with one seed."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "tiny.yaml").write_text(TINY)
    for seed in (1, 2):
        for score in ("additive", "general"):
            softalign("run", "tiny.yaml", f"seed={seed}", f"model.attention.score={score}", "train.epochs=30", cwd=folder)
    softalign("run", "tiny.yaml", "seed=2", "model.attention=none", "train.epochs=30", cwd=folder)
    return folder


@pytest.fixture()
def spoilt(runs: Path, tmp_path: Path) -> Path:
    """Returns a copy that a test may change."""
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    return tmp_path


def run_of(folder: Path, **wanted: Any) -> Path:
    """Returns the folder of the only run with these values in an export."""
    table = json.loads(softalign("export", "results", "--format", "json", cwd=folder).stdout)
    names = {"score": "model.attention.score.type", "attention": "model.attention.type"}
    (row,) = [row for row in table if all(row[names.get(key, key)] == value for key, value in wanted.items())]
    return folder / row["path"]


def in_terminal(*arguments: object, cwd: Path, columns: int) -> list[str]:
    written = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal(cwd, columns, *arguments, output=True))
    return written.replace("\r\n", "\n").splitlines()


def test_copies_of_a_run_are_exported_once(spoilt: Path) -> None:
    one = run_of(spoilt, seed=1, score="additive")
    shutil.copytree(one, spoilt / "results/copy" / one.name)
    for what in ("runs", "curves", "sentences"):
        table = json.loads(softalign("export", "results", "--what", what, "--format", "json", cwd=spoilt).stdout)
        alone = json.loads(softalign("export", one, "--what", what, "--format", "json", cwd=spoilt).stdout)
        assert len([row for row in table if row["run_id"] == one.name]) == len(alone) > 0


# --- compare


def test_compare_groups_runs_by_all_but_the_seed(runs: Path) -> None:
    lines = [line.split()[:4] for line in softalign("compare", cwd=runs).stdout.splitlines()[1:5]]
    assert lines == [["#", "attention", "score", "seeds"], ["1", "global", "additive", "2"], ["2", "global", "general", "2"], ["3", "none", "-", "1"]]
    shown = answer("compare", cwd=runs)
    assert [metric["name"] for metric in shown["metrics"]] == [
        "perplexity", "token_accuracy", "pointing_accuracy", "exact_match", "length_ratio", "bleu",
    ]  # fmt: skip
    for group in shown["groups"]:
        values = [run["metrics"]["bleu"] for run in group["runs"]]
        assert [run["seed"] for run in group["runs"]] == ([1, 2] if len(values) == 2 else [2])
        for run, value in zip(group["runs"], values):
            with h5py.File(runs / run["place"] / "run.h5") as file:
                assert file["test"].attrs["bleu"] == value
        cell = group["metrics"]["bleu"]
        assert cell["mean"] == pytest.approx(statistics.mean(values), rel=1e-12)
        assert cell["sd"] == (pytest.approx(statistics.stdev(values), rel=1e-9) if len(values) == 2 else None)
    none = shown["groups"][2]["metrics"]["pointing_accuracy"]
    assert none == {"mean": None, "sd": None, "n": 0}
    best = [metric["best_group"] for metric in shown["metrics"] if metric["name"] == "perplexity"]
    means = [group["metrics"]["perplexity"]["mean"] for group in shown["groups"]]
    assert best == [1 + means.index(min(means))]


def test_compare_tests_differences_over_seeds_and_sentences(runs: Path) -> None:
    first = ("compare", "--metric", "bleu,dev/loss", "--baseline", 1)
    shown = answer(*first, cwd=runs)
    assert shown["baseline"] == 1
    of = {(entry["metric"], entry["group"]): entry for entry in shown["against_baseline"]}
    bleu = [[run["metrics"]["bleu"] for run in group["runs"]] for group in shown["groups"]]
    differences = [b - a for a, b in zip(bleu[0], bleu[1])]
    over_seeds = of["bleu", 2]["over_seeds"]
    assert over_seeds["pairs"] == 2 and over_seeds["mean"] == pytest.approx(statistics.mean(differences))
    assert over_seeds["sd"] == pytest.approx(statistics.stdev(differences))
    assert of["bleu", 3]["over_seeds"]["pairs"] == 1 and of["bleu", 3]["over_seeds"]["sd"] is None
    assert of["bleu", 3]["over_seeds"]["mean"] == pytest.approx(bleu[2][0] - bleu[0][1])  # both of seed 2
    assert "estimate" not in of["dev/loss", 2] and "estimate" not in of["bleu", 3]  # a series, one pair of runs
    found = of["bleu", 2]["estimate"]
    assert found["value"] == pytest.approx(over_seeds["mean"]) and found["resamples"] == 1000
    assert found["standard_error"] > over_seeds["sd"] / 2**0.5  # the sentences add to the variance of the seeds
    assert found["low"] + found["high"] == pytest.approx(2 * found["value"]) and found["low"] < found["high"]
    assert 0 < found["p"] <= 1 and found["p_holm"] == found["p"]  # a single test
    again = answer(*first, "--threads", 1, cwd=runs)
    assert again == shown  # neither threads nor the clock change a bit
    assert "against" not in softalign("compare", "--no-tests", cwd=runs).stdout


def test_compare_says_how_metrics_were_measured_and_hides_those_that_tell_nothing(spoilt: Path) -> None:
    for path in spoilt.glob("results/*/*/run.h5"):
        with h5py.File(path, "a") as file:
            file["test"].attrs["exact_match"] = 25.0
            file["test/by_length/exact_match"][:] = 25.0
    lines = softalign("compare", "--no-tests", cwd=spoilt).stdout.splitlines()
    assert "exact_match" not in lines[1] and any("every group" in line and "exact_match 25.00" in line for line in lines)
    (forced,), (searched,) = ([line for line in lines if line.startswith(way)] for way in ("teacher-forced", "from the search"))
    assert "perplexity" in forced and "bleu" not in forced and "bleu" in searched and "perplexity" not in searched
    assert "exact_match" in softalign("compare", "--no-tests", "--metric", "exact_match", cwd=spoilt).stdout.splitlines()[1]


def test_compare_draws_no_interval_from_one_seed(runs: Path) -> None:
    def behind(*arguments: object) -> str:
        return softalign("compare", *arguments, cwd=runs).stdout.partition("against #3")[2]

    assert "attention=none" in behind("--metric", "bleu")  # the baseline
    one = behind("--metric", "bleu")
    assert "±" not in one and "95 %" not in one and "bleu" in one
    two = softalign("compare", "--metric", "bleu", "--baseline", 1, cwd=runs).stdout.partition("against #1")[2]
    assert "±" in two and "95 %" in two


def test_compare_writes_tables_for_papers_and_programs(runs: Path) -> None:
    shown = answer("compare", "--metric", "bleu,dev/loss", cwd=runs)
    best = next(metric["best_group"] for metric in shown["metrics"] if metric["name"] == "bleu")
    mean, sd = shown["groups"][0]["metrics"]["bleu"]["mean"], shown["groups"][0]["metrics"]["bleu"]["sd"]

    def table(form: str) -> str:
        return softalign("compare", "--metric", "bleu,dev/loss", "--format", form, cwd=runs).stdout

    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table("markdown").splitlines()]
    assert rows[0][:4] == ["#", "attention", "score", "seeds"] and len(rows) == 5 and {len(row) for row in rows} == {6}
    assert rows[2][4].strip("*") == f"{mean:.2f} ±{sd:.2f}"
    assert [row[4].startswith("**") for row in rows[2:]] == [group == best for group in (1, 2, 3)]
    latex = table("latex").splitlines()
    assert latex[0] == r"\begin{tabular}{rllrrr}" and latex[2] == r"\# & attention & score & seeds & bleu & dev/loss (nats) \\"
    assert [r"\textbf{" in line.split(" & ")[4] for line in latex[4:7]] == [group == best for group in (1, 2, 3)]
    entries = rows_of(table("csv"))
    assert entries[0]["group"] == "1" and float(entries[0]["bleu"]) == mean and float(entries[0]["bleu sd"]) == sd
    assert entries[2]["bleu sd"] == ""
    assert "\x1b[1m" in softalign("compare", "--color=always", cwd=runs).stdout


def test_compare_pairs_runs_that_measured_other_metrics(spoilt: Path) -> None:
    def tests() -> list[Any]:
        return answer("compare", "--metric", "bleu,exact_match", cwd=spoilt)["against_baseline"]

    before = tests()
    with h5py.File(run_of(spoilt, seed=2, score="general") / "run.h5", "a") as file:  # one column more, in front of the others
        test = file["test"]
        facts = test["by_length/bleu"]
        more = test.create_dataset("by_length/bleu_13a", data=facts[...])
        for name in ("long_name", "units", "signature"):
            more.attrs[name] = facts.attrs[name]
        more.attrs["signature"] = numpy.bytes_(facts.attrs["signature"].replace(b"tok:none", b"tok:13a"))
        test.attrs["bleu_13a"] = test.attrs["bleu"]
        test["bleu_13a_stats"] = test["bleu_stats"][...]
    assert tests() == before != []


def test_compare_says_which_parameters_matter(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    rates, scores, seeds = (0.001, 0.05), ("additive", "general"), (1, 2)
    for seed, rate, score in itertools.product(seeds, rates, scores):
        softalign("run", "tiny.yaml", f"seed={seed}", f"train.optimizer.learning_rate={rate}", f"model.attention.score={score}", cwd=tmp_path)
    shown = answer("compare", "--metric", "dev/loss", cwd=tmp_path)
    loss = {}
    for group in shown["groups"]:
        values = group["parameters"]
        of = float(values["train.optimizer.learning_rate"]), values["model.attention.score.type"]
        loss |= {(run["seed"], *of): run["metrics"]["dev/loss"] for run in group["runs"]}
    y = numpy.array([[[loss[seed, rate, score] for score in scores] for rate in rates] for seed in seeds])
    y -= y.mean()
    whole, rate, score = (y**2).sum(), 4 * (y.mean((0, 2)) ** 2).sum(), 4 * (y.mean((0, 1)) ** 2).sum()
    both = 2 * (y.mean(0) ** 2).sum() - rate - score  # the design is balanced
    importance = shown["metrics"][0]["importance"]
    effects = {tuple(effect["parameters"]): effect["share"] for effect in importance["effects"]}
    paths = "model.attention.score.type", "train.optimizer.learning_rate"
    expected = {paths[:1]: score / whole, paths[1:]: rate / whole, paths: both / whole}
    assert importance["runs"] == 8 and importance["explained"] == pytest.approx((rate + score) / whole)
    assert effects == pytest.approx(expected, abs=1e-12)
    text = softalign("compare", "--metric", "dev/loss", cwd=tmp_path).stdout
    assert f"learning_rate {100 * rate / whole:.0f} %" in text


def test_compare_over_a_range_of_lengths(runs: Path) -> None:
    shown = answer("compare", "--length", "4-5", "--metric", "exact_match,bleu", cwd=runs)
    assert shown["lengths"] == {"shortest": 4, "longest": 5}
    run = shown["groups"][0]["runs"][0]
    with h5py.File(runs / run["place"] / "run.h5") as file:
        chosen = [length in (4, 5) for length in file["test/source_length"][:]]
        exact = [bool(x) for x, c in zip(file["test/exact"][:], chosen) if c]
    assert shown["sentences"] == sum(chosen)
    assert run["metrics"]["exact_match"] == pytest.approx(100 * sum(exact) / len(exact))
    assert "no test sentence is so long" in error("compare", "--length", "500+", cwd=runs, code=3)


def test_one_bad_run_spoils_no_table(spoilt: Path) -> None:
    run = run_of(spoilt, score="additive", seed=2)
    (run / "run.h5").write_bytes((run / "run.h5").read_bytes()[:5000])
    interrupted = started("run", "tiny.yaml", "train.epochs=100000", "evaluate.search_dev=false", cwd=spoilt)
    wait_until(lambda: len(list(spoilt.glob("results/tiny/*/ckpt/*.ckpt"))) > 10)
    interrupt(interrupted)
    done = softalign("compare", "--metric", "bleu", cwd=spoilt, code=3)
    assert done.stdout.startswith("4 runs in 3 groups")
    assert "\nINCOMPLETE: 1 run could not be read and is missing here\n" in done.stdout
    damaged, stopped = sorted(done.stderr.splitlines(), key=lambda line: "interrupted" in line)
    assert str(run.relative_to(spoilt)) in damaged
    assert "the run is interrupted, so it is left out" in stopped
    shown = answer("compare", "--metric", "bleu", cwd=spoilt, code=3)
    assert [entry["unread"] for entry in shown["left_out"]].count(True) == 1 and len(shown["left_out"]) == 2
    assert str(run.relative_to(spoilt)) in [entry["place"] for entry in shown["left_out"]]
    exported = softalign("export", "results", cwd=spoilt, code=3)
    assert len(exported.stdout.splitlines()) == 1 + 5  # the interrupted one has curves and a state
    assert str(run.relative_to(spoilt)) in exported.stderr
    for file, calls in ((run, "open,opendir"), (run, "stat"), (run.parent, "open,opendir"), (spoilt / "results/tiny", "stat")):
        env = unreadable(file, errno.ESTALE, calls)
        done = softalign("compare", "--metric", "bleu", cwd=spoilt, code=1, env=env)
        assert "Stale file handle" in done.stderr and ("INCOMPLETE: 1 run " in done.stdout or file != run)
        done = softalign("export", "results", cwd=spoilt, code=1, env=env)
        assert "Stale file handle" in done.stderr
    shutil.rmtree(spoilt / "results")
    run.parent.mkdir(parents=True)
    for command in (["compare"], ["export", "results"]):
        error(*command, cwd=spoilt, code=3)


def test_tables_fit_the_terminal(runs: Path) -> None:
    for columns in (80, 120):
        for command in (["compare"], ["diff", *sorted(map(str, (runs / "results/tiny").iterdir()))[:2]]):
            lines = in_terminal(*command, cwd=runs, columns=columns)
            assert len(lines) > 10
            assert all(len(line) <= columns for line in lines), max(lines, key=len)
    wide = in_terminal("compare", "--metric", "bleu", cwd=runs, columns=80)
    assert not any("no room" in line for line in wide)


def test_numbers_of_models_that_diverged_are_short(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    for rate in (10, 14):
        for seed in (1, 2):
            changes = ["train.optimizer.type=sgd", f"train.optimizer.learning_rate={rate}", "train.clip_norm=1", "train.epochs=4", f"seed={seed}"]
            softalign("run", "tiny.yaml", *changes, cwd=tmp_path)
    lines = softalign("compare", "--metric", "perplexity", cwd=tmp_path).stdout.splitlines()
    (difference,) = [line for line in lines if line.startswith("perplexity ")]
    assert "e+" in difference and max(map(len, difference.split())) < 12, difference


# --- diff


def test_diff_of_a_run_with_itself_run_again(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    again = trained_run(tmp_path, "model.attention.score=additive", "train.epochs=30", "name=again", "--threads", 1)
    first = run_of(runs, score="additive", seed=1)
    assert again.name == first.name
    done = softalign("diff", first, again, "--exit-code", cwd=runs)
    assert done.stdout.count("the same") >= 4
    shown = answer("diff", first, again, cwd=runs)
    assert shown["same_bits"] and not any(part["different"] for part in shown["bits"].values())


def test_diff_finds_the_first_update_and_the_bits(spoilt: Path, runs: Path) -> None:
    run = run_of(spoilt, score="general", seed=1)
    original = runs / run.relative_to(spoilt)
    with h5py.File(run / "run.h5", "a") as file:
        loss = file["train/loss"][:]
        for _ in range(3):
            loss[6:] = numpy.nextafter(loss[6:], numpy.inf)
        file["train/loss"][:] = loss
        weights = next(file["parameters"][name] for name in file["parameters"] if "axis" not in name)
        weights[...] = weights[...] + 1
    shown = answer("diff", original, run, cwd=spoilt)
    found = shown["series"]["train/loss"]
    assert found["first"]["update"] == 7 and found["first"]["ulp"] == 3 and found["updates"] == len(loss)
    assert shown["series"]["dev/loss"]["different"] == 0 and not shown["same_bits"]
    assert shown["bits"]["train"]["different"] == 1 and shown["bits"]["test"]["different"] == 0
    assert shown["parameters"]["different"] == 1
    assert softalign("diff", original, run, cwd=spoilt).returncode == 0
    softalign("diff", original, run, "--exit-code", cwd=spoilt, code=4)


def test_diff_names_what_the_runs_were_made_from(spoilt: Path) -> None:
    general, none = run_of(spoilt, score="general", seed=2), run_of(spoilt, attention="none")
    with h5py.File(none / "run.h5", "a") as file:
        file["provenance"].attrs["compiler"] = numpy.bytes_("Clang 99")
    shown = answer("diff", general, none, cwd=spoilt)
    assert shown["spec"] == {
        "model.attention.score.type": {"a": "general", "b": None},
        "model.attention.type": {"a": "global", "b": "none"},
        "model.attention.context": {"a": None, "b": "last"},
    }
    assert shown["environment"]["compiler"]["b"] == "Clang 99" and len(shown["environment"]) == 1
    assert shown["test"]["pointing_accuracy"]["b"] is None
    text = softalign("diff", general, none, cwd=spoilt).stdout
    for part in ("model.attention.type", "Clang 99", "only in A", "hypotheses:"):
        assert part in text
    assert "only in A" in text and "alignments/cross " in text
    (none / "run.h5").write_bytes(b"x")
    assert str(none.relative_to(spoilt)) in error("diff", general.relative_to(spoilt), none.relative_to(spoilt), cwd=spoilt, code=3)


# --- export


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_export_of_runs(runs: Path) -> None:
    done = softalign("export", "results", "--format", "csv", cwd=runs, text="")
    rows = rows_of(done.stdout)
    assert len(rows) == 5 and list(rows[0])[:6] == ["run_id", "name", "path", "state", "seed", "updates"]
    table = json.loads(softalign("export", "results", "--format", "json", cwd=runs).stdout)
    for row, entry in zip(rows, table):
        assert row["test/bleu"] == repr(entry["test/bleu"]) and row["train.epochs"] == "30"
        with h5py.File(runs / row["path"] / "run.h5") as file:
            assert float(row["test/bleu"]) == file["test"].attrs["bleu"]
            assert float(row["dev/loss"]) == file["dev/loss"][-1]
            assert float(row["dev/loss:best"]) == min(file["dev/loss"][:])
            assert row["test/bleu:signature"] == file["test"].attrs["bleu_signature"].decode()
        assert (row["model.attention.score.type"] == "") == (entry["model.attention.score.type"] is None)
        assert (row["evaluate.search_dev"], row["task.length.train"]) == ("true", "[2,5]")
        assert (entry["evaluate.search_dev"], entry["task.length.train"]) == (True, [2, 5])
    assert softalign("export", "results", cwd=runs).stdout == done.stdout


def test_export_of_curves(runs: Path) -> None:
    run = run_of(runs, score="general", seed=1)
    rows = rows_of(softalign("export", run, "--what", "curves", cwd=runs).stdout)
    with h5py.File(run / "run.h5") as file:
        for series in ("train", "dev"):
            mine = {int(r["update"]): float(r["value"]) for r in rows if (r["series"], r["metric"]) == (series, "loss")}
            assert mine == dict(zip(file[series]["update"][:].tolist(), file[series]["loss"][:].tolist()))
    assert {row["run_id"] for row in rows} == {run.name}


def test_export_of_sentences(runs: Path) -> None:
    run = run_of(runs, score="general", seed=1)
    rows = rows_of(softalign("export", run, "--what", "sentences", cwd=runs).stdout)
    with h5py.File(run / "run.h5") as file:
        test = file["test"]
        assert [row["hypothesis"] for row in rows] == test["hypothesis"].asstr()[:].tolist()
        assert [float(row["nll"]) for row in rows] == test["nll"][:].tolist()
        assert [int(row["bleu_stats_3"]) for row in rows] == test["bleu_stats"][:, 3].tolist()
        assert [int(row["chrf_stats_17"]) for row in rows] == test["chrf_stats"][:, 17].tolist()
    assert [int(row["sentence"]) for row in rows] == list(range(16))


def test_texts_of_an_export_that_look_like_missing_values_stay_texts(runs: Path, tmp_path: Path) -> None:
    """The code of results/comparing.md reads the table."""
    run = shutil.copytree(run_of(runs, score="general", seed=1), tmp_path / "run")
    with h5py.File(run / "run.h5", "a") as file:
        file["test/reference"][:3] = texts = ["null", "NA", "nan"]
        file["test/hypothesis"][:3] = ["", "N/A", "None"]
    softalign("export", run, "--what", "sentences", "-o", tmp_path / "sentences.csv", cwd=tmp_path)
    softalign("export", run, "--what", "sentences", "--format", "json", "-o", tmp_path / "sentences.json", cwd=tmp_path)
    (call,) = re.findall(r"pandas\.read_csv\(\"sentences.csv\", (.*?)\)`", (Path(__file__).parents[2] / "results/comparing.md").read_text())
    table = eval(f"pandas.read_csv({str(tmp_path / 'sentences.csv')!r}, {call})", {"pandas": pandas})
    assert table.reference[:3].tolist() == texts and table.hypothesis[1:3].tolist() == ["N/A", "None"]
    assert pandas.isna(table.hypothesis[0]) and table.nll.dtype == float and table.sentence.dtype == int
    entries = json.loads((tmp_path / "sentences.json").read_text())
    assert [entry["reference"] for entry in entries[:3]] == texts and entries[0]["hypothesis"] == ""


def test_export_overwrites_nothing_unasked(runs: Path, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    softalign("export", "results", "-o", file, cwd=runs)
    table = file.read_bytes()
    assert table.endswith(b"\r\n") and table.decode() == softalign("export", "results", cwd=runs, text=b"").stdout
    file.write_text("mine")
    error("export", "results", "-o", file, cwd=runs, code=2)
    assert file.read_text() == "mine"
    softalign("export", "results", "-o", file, "--force", cwd=runs)
    assert file.read_bytes() == table and [path.name for path in tmp_path.iterdir()] == ["table.csv"]
    for command in (["export", "results", "-o", "nowhere/table.csv"], ["export", "results", "-o", ""], ["report", "results", "-o", ""]):
        error(*command, cwd=runs, code=2)


def test_an_option_that_one_configuration_leaves_out_tells_it_from_others(tmp_path: Path) -> None:
    """Also beside a run without the plugin that has the option: compare and report cannot mix two configurations up."""
    (tmp_path / "tiny.yaml").write_text(TINY)
    for change in ("seed=1", "~model.attention.score.units", "model.attention=none"):
        softalign("run", "tiny.yaml", change, cwd=tmp_path)
    table = softalign("compare", "--no-tests", cwd=tmp_path).stdout.splitlines()
    assert [re.split(r" {2,}", line)[1:3] for line in table[1:5]] == [["attention", "units"], ["global (additive)", "-"], ["global (additive)", "8"], ["none", "-"]]
    report = json.loads(softalign("export", "results", "--what", "report", cwd=tmp_path).stdout)
    assert sorted(report["series"]) == ["additive", "additive, units 8", "none"]
