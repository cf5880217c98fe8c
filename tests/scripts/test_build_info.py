"""cmake/SoftalignBuildInfo.cmake: the version of the sources that a program reports."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "cmake/SoftalignBuildInfo.cmake"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "framework").mkdir(parents=True)
    (tree / "framework/a.cpp").write_text("int a;\n")
    (tree / ".gitignore").write_text("*.o\n")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=tree, check=True)
    return tree


def build_info(tree: Path) -> str:
    output = tree.parent / "build_info.cpp"
    facts = [f"-D{name}={value}" for name, value in {"SOURCE": tree, "OUTPUT": output, "VERSION": "1", "LIBRARIES": ""}.items()]
    subprocess.run(["cmake", *facts, "-P", SCRIPT], check=True)
    return output.read_text()


def test_a_committed_tree_is_clean(tree: Path) -> None:
    (tree / "notes.txt").write_text("no source\n")
    (tree / "framework/a.o").write_text("ignored\n")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tree, capture_output=True, text=True, check=True).stdout.strip()
    assert f'"{commit}", false,' in build_info(tree)


def test_a_changed_source_and_a_new_one_stand_in_the_diff(tree: Path) -> None:
    (tree / "framework/a.cpp").write_text("int a = 1;\n")
    (tree / "framework/new one.cpp").write_text('int b;  // "$x" [1;2]\n')
    info = build_info(tree)
    assert ", true," in info and "+int a = 1;" in info
    assert "b/framework/new one.cpp" in info and '+int b;  // "$x" [1;2]\n' in info
