"""The documentation site builds; commands, options, Python names and members of contracts in documents exist in the code."""

import ast
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from command_line import BINARIES as BUILD
from test_documents import BLOCK, DOCUMENTS, ROOT, text_of

sys.path.insert(0, str(ROOT / "scripts"))
from site_pages import CONTRACTS, subcommands  # noqa: E402

CODE = re.compile(r"`([^`\n]+)`")
OTHERS = {"--normalization_rule_name", "--reversed"}  # options of other programs
TALKED_ABOUT = {"CHANGELOG.md"}  # names of earlier versions


@cache
def help_of(*words: str) -> str:
    done = subprocess.run([BUILD / "bin/softalign", *words, "--help"], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


@cache
def commands() -> frozenset[str]:
    return frozenset(name for _, name in subcommands(help_of()))


@cache
def own_options() -> frozenset[str]:
    texts = [help_of(name) for name in commands()] + [help_of("sweep", name) for _, name in subcommands(help_of("sweep"))]
    for folder in ("scripts", "experiments", "tests"):
        texts += [file.read_text(errors="replace") for file in (ROOT / folder).rglob("*") if file.suffix in (".py", ".sh")]
    return frozenset(re.findall(r"--[a-z][\w-]*", " ".join(texts))) | OTHERS


def shown(document: str) -> list[str]:
    """Returns spans of code and lines of commands."""
    blocks = [line.split("#")[0] for block in BLOCK.finditer(text_of(document)) if block[1] == "sh" for line in block[2].splitlines()]
    return blocks + CODE.findall(BLOCK.sub("", text_of(document)))


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name not in TALKED_ABOUT])
def test_commands_and_options_exist(document: str):
    unknown = []
    for code in shown(document):
        for name, below in re.findall(r"(?:^|[\s|(])softalign ([a-z]+)\b(?: ([a-z]+)\b)?", code):
            if name not in commands() or name == "sweep" and below and not help_of(name, below):
                unknown.append(f"softalign {name} {below}")
        if code.startswith(("softalign", "--")) or "scripts/" in code:
            unknown += [option for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", code) if option not in own_options()]
    assert not unknown


@pytest.mark.parametrize("document", DOCUMENTS)
def test_names_of_the_python_package_exist(document: str):
    tree = ast.parse((ROOT / "framework/python/softalign_lab/__init__.py").read_text())
    (names,) = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    assert {name for name in re.findall(r"\bsa\.(\w+)", text_of(document))} <= {*names}


MEMBER = re.compile(r"^  (?:virtual [^;{]*?\b(\w+)\(|(?!using|return)(?:const )?[\w:]+(?:<.*>)?(?:::\w+)?(?: ?[*&])? (\w+)(?: =|;|\{))", re.MULTILINE)
NOT_OF_PLUGINS = {"State", "StepByStep", "WatchedMetric", "NamedMetric", "Buckets", "MetricTable", "Forced", "CountLayout", "CountTable", "Counts",
                  "ExampleRow", "Examples", "Portion", "SourceFormat", "LengthBuckets", "ScoreSizes"}  # fmt: skip
MORE_HEADERS = {"metric": ["eval/counts"], "task": ["data/dataset"]}


def members(header: str) -> set[str]:
    """Returns virtual functions and fields of the classes that plugins use."""
    text = re.sub(r"//.*", "", text_of(f"framework/{header}.hpp"))
    found = set()
    for name, body in re.findall(r"^(?:struct|class) (\w+)[^;{]* \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL):
        if name not in NOT_OF_PLUGINS and not name.endswith("Kind"):
            found |= {a or b for a, b in MEMBER.findall(body.split(" private:")[0])} - {name}
    return found


@pytest.mark.parametrize("kind", CONTRACTS)
def test_the_page_of_a_kind_has_every_member_of_its_contract(kind: str):
    kinds = [other for other in CONTRACTS if CONTRACTS[other] == CONTRACTS[kind]]  # of one header
    pages = "".join(text_of(f"framework/docs/plugins/{one}.md") for one in kinds)
    wanted = set().union(*map(members, [CONTRACTS[kind], *MORE_HEADERS.get(kind, [])]))
    assert len(wanted) > 4
    assert not {name for name in wanted if not re.search(rf"[`.]{name}\b", pages)}


def test_the_site_builds(tmp_path: Path):
    if shutil.which("mkdocs") is None:
        pytest.skip("no mkdocs: scripts/setup.sh --packages site")
    environment = {**os.environ, "SOFTALIGN_BINARY_DIR": str(BUILD), "HOME": str(tmp_path)}
    subprocess.run(["/usr/bin/python3", ROOT / "scripts/site_pages.py", tmp_path / "source"], check=True, env=environment)
    built = subprocess.run(["mkdocs", "build", "--strict", "--config-file", tmp_path / "source/mkdocs.yml", "--site-dir", tmp_path / "site"],
                           capture_output=True, text=True, check=False)  # fmt: skip
    assert built.returncode == 0, built.stderr
    page = (tmp_path / "site/reference/commands.html").read_text()
    assert all(f'id="softalign-{name}"' in page for name in commands())
    assert 'id="additive"' in (tmp_path / "site/reference/plugins/score.html").read_text()
    assert "train.optimizer" in (tmp_path / "site/reference/spec.html").read_text()
    assert "virtual Var score(" in (tmp_path / "site/reference/contracts.html").read_text()
    for file in (tmp_path / "site").rglob("*.html"):
        assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?//', file.read_text()), f"{file} loads something from a network"
