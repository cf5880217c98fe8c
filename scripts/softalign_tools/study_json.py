"""Reads study.json and checks the types of its values, so that no later code needs to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from softalign_tools.files import printable, read_bytes
from softalign_tools.program import RecordError

NUMBER = (int, float, type(None))
VALUE = {"mean": NUMBER, "deviation": NUMBER, "seeds": int}
CLAIM = {"claim": str, "because": str, "expect": str, "verdict": re.compile("holds|fails|undecided|empty|unmeasured|absent|unknown")}
ESTIMATE = {"value": NUMBER, "standard_error": NUMBER, "low": NUMBER, "high": NUMBER, "p": NUMBER, "p_holm": NUMBER}
JUDGED = {"left": VALUE, "right": VALUE, "difference": VALUE, "sentences": int, "seeds": int, "estimate": ESTIMATE}
STUDY = {  # the values that pages need
    "name?": str,
    "question?": str,
    "runs": [{"part": str, "variant": str, "run_id": str}],
    "tables": [
        {"title": str, "metric": str, "units": str, "columns": [str], "rows": [{"name": str, "n": [int], "values": [VALUE]}]}
    ],
    "claims": [(CLAIM | JUDGED, CLAIM | {"left?": ()})],
}
FORM = STUDY | {"name": str, "question": str, "runs": [{"part": str, "variant": str, "run_id": str, "path": str, "state": str, "seed": int}]}
AGAIN = "move it away and run the study again, which writes it anew"


def misfit(value: Any, form: Any, where: str) -> str:
    """Returns the first fault of nested maps and lists; "" if they match the form.

    form: a type; a pattern that a text must match; [form] for a list; {key: form} for a map, in which a key that ends in "?" may be missing;
    (form, form) if the value may match any of several.
    """
    wrong = f"{where} is not as it should be"
    if isinstance(form, tuple):
        return "" if any(not misfit(value, one, where) for one in form) else wrong
    if isinstance(form, re.Pattern):
        return "" if isinstance(value, str) and form.fullmatch(value) else wrong
    if isinstance(form, type):
        return "" if isinstance(value, form) else wrong
    if not isinstance(value, type(form)):
        return wrong
    if isinstance(form, list):
        return next((fault for one in value if (fault := misfit(one, form[0], f"a part of {where}"))), "")
    for key, inner in form.items():
        name = key.rstrip("?")
        if name not in value and name == key:
            return f"{where} has no '{name}'"
        if name in value and (fault := misfit(value[name], inner, f"{where}, '{name}'")):
            return fault
    return ""


def demand(value: Any, form: Any, where: str) -> None:
    """Raises ValueError if the value does not match the form of `misfit`."""
    if fault := misfit(value, form, where):
        raise ValueError(fault)


def read_study(folder: Path, wanted: str = "") -> dict[str, Any]:
    """Reads study.json. wanted: the name of the study that it must be of. Raises RecordError if it is missing, invalid or of another study."""
    file = folder / "study.json"
    try:
        study = json.loads(read_bytes(file))
        demand(study, FORM, "it")
    except FileNotFoundError as error:
        raise RecordError(f"{file}: no such file; scripts/studies.sh {folder.name.removesuffix('-tiny')} runs the study") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise RecordError(f"{file}: cannot be read; {AGAIN}") from error
    except ValueError as error:
        raise RecordError(f"{file}: is no study of this version: {error}; {AGAIN}") from error
    if wanted and study["name"].removesuffix("-tiny") != wanted:
        raise RecordError(f"{file}: is of the study {printable(study['name'])}, and the study {wanted} is wanted")
    return study
