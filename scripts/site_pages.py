#!/usr/bin/python3
"""Writes the source of the documentation site for mkdocs.

site_pages.py FOLDER: gathers the Markdown documents of the repository with the pictures and files that they link to, and generates pages from the
program's help, the headers and the Python package. scripts/site.sh runs this script, then mkdocs.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from itertools import groupby
from pathlib import Path

from features import PROGRAM, ROOT, rank

LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
CONTRACTS = {"encoder": "seq/encoder", "score": "seq/score", "attention": "seq/attention", "decoder": "seq/decoder", "output_layer": "seq/output_layer",
             "task": "data/task", "search": "eval/search", "metric": "eval/metric", "diagnostic": "eval/diagnostic", "optimizer": "train/optimizer",
             "schedule": "train/optimizer"}  # fmt: skip
NAVIGATION = """
site_name: softalign
docs_dir: docs
use_directory_urls: false
theme: {name: readthedocs, highlightjs: false, navigation_depth: 3, titles_only: true}
extra_css: [site.css]
markdown_extensions: [sane_lists, tables, fenced_code]
nav:
- First page: README.md
- Tutorial: experiments/tutorial/README.md
- How to:
  - Everyday work: framework/docs/howto.md
  - Compare runs: results/comparing.md
  - Write a study: experiments/README.md
  - Sweeps, Optuna: configs/sweeps/README.md
  - Schedulers: framework/docs/schedulers.md
  - Write a plugin: framework/plugins/README.md
  - Plugins by kind:
    - Encoder: framework/docs/plugins/encoder.md
    - Score: framework/docs/plugins/score.md
    - Attention: framework/docs/plugins/attention.md
    - Decoder: framework/docs/plugins/decoder.md
    - Output layer: framework/docs/plugins/output_layer.md
    - Task: framework/docs/plugins/task.md
    - Search: framework/docs/plugins/search.md
    - Metric: framework/docs/plugins/metric.md
    - Diagnostic: framework/docs/plugins/diagnostic.md
    - Optimiser: framework/docs/plugins/optimizer.md
    - Schedule: framework/docs/plugins/schedule.md
  - Many machines: framework/docs/scaling.md
  - Questions and trouble: framework/docs/faq.md
- Notebooks:
NOTEBOOKS
- Ideas:
  - Concepts: framework/concepts.md
  - Glossary: framework/docs/glossary.md
  - Other tools: framework/docs/other_tools.md
  - The arithmetic: framework/kernels/arithmetic.md
  - Security: SECURITY.md
- Reference:
  - Commands: reference/commands.md
  - Keys of a spec: reference/spec.md
PLUGINS
  - Contracts of plugins: reference/contracts.md
  - Python: reference/python.md
  - The record: results/record.md
  - Models of the papers: configs/papers/README.md
  - Scripts: scripts/README.md
- Studies:
  - Findings: results/README.md
STUDIES
- The project:
  - The map: framework/README.md
  - Contributing: CONTRIBUTING.md
  - Speed: tests/bench/README.md
  - Changes: CHANGELOG.md
"""
STYLE = """.wy-nav-content { max-width: 1100px; }
.wy-table-responsive table td, .wy-table-responsive table th, .rst-content table.docutils td { white-space: normal; }
.rst-content table { margin-bottom: 24px; }
.rst-content td, .rst-content th { padding: 4px 10px; border: 1px solid #e1e4e5; vertical-align: top; }
.rst-content code { color: #404040; }
.rst-content a code { color: #2980b9; }
.rst-content pre { overflow-x: auto; }
.rst-content code { white-space: normal; }
.rst-content pre code { white-space: pre; }
.rst-content pre code.language-text { white-space: pre-wrap; }
"""


def asked(*words: str) -> str:
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "NO_COLOR": "1"}).stdout


def cell(text: str) -> str:
    return re.sub(r"([\\|*_<`\[\]])", r"\\\1", text.replace("\n", " "))


def fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def options(rows: list[dict]) -> str:
    if not rows:
        return "No options.\n"
    lines = ["| option | values | |", "| --- | --- | --- |"]
    for row in rows:
        default = "required" if row["required"] else f"default `{row['default']}`" if row["default"] else ""
        values = cell(", ".join(filter(None, (row["type"], row["legal"])))) + f"<br>{default}"
        lines.append(f"| `{row['option']}` | {values} | {cell(row['help'])} |")
    return "\n".join(lines) + "\n"


def subcommands(help_text: str) -> list[tuple[str, str]]:
    """Returns (heading, name) of each command that a help text lists."""
    found, heading = [], ""
    for line in help_text.splitlines():
        if title := re.fullmatch(r"(\w[\w ]*):", line):
            heading = title[1]
        elif (named := re.match(r"  ([a-z]\w*)  +\S", line)) and heading not in ("Options", "Positionals", "Example", ""):
            found.append((heading, named[1]))
    return found


def commands() -> str:
    page = ["# Commands\n", "Each command's `--help`.\n"]
    for heading, members in groupby(subcommands(asked("--help")), key=lambda one: one[0]):
        page.append(f"## {heading}\n")
        for _, name in members:
            help_text = asked(name, "--help")
            page += [f"### softalign {name}\n", fenced(help_text)]
            for _, below in subcommands(help_text):
                page += [f"### softalign {name} {below}\n", fenced(asked(name, below, "--help"))]
    return "\n".join(page)


def plugins(kind: str, names: list[str]) -> str:
    page = [f"# {kind}\n", f"`{kind}:` in a spec, `softalign describe {kind} NAME` on a command line. The contract is [`framework/{CONTRACTS[kind]}.hpp`](../contracts.md).\n"]
    for name in names:
        facts = json.loads(asked("describe", kind, name, "--json"))
        page += [f"## {name}\n", cell(facts["summary"]) + f" (`{facts['source']}`)\n", fenced(facts["note"]) if facts.get("note") else "", options(facts.get("options", []))]
    return "\n".join(page)


def contracts() -> str:
    page = ["# Contracts of plugins\n", "The headers of all contracts, complete. [Plugins](../framework/plugins/README.md#write-a-plugin) has a page with an example for each kind.\n"]
    for header in dict.fromkeys(CONTRACTS.values()):
        kinds = " and ".join(kind for kind, its in CONTRACTS.items() if its == header)
        page += [f"## {kinds}\n", f"`framework/{header}.hpp`\n", fenced((ROOT / f"framework/{header}.hpp").read_text(), "cpp")]
    return "\n".join(page)


def prose(docstring: str) -> str:
    """Returns a docstring as Markdown; its indented lines are code."""
    lines = (line if line.startswith("    ") else re.sub(r"([<*])", r"\\\1", line) for line in docstring.splitlines())
    return "\n".join(lines) + "\n"


def signature(thing: object) -> str:
    try:
        return re.sub(r"'([\w.\[\], |]+)'", r"\1", str(inspect.signature(thing)))  # annotations are strings; this removes their quotes
    except (TypeError, ValueError):
        return ""


def described(name: str, thing: object, level: str) -> list[str]:
    parts = [f"{level} {name}\n"]
    if inspect.isclass(thing):
        text = "" if issubclass(thing, Exception) else signature(thing)
    else:
        text = signature(thing) if callable(thing) else ""
    parts += [fenced(name + text, "python") if text else "", prose(inspect.getdoc(thing) or "")] if inspect.getdoc(thing) or text else []
    return parts


def python() -> str:
    sys.path.insert(0, str(PROGRAM.parents[1] / "python"))
    try:
        package = importlib.import_module("softalign_lab")
    except ImportError as error:
        return f"# Python\n\nThe package was not there when this site was built: {cell(str(error))}.\n"
    page = ["# Python\n", prose(inspect.getdoc(package) or "")]
    for name in package.__all__:
        thing = getattr(package, name)
        page += described(name, thing, "##")
        for member, value in vars(thing).items() if inspect.isclass(thing) and not issubclass(thing, Exception) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, property) or hasattr(value, "func")):
                page += described(f"{name}.{member}", value, "###")
    return "\n".join(page)


def notebook(file: Path) -> str:
    shown = []
    for part in json.loads(file.read_text())["cells"]:
        text = "".join(part["source"])
        shown.append(text if part["cell_type"] == "markdown" else fenced(text, "python"))
    return "\n\n".join(shown) + "\n"


class Site:
    def __init__(self, folder: Path) -> None:
        self.docs = folder / "docs"
        shutil.rmtree(self.docs, ignore_errors=True)
        self.docs.mkdir(parents=True)
        self.documents = [Path(name) for name in subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                                                               stdout=subprocess.PIPE, text=True, check=True).stdout.split()]  # fmt: skip

    def write(self, name: str | Path, text: str) -> None:
        file = self.docs / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def document(self, name: Path) -> None:
        def followed(match: re.Match[str]) -> str:
            picture, text, link = match.groups()
            if re.match(r"\w+:|#", link):
                return match[0]
            path, _, anchor = link.partition("#")
            target = Path(os.path.normpath(name.parent / path))
            if target in self.documents:
                return match[0]
            if (target / "README.md") in self.documents:
                return f"{picture}[{text}]({path.rstrip('/')}/README.md{'#' * bool(anchor)}{anchor})"
            if (ROOT / target).is_file():
                (self.docs / target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / target, self.docs / target)
                return match[0]
            if str(target) == "experiments/notebooks":
                return f"[{text}]({path}first_run.md)"
            return f"`{target}`" if text == str(target) else f"{text} (`{target}`)"  # a folder, or a file that a command on the page creates

        parts = CODE.split((ROOT / name).read_text(encoding="utf-8"))
        held: list[str] = []  # code spans, which may be part of a link's text

        def hold(code: str) -> str:
            held.append(code)
            return f"\0{len(held) - 1}\0"

        text = "".join(part if at % 2 == 0 else hold(part) for at, part in enumerate(parts))
        text = LINK.sub(followed, text)
        self.write(name, re.sub(r"\0(\d+)\0", lambda at: held[int(at[1])], text))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    site = Site(folder)
    for name in site.documents:
        site.document(name)
    listed = sorted(json.loads(asked("list", "--json")), key=lambda one: (rank(one["kind"]), one["kind"], one["name"]))
    kinds = {kind: [one["name"] for one in members] for kind, members in groupby(listed, key=lambda one: one["kind"])}
    for kind, names in kinds.items():
        site.write(f"reference/plugins/{kind}.md", plugins(kind, names))
    site.write("reference/commands.md", commands())
    site.write("reference/spec.md", "# Keys of a spec\n\n`softalign describe spec` prints this table; a plugin's own keys are on the page of its kind.\n\n" + options(json.loads(asked("describe", "spec", "--json"))))
    site.write("reference/contracts.md", contracts())
    site.write("reference/python.md", python())
    notebooks = sorted((ROOT / "experiments/notebooks").glob("*.ipynb"))
    for file in notebooks:
        site.write(f"experiments/notebooks/{file.stem}.md", notebook(file))
    site.write("site.css", STYLE)
    parts = {
        "NOTEBOOKS": [f"  - {file.stem.replace('_', ' ').capitalize()}: experiments/notebooks/{file.stem}.md" for file in notebooks],
        "PLUGINS": ["  - Plugins:", *(f"    - {kind}: reference/plugins/{kind}.md" for kind in kinds)],
        "STUDIES": [f"  - {name.parent.name}: {name}" for name in site.documents if name.match("results/studies/*/README.md")],
    }
    text = NAVIGATION
    for mark, lines in parts.items():
        text = text.replace(mark, "\n".join(lines))
    (folder / "mkdocs.yml").write_text(text.lstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
