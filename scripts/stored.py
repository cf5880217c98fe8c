"""What HDF5 files, specs and study.json hold, read with its type: a wrong one is told here, with its place, and nowhere later."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import yaml

WORDS = {"iu": "whole numbers", "f": "numbers", "iuf": "numbers", "O": "text"}
HIDDEN = ("_Nc", "_NC", "CLASS", "NAME")  # attributes of netCDF's own
PACKED = 1032  # times smaller at most are packed numbers: what claims more was never written
BUCKET = re.compile(r"\d+([-–]\d+|\+)?")  # "7", "1-10", "61+"
ROOT = {"format?": str, "run_id?": str, "complete?": int, "last_update?": int, "parameters?": int}  # attributes of a record
PLUGIN = re.compile(r"[\w.+-]{1,100}")  # a name of one, which names files of figures too
NONE = type(None)
CHOICE = (PLUGIN, {"type": PLUGIN}, NONE)
ATTENTION = (PLUGIN, {"type": PLUGIN, "score?": CHOICE})
SPEC = {  # what figures and reports read of a spec
    "name?": re.compile(r"[\w. -]{0,100}"),
    "seed?": int,
    "notes?": (str, NONE),
    "tags?": (list, NONE),
    "task": {
        "type": PLUGIN,
        "length?": ({"train?": ([int], NONE)}, NONE),
        "max_length?": (int, NONE),
        "examples?": (dict, NONE),
        "vocabulary?": (dict, NONE),
    },
    "model": {"attention": ATTENTION, "decoder?": CHOICE},
    "train?": ({"early_stopping?": ({"metric?": str}, NONE)}, NONE),
    "evaluate?": (dict, NONE),
}

NUMBER = (int, float, type(None))
VALUE = {"mean": NUMBER, "deviation": NUMBER, "seeds": int}
CLAIM = {"claim": str, "because": str, "expect": str, "verdict": re.compile("holds|fails|undecided|empty|unmeasured|absent|unknown")}
JUDGED = {"left": VALUE, "right": VALUE, "sentences": int, "confidence": NUMBER, "resamples": int}
JUDGED |= {"difference?": VALUE, "interval?": [NUMBER], "p?": NUMBER, "seeds?": int}  # which older ones lack
STUDY = {  # what pages need of study.json
    "name?": str,
    "question?": str,
    "runs": [{"part": str, "variant": str, "run_id": str}],
    "tables": [
        {"title": str, "metric": str, "units": str, "columns": [str], "rows": [{"name": str, "n": [int], "values": [VALUE]}]}
    ],
    "claims": [(CLAIM | JUDGED, CLAIM | {"left?": ()})],
}

class RecordError(Exception):
    """A file that is no record of ours, or lacks what was asked of it."""


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """The file, to read. Throws RecordError when it is absent, damaged, or anything in it is not as it should be."""
    if not os.path.isfile(path):
        raise RecordError(f"{path}: no such file")
    try:
        with h5py.File(path) as file:
            yield file
    except (OSError, RuntimeError) as error:  # h5py has both for damage
        raise RecordError(f"{path}: damaged, or no HDF5 file; `softalign verify` says more") from error
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError, yaml.YAMLError) as error:
        reason = " ".join(str(error.args[0] if isinstance(error, KeyError) else error).split())
        raise RecordError(f"{path}: damaged: {reason}; `softalign verify` says more") from error


def member(group: h5py.Group, name: str) -> Any:
    """What has this name, None where nothing has. Throws ValueError for a link, which may lead to another file or a pipe."""
    found = group
    for part in name.split("/"):
        word = part.encode()
        if not isinstance(found, h5py.Group) or not found.id.links.exists(word):
            return None
        if found.id.links.get_info(word).type != h5py.h5l.TYPE_HARD:  # all that a file of ours has
            raise ValueError(f"{found.name.rstrip('/')}/{part} is a link to another place")
        found = found[part]
    return found


def members(group: h5py.Group | None) -> Iterator[tuple[str, Any]]:
    """Everything in it, by name; nothing of no group."""
    for name in group if group is not None else ():
        yield named(name), member(group, name)


def group_of(file: h5py.Group, name: str) -> h5py.Group | None:
    """None where there is nothing of this name. Throws ValueError for anything but a group."""
    found = member(file, name)
    if found is not None and not isinstance(found, h5py.Group):
        raise ValueError(f"{name} is no group")
    return found


def array(group: h5py.Group, name: str, kinds: str, shape: Sequence[int | None]) -> h5py.Dataset:
    """A dataset that may be read. kinds: numpy's, a key of WORDS; shape: the size of each axis, None for any. Throws ValueError."""
    where = f"{group.name}/{name}".lstrip("/")
    found = member(group, name)
    if found is None:
        raise ValueError(f"{where} is missing")
    right = isinstance(found, h5py.Dataset) and found.shape is not None
    right = right and (h5py.check_string_dtype(found.dtype) is not None if kinds == "O" else found.dtype.kind in kinds)
    if not right or len(found.shape) != len(shape) or any(want not in (None, size) for want, size in zip(shape, found.shape)):
        axes = " x ".join("n" if want is None else str(want) for want in shape)
        raise ValueError(f"{where} is no array of {WORDS[kinds]}, {axes}" if axes else f"{where} is no {WORDS[kinds]}")
    if found.external or found.is_virtual:
        raise ValueError(f"{where} lies in another file")
    if found.nbytes > PACKED * (found.id.get_storage_size() + 4096):
        raise ValueError(f"{where} claims to be larger than it can be")
    return found


def values(group: h5py.Group, name: str, kinds: str, shape: Sequence[int | None]) -> Any:
    """All of it: an array, of texts as Python has them; of no axes a single value."""
    found = array(group, name, kinds, shape)
    return (found.asstr() if kinds == "O" else found)[()]


def table(group: h5py.Group | None) -> dict[str, np.ndarray]:
    """Every dataset of one axis, texts and numbers, all of one length; {} of no group."""
    columns = {}
    for name, found in members(group):
        if isinstance(found, h5py.Dataset) and found.ndim == 1:
            columns[name] = values(group, name, "O" if h5py.check_string_dtype(found.dtype) else "iuf", (None,))
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError(f"the columns of {group.name} are not of one length")
    return columns


def series(group: h5py.Group) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """(updates, name -> values)"""
    updates = values(group, "update", "iu", (None,))
    names = [n for n, d in members(group) if n != "update" and isinstance(d, h5py.Dataset) and d.dtype == np.float64 and d.ndim == 1]
    return updates, {n: values(group, n, "f", updates.shape) for n in names}


def named(name: str) -> str:
    """A name inside a file. Throws ValueError where it is no text."""
    name.encode()
    return name


def plain(value: Any, where: str) -> Any:
    """One attribute as Python has it. Throws ValueError for more than one value."""
    value = value.item() if isinstance(value, np.generic) or isinstance(value, np.ndarray) and value.ndim == 0 else value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if not isinstance(value, (str, int, float)):
        raise ValueError(f"attribute {where} is not one value")
    return value.encode(errors="surrogateescape").decode(errors="replace") if isinstance(value, str) else value


def attributes(group: h5py.Group | None, form: Any = None) -> dict[str, Any]:
    """Its attributes, none of no group; those that `form` names are as it says. Throws ValueError."""
    items = group.attrs.items() if group is not None else ()
    found = {named(k): plain(v, k) for k, v in sorted(items) if not k.startswith(HIDDEN)}
    demand(found, form or {}, f"{group.name}, attributes" if group is not None else "")
    return found


def label(item: h5py.HLObject, name: str) -> str:
    """An attribute that is a text, "" where there is none. Throws ValueError."""
    found = plain(item.attrs.get(name, ""), name)
    demand(found, str, f"{item.name}, '{name}'")
    return found


def misfit(value: Any, form: Any, where: str) -> str:
    """What of nested maps and lists is not as it should be; "" where all is.

    form: a type; a pattern that a text matches; [form] of a list; {key: form} of a map, where a key that ends in "?" may be missing;
    (form, form) where any of several will do.
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
    if fault := misfit(value, form, where):
        raise ValueError(fault)


class _NoAliases(yaml.SafeLoader):
    """A few lines of aliases are gigabytes of values; nothing of ours has any."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise ValueError("YAML aliases are not read")
        return super().compose_node(parent, index)


def read_yaml(text: str) -> Any:
    """Throws ValueError, or YAMLError."""
    return yaml.load(text, _NoAliases)
