"""The findings of studies, as text whose numbers come from their tables, and the summary of all studies."""

from __future__ import annotations

import csv
import posixpath
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
from recompute import evaluated

from softalign_tools.files import OutputError, write
from softalign_tools.report.svg import p_text
from softalign_tools.study_script import cell, markdown

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
BEGIN, END = "<!-- studies: made by scripts/study_pages.py -->\n", "<!-- end of studies -->\n"

Row = dict[str, Any]


def finding(name: str) -> str:
    """Reads experiments/NAME/finding.md, which has `{formulas}` instead of numbers; "" if it does not exist."""
    file = EXPERIMENTS / name / "finding.md"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def filled(name: str, claims: Sequence[Row], table: Path) -> str:
    """Returns the finding with numbers in place of `{formulas}` of measurements (mean and standard deviation over seeds) and `{3}` (the difference
    of claim 3). Raises OutputError for a formula without backticks, and for one of a claim or measurement that the study does not have."""
    text, file_name = finding(name), f"experiments/{name}/finding.md"
    if bare := re.search(r"\{[^{}]*\}", re.sub("`[^`]*`", "", text)):
        raise OutputError(f"{file_name}: {bare[0]}: put the formula in backticks: `{bare[0]}`")

    def digits(value: float) -> int:
        return 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3

    with h5py.File(table) as file:

        def value(found: re.Match[str]) -> str:
            try:
                return number(found[1])
            except (LookupError, SyntaxError, TypeError, ValueError) as error:
                raise OutputError(f"{file_name}: {found[0]}: no such claim or measurement: {error}") from error

        def number(formula: str) -> str:
            if not formula.isdigit():
                seeds = evaluated(file, formula)[0][:, 0]
                shown = digits(seeds.mean())
                varies = len(seeds) > 1 and round(seeds.std(ddof=1), shown) > 0
                return cell(seeds if varies else [seeds.mean()], shown)
            claim = dict(enumerate(claims, 1))[int(formula)]
            difference, shown = claim["difference"], digits(claim["difference"])
            if claim["low"] is None:
                return f"{difference:.{shown}f}"
            return f"{difference:.{shown}f} (95 % {claim['low']:.{shown}f} to {claim['high']:.{shown}f}, corrected p {p_text(claim['p_holm'])})"

        return re.sub(r"`\{([^{}]+)\}`", value, text)


def relinked(text: str, old: str, new: str) -> str:
    """Returns a text moved from folder `old` to folder `new`, with relative links that lead to the same files. Code is not changed."""

    def link(found: re.Match[str]) -> str:
        return f"]({posixpath.relpath(posixpath.join(old, found[1]), new)})" if found[1] else found[0]

    return re.sub(r"`[^`]*`|\]\((?![a-z]+:|[#/])([^)\s]+)\)", link, text)


def short_claims(file: Path) -> str:
    """Returns a Markdown table of a study's claims, from its claims.csv."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    table = [["", "claim", "verdict", "difference", "95 %", "p, corrected"]]
    for at, row in enumerate(rows, 1):
        difference, low, high = (float(row.get(key) or "nan") for key in ("difference", "low", "high"))
        digits = 3 if abs(difference) < 2 else 2
        interval = f"{low:.{digits}f} to {high:.{digits}f}" if low == low else ""
        table.append([str(at), f"`{row['claim']}`", row["verdict"] + ", open" * (row["expect"] == "open"), f"{difference:.{digits}f}" if difference == difference else "",
                      interval, p_text(float(row["p_holm"])) if row.get("p_holm") else ""])  # fmt: skip
    return markdown(table, 3)


def write_summary(results: Path) -> None:
    """Writes the studies into README.md of the results: the first paragraph of each finding, and the claims."""
    readme = results / "README.md"
    if not readme.exists() or BEGIN not in (text := readme.read_text(encoding="utf-8")):
        return
    studies = []
    for page_ in sorted(results.glob("studies/*/README.md")):
        if (page_.parent / "claims.csv").exists():
            name = page_.parent.name
            found = page_.read_text(encoding="utf-8").partition("## What was found\n\n")[2].split("\n\n")[0]
            studies.append(f"## [{name}](studies/{name}/README.md)\n\n{relinked(found, f'studies/{name}', '.')}\n\n{short_claims(page_.parent / 'claims.csv')}")
    text = re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n" + "\n".join(studies) + f"\n{END}", text, flags=re.S)
    write(readme, text.encode(), force=True)
