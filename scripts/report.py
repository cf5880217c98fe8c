#!/usr/bin/python3
"""Writes one HTML file about a run, a study or a sweep; it opens from disk without a network.

report.py RUN|STUDY|SWEEP... [-o FILE.html] [--checklist] [--plugin FILE]: each is a folder or a run.h5; several runs are shown side by side. A
page about several of them is not written into any of their folders, so it needs -o. --checklist prints the reproducibility checklist as
Markdown instead. Records that cannot be read are named on standard error and on the page.
"""

from __future__ import annotations

from softalign_tools import ending, missing_package  # isort: skip
import argparse
import os.path
import sys
from pathlib import Path

from softalign_tools.files import OutputError, add_force, check, printable, say, write
from softalign_tools.program import RecordError
from softalign_tools.report.checklist import markdown
from softalign_tools.report.page import compute, html

USAGE = 2  # the command line is wrong
WRONG = 3  # a folder or record is missing, or there is nothing to report on


def default_output(place: Path) -> Path:
    """Returns the path of report.html in the folder of the subject, or beside its record."""
    return (place if os.path.isdir(place) else place.parent) / "report.html"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "places", nargs="+", type=Path, metavar="RUN|STUDY|SWEEP", help="folder of a run, a study or a sweep, or a run.h5"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to this file (default: report.html in the folder); required for several folders")
    parser.add_argument(
        "--checklist", action="store_true", help="write the reproducibility checklist as Markdown instead (default: standard output)"
    )
    parser.add_argument(
        "--plugin", action="append", default=[], metavar="FILE", help="load a plugin (.so) with a metric of the runs"
    )
    add_force(parser)
    given = parser.parse_args(arguments)
    output = given.output or (None if given.checklist else default_output(given.places[0]))
    if len(given.places) > 1 and given.output is None and not given.checklist:
        say("report", "several places need -o FILE.html: a page about all of them is not written into one")
        return USAGE
    try:
        if output is not None:
            check(output, given.force)  # refuses before the work
        report = compute(given.places, given.plugin)
        text = markdown(report.subject, report.items) if given.checklist else html(report)
    except OutputError as error:
        say("report", error)
        return USAGE
    except RecordError as error:
        say("report", error)
        return WRONG
    for problem in report.subject.problems:
        say("report", f"{problem.place}: {problem.text}")
    if output is None:
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
        print(text, end="")
        return 0
    try:
        write(output, text.encode(errors="replace"), given.force)  # JSON and YAML may contain lone surrogates
    except OutputError as error:
        say("report", error)
        return USAGE
    except OSError as error:
        say("report", f"{output}: cannot be written: {error.strerror}")
        return 1
    print(printable(output))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
