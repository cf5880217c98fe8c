#!/usr/bin/python3
"""Writes FOLDER/studies/NAME/ from the records of a study, so that its results can be checked without running it.

study_pages.py [--results FOLDER] [--tiny] NAME..: writes README.md, the page; runs.csv; claims.csv; table.h5, the counts of each test
sentence from which `recompute.py` recomputes the claims; a figure for each part, and the output and figures of the scripts in experiments/NAME;
record.h5, a run of the tiny study, which `softalign verify` reproduces bit for bit. Also verifies the shortest run of the whole study.
Runs nothing else: `scripts/studies.sh` does.
"""

from __future__ import annotations

from softalign_tools import ending, missing_package  # isort: skip
import argparse
import csv
import io
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from softalign_tools import plain_matplotlib  # isort: skip

from softalign_tools.charts import Json
from softalign_tools.drawing import save_figure, set_style
from softalign_tools.files import TEXT_MARK, OutputError, add_force, made_by_us, say, write
from softalign_tools.paper_lines import draw_lengths, lengths, trained_on
from softalign_tools.program import RecordError, answer, report_of
from softalign_tools.report.svg import p_text
from softalign_tools.study_findings import filled, finding, relinked, write_summary
from softalign_tools.study_json import read_study
from softalign_tools.study_script import cell, digits_of, markdown
from softalign_tools.study_table import write_table

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
REPEATED = ("What was found", "What was claimed beforehand", "What the source reports")  # chapters of a study's README.md that its page repeats
CHAPTER = re.compile(r"^(## (.+)\n(?:(?!## ).*\n)*)", re.MULTILINE)
MADE = ("started", "git_commit", "cpu_model", "isa", "version")  # provenance of a record
ESTIMATE = ("standard_error", "low", "high", "p", "p_holm")
DIAGNOSTIC = re.compile(r"diagnostics/(\w+)/(start/)?(\w+)$")  # columns of runs.csv; start: before the first update
RECORD = """## A record to check

<!-- not run by the tests: tests/studies verifies them all -->
```sh
softalign verify record.h5
```

repeats a run of the tiny form of this study, bit for bit.
"""
VERDICTS = {"empty": "no sentences", "unmeasured": "not measured", "absent": "no complete runs", "unknown": "not run"}

Row = dict[str, Any]


def options_of(json_of: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yields every option of a resolved spec: ("train.epochs", "20")."""
    for key, value in json_of.items() if isinstance(json_of, dict) else ():
        below = f"{path}.{key}".lstrip(".")
        if isinstance(value, dict) and value:
            yield from options_of(value, below)
        else:
            yield below, value if isinstance(value, str) else "" if value is None else json.dumps(value, separators=(",", ":"))


def require_whole(study: Row, data: Json) -> None:
    """Raises RecordError if the folder has runs that study.json does not list, because figures would include them and tables would not."""
    listed = {run["run_id"] for run in study["runs"]}
    if others := [run["place"] for run in data["runs"] if run["run_id"] not in listed]:
        raise RecordError(f"{others[0]}: is not in study.json; run the study again, without --only and overrides, and move away what it does not list")


def require_claims(name: str, study: Row) -> None:
    """Raises RecordError if study.yaml has other claims than study.json."""
    text = (EXPERIMENTS / name / "study.yaml").read_text(encoding="utf-8")
    if len(re.findall(r"\bclaim: ", text)) != len(study["claims"]) or any(claim["claim"] not in text for claim in study["claims"]):
        raise RecordError(f"experiments/{name}/study.yaml: has other claims than study.json; run the study again: complete runs are not repeated")


def require_comparisons(data: Json) -> None:
    """Raises RecordError if the runs of a part cannot be compared, because the page would lack its tables and figures."""
    reasons = {problem["place"]: problem["text"] for problem in data["problems"]}
    for name in (panel["name"] for panel in data["panels"] if "comparison" not in panel):
        if name in reasons:
            raise RecordError(f"{data['place']}: part '{name}': {reasons[name]}; variants that are measured differently belong in parts of their own")


def by_bucket(data: Json, metrics: set[str]) -> dict[str, Row]:
    """Returns for each run ID the values of these metrics in the length buckets in which it has one."""
    found: dict[str, Row] = {run["run_id"]: {} for run in data["runs"]}
    for panel in data["panels"]:
        groups = panel["comparison"]["groups"] if "comparison" in panel else []
        for table in sorted((table for table in panel.get("tables", ()) if table["metric"] in metrics), key=lambda table: table["metric"]):
            for group, row in zip(groups, table["rows"]):
                for bucket, cell_of in zip(table["buckets"][1:], row["cells"][1:]):
                    for run, value in zip(group["runs"], cell_of["seeds"]):
                        found[run["run_id"]] |= {} if value is None else {f"test/{table['metric']}[{bucket}]": value}
    return found


def runs_of(study: Row, data: Json) -> list[Row]:
    """Returns a row for each complete run: the options that vary, test metrics, scalars of diagnostics, time, date, commit, machine."""
    complete = [run for run in study["runs"] if run["state"] == "complete"]
    if not complete:
        raise RecordError(f"{data['place']}: no run is complete; scripts/studies.sh {study['name']} runs them")
    read = {run["run_id"]: run for run in data["runs"]}
    for run in complete:
        if run["run_id"] not in read:
            place = Path(data["place"]) / run["path"]
            raise RecordError(f"{place}/run.h5: is missing or damaged; `softalign verify {place}` says more")
    options = {run["run_id"]: dict(options_of(read[run["run_id"]]["record"]["spec"])) for run in complete}
    varied = {key for one in options.values() for key in one if len({other.get(key, "") for other in options.values()}) > 1}
    measured = by_bucket(data, {table["metric"] for table in study["tables"]})
    rows = []
    for run in complete:
        known = read[run["run_id"]]
        record, made = known["record"], known["record"]["provenance"]
        row = {key: run[key] for key in ("part", "variant", "seed", "run_id")}
        row |= {key: value for key, value in options[run["run_id"]].items() if "." in key and key in varied}
        row |= {"updates": known["last_update"]} | {f"test/{name}": value for name, value in sorted(known["test"].items())}
        row |= {"diagnostics/" + name.replace(".", "/"): value for name, value in record["found"].items() if value is not None}
        row |= measured[run["run_id"]] | {"seconds": round(record["seconds"])} | {key: str(made[key]) for key in MADE}
        row["git_commit"] += "-dirty" * int(made.get("git_dirty", 0))
        rows.append(row)
    return rows


def claim_rows(study: Row) -> list[Row]:
    """Returns a row for each claim; fields of a claim that was not judged are empty."""
    rows = []
    for claim in study["claims"]:
        sides = {side: claim.get(side) or {} for side in ("left", "right", "difference")}
        row = {key: claim[key] for key in ("claim", "expect", "verdict")}
        for side, value in sides.items():
            row |= {side: value.get("mean"), f"{side}_deviation": value.get("deviation")}
        row |= {key: claim.get("estimate", {}).get(key) for key in ESTIMATE} | {"sentences": claim.get("sentences")}
        row |= {"seeds_held": claim.get("seeds"), "seeds": sides["left"].get("seeds")}
        rows.append(row | {"because": claim["because"]})
    return rows


def csv_text(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def figures(study: Row, data: Json, out: Path) -> Iterator[str]:
    """Draws the tables of each part by length, side by side, and yields the names of the files."""
    known = [run["variant"] for run in study["runs"]]
    for panel in data["panels"]:
        charts = lengths(data, panel, "sd")
        drawn = [charts[table["metric"]] for table in study["tables"] if table["part"] == panel["name"] and table["metric"] in charts]
        if drawn:
            figure = draw_lengths(drawn[:3], "page", trained_on(data, panel), known=known)
            save_figure(figure, out / f"{panel['name']}.png", True)
            yield f"{panel['name']}.png"


def own(name: str, folder: Path, out: Path) -> Iterator[str]:
    """Runs the study's own scripts, experiments/NAME/*.py FOLDER --output FIGURE, and yields the output of each with its figure."""
    for script in sorted((EXPERIMENTS / name).glob("*.py")):
        command = [sys.executable, script, folder, "--output", out / f"{script.stem}.png", "--force"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RecordError(f"{script.name}: {done.stderr.strip()}")
        yield done.stdout + f"\n![{script.stem}]({script.stem}.png)\n"


def number(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def claims_table(claims: Sequence[Row]) -> str:
    head = ["", "claim", "verdict", "left", "right", "difference", "95 %", "p", "corrected", "seeds", "n"]
    rows = [head]
    for at, claim in enumerate(claims, 1):
        several = (claim["seeds"] or 0) > 1
        p = (p_text(claim[key]) for key in ("p", "p_holm"))
        sides = ("left", "right", "difference")
        digits = 3 if all(abs(claim[side] or 0) < 2 for side in sides) else 2
        interval = f"{number(claim['low'], digits)} to {number(claim['high'], digits)}" if claim["low"] is not None else ""
        measured = (number(claim[side], digits) + f" ±{number(claim[side + '_deviation'], digits)}" * (several and claim[side] is not None) for side in sides)
        verdict = VERDICTS.get(claim["verdict"], claim["verdict"])
        if verdict == "holds" and claim["seeds_held"] < claim["seeds"]:
            verdict = "holds in the mean"
        seeds = f"{claim['seeds_held']} of {claim['seeds']}" if claim["seeds"] else ""
        rows.append([str(at), f"`{claim['claim']}`", verdict + ", open" * (claim["expect"] == "open"), *measured, interval, *p, seeds,
                     str(claim["sentences"] or "")])  # fmt: skip
    return markdown(rows, 3)


def metric_table(table: Row) -> str:
    """Returns mean and standard deviation over seeds by source length, without the columns that have no sentences."""
    shown = [c for c in range(len(table["columns"])) if any(row["n"][c] for row in table["rows"])]
    rows = [[table["metric"], *(table["columns"][c] for c in shown)], ["n", *(str(table["rows"][0]["n"][c]) for c in shown)]]
    for row in table["rows"]:
        values = [row["values"][c] for c in shown]
        cells = [number(value["mean"]) + f" ±{number(value['deviation'])}" * (value["seeds"] > 1 and value["mean"] is not None) for value in values]
        rows.append([row["name"], *cells])
    return f"{table['title']}\n\n" + markdown(rows)


def diagnostic_tables(runs: Sequence[Row]) -> Iterator[str]:
    """Yields for each part and diagnostic the mean and standard deviation over seeds of its scalars, before and after training."""
    for part, same in groupby(runs, lambda row: row["part"]):
        rows = list(same)
        columns: dict[tuple[str, str], dict[str, str]] = {}  # (diagnostic, when) -> array -> column
        for found in filter(None, map(DIAGNOSTIC.match, dict.fromkeys(key for row in rows for key in row))):
            when = ", before training" if found[2] else ", after training" if f"diagnostics/{found[1]}/start/{found[3]}" in rows[0] else ""
            columns.setdefault((found[1], when), {})[found[3]] = found[0]
        for (diagnostic, when), arrays in columns.items():
            table = [[f"{part}: {diagnostic}{when}", *(array.replace("_", " ") for array in arrays)]]
            digits = {column: digits_of([row[column] for row in rows if column in row]) for column in arrays.values()}
            for variant, seeds in groupby(rows, lambda row: row["variant"]):
                values = list(seeds)
                table.append([f"`{variant}`", *(cell([row[column] for row in values if column in row], digits[column]) for column in arrays.values())])
            yield markdown(table if len(table) > len(table[0]) else list(zip(*table)))


def chapters_of(name: str, found: str) -> str:
    """Returns the findings, and the chapters of the study's own README.md that say what to expect, with links adapted to the page's folder."""
    file = EXPERIMENTS / name / "README.md"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    chapters = {title: chapter for chapter, title in CHAPTER.findall(text)}
    if found:
        chapters["What was found"] = f"## What was found\n\n{found}\n"
    return relinked("".join(chapters.get(title, "") for title in REPEATED), f"experiments/{name}", f"results/studies/{name}")


def page(name: str, study: Row, runs: Sequence[Row], claims: Sequence[Row], drawn: Sequence[str], more: Sequence[str], shipped: bool, found: str, again: str) -> str:
    expected, asked = ([claim["verdict"] for claim in claims if (claim["expect"] == "open") == is_open] for is_open in (False, True))
    undecided = (*expected, *asked).count("undecided")
    not_judged = sum(verdict in VERDICTS for verdict in (*expected, *asked))
    machines = sorted({row["cpu_model"] for row in runs})
    commits = sorted({re.sub("^(.{12}).{28}", r"\1", row["git_commit"]) for row in runs})  # 12 digits, and "-dirty"
    days = sorted({row["started"][:10] for row in runs})
    days = " to ".join(dict.fromkeys((days[0], days[-1])))
    hours, minutes = divmod(round(sum(row["seconds"] for row in runs) / 60), 60)
    missing = len(study["runs"]) - len(runs)
    reasons = [f"- {at}: {claim['because']}\n" for at, claim in enumerate(claims, 1) if claim["because"]]
    lines = [
        f"# {study['name']}: {study['question']}\n{TEXT_MARK}\n",
        f"Written by `scripts/studies.sh --pages {name}` from the records; the study is `experiments/{name}`. Claims: {len(expected)}; {expected.count('holds')} hold, "
        f"{expected.count('fails')} fail. Questions asked without an expectation: {len(asked)}; yes {asked.count('holds')}, no {asked.count('fails')}."
        f"{f' Undecided: {undecided}.' if undecided else ''}{f' Not judged: {not_judged}.' if not_judged else ''}\n",
        chapters_of(name, found),
        f"## Results\n\n{len(runs)} runs{f', {missing} are missing' if missing else ''}; {days}; {', '.join(machines)}; "
        f"{hours} h {minutes:02} min of training together; commits {', '.join(commits)}. `runs.csv` has a line for each.\n",
        *(f"![{figure[:-4]} by source length: mean and deviation over seeds]({figure})\n" for figure in drawn),
        *more,
        *(metric_table(table) for table in study["tables"]),
        *diagnostic_tables(runs),
        "## Claims\n\nLeft, right and their difference: mean and deviation over seeds. Interval and p speak of other seeds and other test sentences together; "
        "`corrected` is p corrected for all claims of the study (Holm), and decides; the interval is that of the claim alone. The sides are compared seed by seed. seeds: for how many of them alone the claim holds. A claim is undecided where "
        "neither answer is supported. An open claim is a question, asked without an expectation.\n",
        claims_table(claims),
        "Why:\n\n" * bool(reasons) + "".join(reasons),
        RECORD if shipped else "",
        again,
    ]  # fmt: skip
    return "\n".join(line for line in lines if line)


def small_record(name: str, study: Row) -> bytes:
    """Returns the published record of the study's first run, trained in the tiny form."""
    first = study["runs"][0]
    with tempfile.TemporaryDirectory() as folder:
        answer("study", EXPERIMENTS / name / "study.yaml", "--tiny", "--only", f"{first['part']}/{first['variant']}", "--results", folder, "--json", codes=(0, 4))
        record = next(Path(folder).glob(f"*/{first['part']}-{first['variant']}/*/run.h5"))
        answer("publish", record, "--below", EXPERIMENTS.parent, "-o", copy := Path(folder) / "record.h5")
        return copy.read_bytes()


def verified(study: Row, runs: Sequence[Row], folder: Path) -> str:
    """Verifies the shortest run of the whole study by training it again. Returns a sentence that reports this, with its duration."""
    shortest = min(runs, key=lambda row: row["seconds"])
    place = next(folder / run["path"] for run in study["runs"] if run["run_id"] == shortest["run_id"])
    start = time.monotonic()
    answer("verify", place)
    variant = f"{shortest['part']}/{shortest['variant']}"
    return f"`softalign verify` has trained `{variant}`, seed {shortest['seed']}, again from its record: the same bits, in {time.monotonic() - start:.0f} s.\n"


def write_page(name: str, folder: Path, out: Path, force: bool) -> None:
    """Writes the whole page or nothing. A mark in README.md shows that the folder is ours to replace."""
    ours = force or not (out.is_dir() and any(out.iterdir())) or made_by_us(out / "README.md")
    if not ours:
        raise OutputError(f"{out}: its files were not made by softalign; --force replaces them, or choose another --results")
    study = read_study(folder, name)
    data = report_of([folder], "--resamples=0") | {"place": str(folder)}
    require_comparisons(data)
    require_whole(study, data)
    require_claims(name, study)
    runs, claims = runs_of(study, data), claim_rows(study)
    with tempfile.TemporaryDirectory() as temporary:
        made = Path(temporary)
        drawn, more = list(figures(study, data, made)), list(own(name, folder, made))
        files = {figure.name: figure.read_bytes() for figure in sorted(made.iterdir())}
        write_table(study, data, finding(name), table := made / "table.h5")
        files["table.h5"] = table.read_bytes()
        found = filled(name, claims, table)
    files |= {"runs.csv": csv_text(runs).encode(), "claims.csv": csv_text(claims).encode()}
    if shipped := not (EXPERIMENTS / name / "PACKAGES").exists():  # else we may not publish its texts
        files["record.h5"] = small_record(name, study)
    again = "" if folder.name.endswith("-tiny") else verified(study, runs, folder)
    files["README.md"] = page(name, study, runs, claims, drawn, more, shipped, found, again).encode()
    for file, content in files.items():
        write(out / file, content, True)
    for file in out.iterdir():
        if file.name not in files and made_by_us(file):  # for example the figure of a part that no longer exists
            file.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NAME", help="study: name of its folder in experiments/")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of the records")
    parser.add_argument("--tiny", action="store_true", help="write pages of the tiny studies")
    add_force(parser)
    arguments = parser.parse_args()
    set_style("serif")
    try:
        for name in arguments.names:
            place = name + "-tiny" * arguments.tiny
            write_page(name, arguments.results / place, arguments.results / "studies" / place, arguments.force)
            print(arguments.results / "studies" / place / "README.md")
        write_summary(arguments.results)
    except OutputError as error:
        say("study_pages", error)
        return 2
    except RecordError as error:
        say("study_pages", error)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
