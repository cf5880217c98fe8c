"""The notebooks of experiments/notebooks, cell by cell. No Jupyter is needed: their two magics are the package's own."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import softalign_lab as sa

NOTEBOOKS = sorted((Path(__file__).parents[2] / "experiments/notebooks").glob("*.ipynb"))


class Shell:
    """The part of IPython that %load_ext and cell magics need."""

    def __init__(self) -> None:
        self.magics: dict[str, Any] = {}

    def register_magic_function(self, function: Any, magic_kind: str) -> None:
        self.magics[function.__name__] = function

    def run(self, cell: str, names: dict[str, Any]) -> Any:
        """Returns the value of the cell's last line, as a notebook shows it."""
        if cell.startswith("%load_ext "):
            return sa.load_ipython_extension(self)
        if cell.startswith("%%"):
            line, _, body = cell[2:].partition("\n")
            magic, _, rest = line.partition(" ")
            return self.magics[magic](rest, body)
        tree = ast.parse(cell)
        shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102
        return eval(compile(ast.Expression(shown.value), "cell", "eval"), names) if isinstance(shown, ast.Expr) else None  # noqa: S307


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("matplotlib", "xarray", *["optuna"] * (notebook.stem == "search")):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOFTALIGN_CACHE", str(tmp_path / "cache"))
    shell, names = Shell(), {"__name__": "notebook"}
    shown = [shell.run("".join(cell["source"]), names) for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    if notebook.stem == "first_run":
        assert names["attention"].metrics["token_accuracy"] > names["vector"].metrics["token_accuracy"]
    elif notebook.stem == "own_data":
        assert shown[-2] == ["forty seven", "nine hundred three", "five hundred fifty five"]
    elif notebook.stem == "own_score":
        assert shown[2] < 1e-5 and len(names["runs"]) == 2
    elif notebook.stem == "search":
        states, study = shown[2]["count"], names["study"]
        assert len(study.trials) == sum(states) == 20 and states["pruned"] > 0 and study.best_value == names["sweep"].best.dev["loss"].iloc[-1]
        losses = [group["metrics"]["loss"]["mean"] for group in shown[5].data["groups"]]
        assert len(losses) == 2 and min(losses) < 0.9 * max(losses) and len(names["figure"].axes) == 2


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"first_run", "own_data", "own_score", "search"}
