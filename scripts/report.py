#!/usr/bin/python3
"""Writes one HTML file about a run, a study or a sweep, which opens from disk without a network.

report.py RUN|STUDY|SWEEP... [-o FILE.html] [--checklist]: a folder or a run.h5; several runs are set beside each other. A page
about several places belongs to none of them and needs -o. --checklist prints the reproducibility checklist as Markdown instead.
What cannot be read is named on standard error and on the page.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # records, and the folder report/ beside this file

try:
    from records import RecordError
    from report.checklist import markdown
    from report.page import compute, html
except ModuleNotFoundError as missing:
    sys.exit(f"report: the Python module '{missing.name}' is missing; apt-get install python3-h5py python3-jinja2 python3-yaml")

USAGE = 2  # the command line
WRONG = 3  # no such place, or nothing to report on


def default_output(place: Path) -> Path:
    """report.html in the folder that is reported on, or beside the record."""
    return (place if place.is_dir() else place.parent) / "report.html"


def write_whole(path: Path, text: str) -> None:
    """Beside its place first, so that no reader finds half a file; into what is no file (a device, a pipe) at once."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(text)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "places", nargs="+", type=Path, metavar="RUN|STUDY|SWEEP", help="a run's, a study's or a sweep's folder, or run.h5"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: report.html in that folder; several places need it")
    parser.add_argument(
        "--checklist", action="store_true", help="the reproducibility checklist as Markdown, printed unless -o is given"
    )
    given = parser.parse_args(arguments)
    if len(given.places) > 1 and given.output is None and not given.checklist:
        print("report: several places need -o FILE.html: a page about all of them is not written into one", file=sys.stderr)
        return USAGE
    try:
        report = compute(given.places)
        text = markdown(report.subject, report.items) if given.checklist else html(report)
    except RecordError as error:
        print(f"report: {error}", file=sys.stderr)
        return WRONG
    for problem in report.subject.problems:
        print(f"report: {problem.place}: {problem.text}", file=sys.stderr)
    if given.checklist and given.output is None:
        sys.stdout.write(text)
        return 0
    output = given.output or default_output(given.places[0])
    try:
        write_whole(output, text)
    except OSError as error:
        print(f"report: {output}: cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    print(output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
