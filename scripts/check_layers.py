#!/usr/bin/python3
"""Checks the layer law: which folders of framework/, and which rooms in them, may include which others, and which files may include each
third-party library. Also checks that no result depends on the C library's elementary functions, whose last bits differ
(framework/kernels/arithmetic.md), that JSON has one reader, and that everything the law names exists.

check_layers.py [ROOT]: prints one line per breach and ends with 1, or prints nothing and ends with 0.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

# Layer -> the layers that it may include, besides itself. plugin.hpp is the header that plugins of a model include.
MODEL = ["seq", "nn", "ops", "autodiff", "kernels", "config", "base"]
LAW: dict[str, list[str]] = {
    "base": [],
    "config": ["base"],
    "data": ["record", "config", "base"],  # a vocabulary may come from a record
    "record": ["config", "base"],
    "kernels": ["base"],
    "autodiff": ["kernels", "base"],
    "ops": ["autodiff", "kernels", "base"],
    "nn": ["ops", "autodiff", "kernels", "config", "base"],
    "seq": ["data", *MODEL[1:]],  # data: a model reads batches
    "plugin.hpp": MODEL,
    "eval": ["data", *MODEL],
    "train": ["eval", "data", "record", *MODEL],
    "inference": ["train", "eval", "data", "record", *MODEL],
    "analysis": ["train", "eval", "data", "record", *MODEL],
    "study": ["eval", "config", "base"],
    "runs": ["study", "analysis", "train", "eval", "data", "record", *MODEL],
    "python": ["runs", "inference", "study", "analysis", "train", "eval", "data", "record", *MODEL],
    "app": ["runs", "inference", "study", "analysis", "train", "eval", "data", "record", *MODEL],
}

# Folder -> its rooms, and the files beside them by their stems. Each includes only itself and those after it.
ROOMS = {
    "record": ["recorder", "published", "provenance", "folder", "journal", "hdf5", "file"],
    "app": ["main", "setup", "records", "experiments", "sweeps", "models", "plugins", "terminal", "command"],
}

# Plugins include framework/plugin.hpp; kinds that are not part of a model include the layer that owns their kind instead.
PLUGIN_LAYERS = {
    "tasks": ["data", "config", "base"],
    "metrics": ["eval", "data", "config", "base"],
    "diagnostics": ["eval", "data", *MODEL],
    "searches": ["eval", "plugin.hpp"],
    "optimizers": ["train", "kernels", "config", "base"],
    "schedules": ["train", "config", "base"],
}

# A third-party header -> the only files of framework/ that may include it.
DOORS: list[tuple[str, list[str]]] = [
    (r"(xtensor|xtl|xsimd)/", ["base/array.hpp"]),
    (r"(xtensor-blas|xflens)/", ["base/blas.hpp"]),
    (r"yaml-cpp/", ["config/yaml.cpp"]),
    (r"hdf5|H5", ["record/hdf5/*"]),
    (r"CLI/", ["app/*"]),
    (r"pybind11/", ["python/*"]),
    (r"utf8", ["base/text.cpp"]),
    (r"cblas", ["kernels/*"]),
    (r"nlohmann/json.hpp", ["*.cpp", "app/terminal/terminal.hpp", "base/stored.hpp"]),
]

ELEMENTARY = re.compile(r"(?:std|(?<!\w)):{2}(exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|sinh|cosh|tanh|asin|acos|atan2?|erf|[lt]gamma|hypot|cbrt)[fl]?\(")
# Files that may call them, because no result depends on it: our own checks, memory estimates, displayed text, the double-precision build.
NO_RESULTS = ["kernels/vector_math.hpp", "autodiff/gradient_check.cpp", "seq/conformance_subject.cpp", "seq/conformance_output_layer.cpp", "train/check_sizes.cpp", "app/*"]

JSON = re.compile(r"(?i:json|object)::parse\(")  # recurses into any nesting until the stack overflows

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
OURS = "framework/"


def layer_of(path: str) -> str:
    """'framework/nn/linear.hpp' -> 'nn'; 'framework/plugin.hpp' -> 'plugin.hpp'."""
    return path.removeprefix(OURS).split("/")[0]


def room_of(path: str) -> str:
    """'framework/record/hdf5/hdf5.hpp' -> 'hdf5'; 'framework/record/file.cpp' -> 'file'."""
    return path.split("/")[2].split(".")[0]


def room_breach(path: str, included: str) -> str | None:
    """Returns what `breach` does, for two files of the same folder."""
    rooms = ROOMS.get(layer_of(path))
    if rooms is None:
        return "its folder has rooms: add them to ROOMS in scripts/check_layers.py" if path.count("/") > 2 else None
    mine, theirs = room_of(path), room_of(included)
    for room in (mine, theirs):
        if room not in rooms:
            return f"'{room}' is not a room of {layer_of(path)}/: add it to ROOMS in scripts/check_layers.py and to framework/README.md"
    if rooms.index(mine) <= rooms.index(theirs):
        return None
    return f"room '{mine}' may not include room '{theirs}' ({included}): move what you need into one of: {', '.join(rooms[rooms.index(mine):])}"


def stale(root: Path) -> Iterator[str]:
    """Yields a line for each name in the law that does not exist in the tree."""
    framework = root / OURS
    layers = [*LAW, *(f"plugins/{kind}" for kind in PLUGIN_LAYERS)]
    rooms = [f"{layer}/{room}" for layer, rooms in ROOMS.items() for room in rooms]
    doors = [door for _, doors in DOORS for door in doors]
    for name in [*layers, *rooms, *doors, *NO_RESULTS]:
        pattern = name.replace("*", "**/*", 1) if name.startswith("*") else name
        if not any(framework.glob(pattern)) and not (name in rooms and any(framework.glob(f"{name}.[ch]pp"))):
            yield f"scripts/check_layers.py: names {OURS}{name}, which does not exist"


def allowed(path: str) -> list[str]:
    """Returns the layers that a file may include. Raises KeyError for a folder that the law does not know."""
    layer = layer_of(path)
    if layer == "plugins":
        return PLUGIN_LAYERS.get(path.split("/")[2], ["plugin.hpp"])
    return [layer, *LAW[layer]]


def breach(path: str, quote: str, included: str) -> str | None:
    """Returns what is wrong with `path` including `included`, and the remedy; None if it may."""
    in_framework = path.startswith(OURS)
    if included.startswith(OURS + "plugins/"):
        return f"nobody includes a plugin ({included}): ask the registry for it by name"
    if not in_framework:
        return None
    if included.startswith(OURS):
        mine, theirs = layer_of(path), layer_of(included)
        if mine != "plugins" and mine not in LAW:
            return f"'{mine}' is no layer: add it to the law in scripts/check_layers.py and in framework/README.md"
        if theirs in allowed(path):
            return room_breach(path, included) if theirs == mine else None
        may = ", ".join(allowed(path))
        remedy = f"a plugin of this kind includes only {may}" if mine == "plugins" else f"move what you need into one of: {may}"
        return f"layer '{mine}' may not include layer '{theirs}' ({included}): {remedy}"
    if quote == '"':
        return f'"{included}" is not a full path: write "{path.rsplit("/", 1)[0]}/{included}", or <> for a library'
    for header, doors in DOORS:
        if re.match(header, included) and not any(fnmatch(path, OURS + door) for door in doors):
            return f"<{included}> is included only by {' and '.join(OURS + door for door in doors)}: use that instead"
    return None


def breaches(root: Path) -> Iterator[str]:
    """Yields every breach below root's framework/ and tests/, as 'file:line: text'."""
    for file in sorted(f for folder in ("framework", "tests") for f in (root / folder).rglob("*.[ch]pp")):
        path = file.relative_to(root).as_posix()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if (match := INCLUDE.match(line)) and (text := breach(path, match[1], match[2])):
                yield f"{path}:{number}: {text}"
            if (match := ELEMENTARY.search(line)) and path.startswith(OURS) and not any(fnmatch(path, OURS + file) for file in NO_RESULTS):
                yield f"{path}:{number}: {match[0]}..): its bits differ between C libraries; use exact::{match[1]} (base/elementary.hpp)"
            if JSON.search(line) and path.startswith(OURS) and path != OURS + "base/json.hpp":
                yield f"{path}:{number}: JSON nested without end is read to the end of the stack: use read_json (base/json.hpp)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parents[1], help="root of the source tree (default: this one)")
    root = parser.parse_args().root
    found = [*breaches(root), *stale(root)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
