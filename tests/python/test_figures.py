"""Figures of the package equal those of scripts/figures.py for any style and backend of the user."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import softalign_lab as sa
from command_line import TINY

matplotlib = pytest.importorskip("matplotlib")
SCRIPT = Path(__file__).parents[2] / "scripts/figures.py"
LOUD = {"font.size": 25, "xtick.labelsize": 30, "axes.facecolor": "black", "axes.grid": True, "grid.color": "red", "lines.linewidth": 9}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> sa.Sweep:
    folder = tmp_path_factory.mktemp("figures")
    (folder / "tiny.yaml").write_text(TINY)
    parameters = "{train.epochs: {values: [1, 2, 3]}, model.encoder.units: {values: [4, 8]}}"
    (folder / "sweep.yaml").write_text(f"name: grid\nbase: tiny.yaml\nparameters: {parameters}\nseeds: [1, 2]\n")
    return sa.sweep(folder / "sweep.yaml", results=folder / "results")


@pytest.mark.parametrize("what", ["lengths", "heatmap"])
def test_figures_are_those_of_the_script_and_leave_no_trace(swept: sa.Sweep, tmp_path: Path, what: str) -> None:
    with matplotlib.rc_context(LOUD):
        before = dict(matplotlib.rcParams)
        if what == "lengths":
            figure = sa.lengths(swept, "bleu", band="range", names={"epochs=1 units=4": "least"}, width="column", font="serif")
            words = ["--metric", "bleu", "--band", "range", "--name", "epochs=1 units=4=least"]
        else:
            figure = sa.heatmap(swept, "epochs", "units", "test/bleu", width="column", font="serif")
            words = ["--x", "epochs", "--y", "units", "--metric", "test/bleu"]
        assert dict(matplotlib.rcParams) == before
        figure.savefig(tmp_path / "ours.png", dpi=300, facecolor="white", metadata={"Software": "softalign"})
    subprocess.run([sys.executable, SCRIPT, what, swept.folder, "--output", tmp_path / "theirs", *words], check=True, capture_output=True)
    assert (tmp_path / "ours.png").read_bytes() == (tmp_path / "theirs.png").read_bytes()


def test_curves_of_a_run_have_the_same_style(swept: sa.Sweep, tmp_path: Path) -> None:
    run = next(iter(swept.runs))
    drawn = []
    for settings in ({}, LOUD):
        with matplotlib.rc_context(settings):
            run.plot(["loss"]).savefig(tmp_path / "curve.png", facecolor="white")
            drawn.append((tmp_path / "curve.png").read_bytes())
    assert drawn[0] == drawn[1] and run.plot(["loss"]).axes[0].lines[0].get_color() == "#0072b2"


def test_numbers_are_those_of_the_records(swept: sa.Sweep) -> None:
    figure = sa.lengths(swept, ["bleu", "loss"])
    assert [axes.get_ylabel().split()[0] for axes in figure.axes] == ["BLEU", "loss"]
    table = swept.frame()
    (legend,) = figure.legends
    names = {line.get_color(): text.get_text() for line, text in zip(legend.get_lines(), legend.get_texts())}
    assert len(names) == len(figure.axes[0].lines)
    for line in figure.axes[0].lines:
        epochs, units = (int(part.partition("=")[2]) for part in names[line.get_color()].split())
        rows = table[(table["train.epochs"] == epochs) & (table["model.encoder.units"] == units)]
        values = [sa.Run(folder).test["bleu"] for folder in rows["folder"]]
        assert list(line.get_ydata()) == pytest.approx(list((values[0] + values[1])[1:] / 2), nan_ok=True)
    assert "1, 2" in figure.notes[-1]
    best = sa.heatmap(swept)
    (image,) = best.axes[0].images
    assert image.get_array().max() == pytest.approx(table.groupby(["train.epochs", "model.encoder.units"])["dev/loss"].mean().max())
    assert sa.heatmap(swept, "units", "epochs", where={"epochs": 2}).axes[0].images[0].get_array().shape == (1, 2)


def test_what_is_left_out_is_noted(swept: sa.Sweep, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)

    def stop(_: object) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        sa.run(tmp_path / "tiny.yaml", {"train.epochs": 9}, results=tmp_path / "stopped", progress=False, on_evaluation=stop)
    with pytest.raises(sa.DataError, match="no run has results of test"):
        sa.lengths(tmp_path / "stopped")
    (stopped,) = sa.runs(tmp_path / "stopped")
    assert sa.lengths([swept, stopped]).notes[0] == f"{stopped.path} is left out: it has no results of test yet"


def test_notebooks_show_figures(swept: sa.Sweep) -> None:
    for figure in (sa.heatmap(swept), sa.lengths(swept)):
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_wrong_arguments_are_named(swept: sa.Sweep, tmp_path: Path) -> None:
    for how, said in (({"metric": "blue"}, "^metric blue: .*bleu"), ({"band": "wide"}, "band: .*sd, range, none"), ({"font": "x"}, "serif, sans"), ({"names": {"a": "b"}}, "nothing is called 'a'")):
        with pytest.raises(sa.SpecError, match=said):
            sa.lengths(swept, **how)
    for how, said in (({"x": "units"}, "x and y say"), ({"x": "units", "y": "units"}, "same"), ({"metric": "dev/blue"}, "dev_bleu"), ({"where": {"a": 1}}, "no parameter 'a'")):
        with pytest.raises(sa.SpecError, match=said):
            sa.heatmap(swept, **how)
    with pytest.raises(sa.DataError, match="sweep.h5"):
        sa.heatmap(swept.runs[0].path)
    with pytest.raises(sa.Error, match="neither a file"):
        sa.lengths(tmp_path / "nowhere")
