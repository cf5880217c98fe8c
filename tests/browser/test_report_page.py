"""Reports opened from disk in a browser."""

import json
import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from report_places import IMAGES, ROOT, SWEEP, TRANSFORMER, make_run, make_study, make_sweep

from softalign_tools.report.page import compute, html

PATIENCE = int(os.environ.get("SOFTALIGN_PATIENCE", "1"))
LARGE = (
    "task.length.test=[4,60]",
    "task.examples.test=2000",
    "record.alignments=2000",
    "train.epochs=1",
    "evaluate.lengths=[10,20,30,40,50]",
)


@pytest.fixture(scope="session")
def pages(tmp_path_factory, drive) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    places = {
        "run": make_run(folder, "train.epochs=40", "record.alignments=40"),
        "study": make_study(folder),
        "sweep": make_sweep(folder),
    }
    for kind, place in places.items():
        (folder / f"{kind}.html").write_text(html(compute([place])))
    return {kind: folder / f"{kind}.html" for kind in places}


@pytest.mark.parametrize("width, theme", [(1280, "light"), (360, "dark")])
@pytest.mark.parametrize("kind", ["run", "study", "sweep"])
def test_a_page_can_be_read_in_any_theme_on_any_screen(kind, width, theme, pages, drive):
    drive("look", pages[kind], width=width, theme=theme)


@pytest.mark.parametrize("kind", ["run", "study", "sweep"])
def test_a_page_needs_no_script_for_its_figures(kind, pages, drive):
    drive("look", pages[kind], script=False)


@pytest.mark.parametrize("kind", ["run", "study", "sweep"])
def test_a_printer_gets_the_whole_page(kind, pages, drive):
    drive("print", pages[kind])


@pytest.mark.parametrize("kind", ["run", "study", "sweep"])
def test_the_pointer_finds_the_values(kind, pages, drive):
    drive("charts", pages[kind])


@pytest.mark.parametrize("width", [1280, 360])
def test_the_explorer_shows_what_its_controls_say(width, pages, drive):
    drive("explorer", pages["run"], width=width)


@pytest.mark.parametrize("kind", ["run", "study"])
def test_pictures_and_tables_can_be_taken_away(kind, pages, drive):
    drive("save", pages[kind])


def test_curves_can_be_looked_at_closely(pages, drive):
    ends = json.loads(drive("curves", pages["study"]))
    records = [h5py.File(record) for record in pages["study"].parent.glob("results/small/*/*/run.h5")]
    assert ends["update"] == f"update {max(record['train/update'][-1] for record in records):,}"
    assert ends["tokens"] == f"target tokens {np.sum(records[0]['train/tokens'][:]):,.0f}"
    by_model = {}
    for record in records:
        by_model.setdefault(Path(record.filename).parents[1].name, []).append(record["train/wall_time"][-1])
    longest = max(map(np.mean, by_model.values()))
    assert float(ends["seconds"].rpartition(" ")[2]) == pytest.approx(longest, rel=1e-2)  # the page shows few digits


def test_two_models_are_told_apart_sentence_by_sentence(pages, drive):
    drive("differences", pages["study"])


def test_the_average_alignment_is_that_of_the_listed_sentences(pages, drive):
    rows = np.array(json.loads(drive("average", pages["run"]))["rows"])
    (record,) = pages["run"].parent.glob("results/tiny/*/run.h5")
    size, total = len(rows), np.zeros_like(rows)
    fine = np.arange(size * 2520) // 2520  # 2520 = lcm(1..10): each word of a sentence of up to 10 words is a whole number of these cells
    with h5py.File(record) as file:
        group = file["alignments/cross"]
        for at in range(group["sentence"].size):
            t, s = group["tgt_len"][0, at], group["src_len"][at]
            down, across = (np.arange(fine.size) * n // fine.size for n in (t, s))
            left, right = (np.zeros((size, n)) for n in (t, s))
            np.add.at(left, (fine, down), 1 / 2520)
            np.add.at(right, (fine, across), s / fine.size)
            total += left @ group["weights"][0, at, 0, :t, :s] @ right.T
        assert np.abs(rows - total / group["sentence"].size).max() < 1.5 / 255


def test_what_is_chosen_stands_in_the_address(pages, drive):
    drive("address", pages["study"])


@pytest.mark.parametrize("width, theme", [(1280, "light"), (360, "dark")])
@pytest.mark.parametrize("kind", ["run", "study", "sweep"])
def test_axe_finds_nothing(kind, width, theme, pages, drive):
    drive("axe", pages[kind], width=width, theme=theme)


@pytest.mark.parametrize("kind, metric", [("study", "BLEU (%)"), ("sweep", "BLEU (%)")])
def test_a_phone_shows_the_main_metric_beside_the_configurations(kind, metric, pages, drive):
    assert json.loads(drive("phone", pages[kind], width=390))["head"][:2] == ["configuration", metric]


def test_the_matrix_on_the_page_is_the_record_s(pages, drive):
    shown = json.loads(drive("matrix", pages["run"]))
    (record,) = pages["run"].parent.glob("results/tiny/*/run.h5")
    with h5py.File(record) as file:
        group = file["alignments/cross"]
        at = group["sentence"][:].tolist().index(shown["sentence"])
        t, s = group["tgt_len"][0, at], group["src_len"][at]
        weights, gold = group["weights"][0, at, 0, :t, :s], group["gold"][at, :t, :s]
    zero = weights.ravel() < 0.5 / 255
    assert (zero[1:] & zero[:-1]).any(), "a matrix without zeros side by side would not test how they are counted"
    assert np.abs(np.array(shown["rows"]) - weights).max() <= 0.5 / 255 + 0.0006
    assert sorted(shown["places"]) == np.argwhere(gold).tolist()


def test_an_image_is_drawn_with_the_weights_of_each_word(tmp_path, drive):
    (tmp_path / "image.html").write_text(html(compute([make_run(tmp_path, *IMAGES)])))
    drive("look", tmp_path / "image.html", width=360, theme="dark")
    drive("image", tmp_path / "image.html")


def test_images_beside_each_other_fit_their_places(tmp_path, drive):
    runs = [make_run(tmp_path, *IMAGES, f"seed={seed}") for seed in (1, 2)]
    (tmp_path / "images.html").write_text(html(compute(runs)))
    drive("images", tmp_path / "images.html")


def test_the_heads_of_a_layer_are_shown_together(tmp_path, drive):
    (tmp_path / "heads.html").write_text(html(compute([make_run(tmp_path, *TRANSFORMER, "record.self_attention=true")])))
    drive("look", tmp_path / "heads.html", width=360, theme="dark")
    drive("heads", tmp_path / "heads.html")


def test_two_runs_are_compared(pages, drive):
    drive("compare", pages["study"])


def test_the_rows_of_a_sweep_can_be_followed(pages, drive):
    drive("sweep", pages["sweep"])
    drive("rows", pages["sweep"])


@pytest.mark.parametrize("width, theme", [(1280, "light"), (360, "dark")])
def test_what_is_wider_than_the_screen_says_so(width, theme, pages, drive):
    drive("narrow", pages["sweep"], width=width, theme=theme)


def test_the_keyboard_goes_everywhere(pages, drive):
    drive("keyboard", pages["run"])


def test_two_thousand_sentences_open_at_once(tmp_path, drive):
    page = tmp_path / "large.html"
    page.write_text(html(compute([make_run(tmp_path, *LARGE)])))
    assert page.stat().st_size < 30_000_000
    measured = json.loads(drive("large", page))
    print(page.stat().st_size, measured)
    assert measured["sentences"] == 2000 and measured["milliseconds"] < 3000


def test_sixty_runs_open_within_a_second(tmp_path, drive):
    rates = [0.001, 0.002, 0.005, 0.01, 0.02]
    sweep = SWEEP.replace("[0.001, 0.01, 0.03]", str(rates)).replace("seeds: [1, 2]", "seeds: {first: 1, count: 6}").replace("{value: 3}", "{value: 1}")
    page = tmp_path / "sixty.html"
    page.write_text(html(compute([make_sweep(tmp_path, sweep)])))
    measured = json.loads(drive("opened", page))
    print(page.stat().st_size, measured)
    assert measured["rows"] == 60 and measured["milliseconds"] < 1000 * PATIENCE
