"""softalign match: widths that give a baseline the size or the cost of a model; and the widths in studies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from command_line import answer, error, softalign

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture()
def fair(here: Path) -> Path:
    """Returns models so wide that one unit adds less than 2 %."""
    tiny = here / "tiny.yaml"
    wide = tiny.read_text().replace("{type: gru, units: 8", "{type: gru, units: 50").replace("attentional_gru, units: 8", "attentional_gru, units: 100")
    tiny.write_text(wide)
    return here


def overrides(text: str) -> list[str]:
    """Returns the output of `match` as words of a command line."""
    return [f"{key}={value}" for key, value in yaml.safe_load(text).items()]


def near(found: int, target: int) -> bool:
    return abs(found - target) <= target / 100


def test_a_baseline_is_as_large_or_as_costly(fair: Path) -> None:
    none = ["tiny.yaml", "model.attention={type: none}"]
    count = answer("parameters", "tiny.yaml", cwd=fair)["count"]
    assert not near(answer("parameters", *none, cwd=fair)["count"], count)
    widths = overrides(softalign("match", *none, "--to", "tiny.yaml", cwd=fair).stdout)
    assert near(answer("parameters", *none, *widths, cwd=fair)["count"], count)
    assert overrides(softalign("match", *none, "--target", count, cwd=fair).stdout) == widths

    cost = answer("parameters", "tiny.yaml", "model.decoder.units=80", "--lengths", "10,30", cwd=fair)["cost"]["multiplications_per_target_symbol"]
    how = ["--by", "multiplications", "--lengths", "10,30", "--adjust", "model.encoder.units", "--adjust", "model.decoder.units"]
    widths = overrides(softalign("match", *none, "--to", "tiny.yaml", "--with", "model.decoder.units=80", *how, cwd=fair).stdout)
    assert len(widths) == 2
    assert near(answer("parameters", *none, *widths, "--lengths", "10,30", cwd=fair)["cost"]["multiplications_per_target_symbol"], cost)


@pytest.mark.parametrize(
    ("study", "matched"),
    [
        ("scores", {f"bible/{score}": "bible/additive" for score in (
            "additive_concat", "normed_additive", "coverage", "concat", "concat_identity", "dot", "scaled_dot", "cosine", "general", "location",
            "local_m", "local_p", "monotonic", "sparsemax", "hard",
        )}),
        ("self_attention", {f"bible/{variant}": "bible/gru" for variant in (
            "lstmn", "convolutional", "attending", "gru_transformer", "transformer",
        )}),
    ],
)  # fmt: skip
def test_the_widths_in_studies_still_match(study: str, matched: dict[str, str], tmp_path: Path) -> None:
    softalign("sweep", "plan", EXPERIMENTS / study / "study.yaml", "--results", tmp_path, cwd=tmp_path)
    counts: dict[str, int] = {}
    for line in (tmp_path / study / "plan.jsonl").read_text().splitlines()[1:-1]:
        row = json.loads(line)
        name = f"{row['part']}/{row['variant']}"
        if name not in counts and name in {*matched, *matched.values()}:
            counts[name] = answer("parameters", tmp_path / study / "bases" / f"{row['base']}.yaml", cwd=tmp_path)["count"]
    for variant, other in matched.items():
        assert near(counts[variant], counts[other]), (variant, counts[variant], counts[other])


def test_parameters_says_what_a_symbol_costs(fair: Path) -> None:
    short = answer("parameters", "tiny.yaml", "--lengths", "10,10", cwd=fair)["cost"]
    long = answer("parameters", "tiny.yaml", "--lengths", "40", cwd=fair)["cost"]
    assert (short["energies"], long["energies"]) == (100, 1600)
    assert long["projection"] == 40 * 50 * 11  # readout, symbols
    assert short["multiplications_per_target_symbol"] < long["multiplications_per_target_symbol"]
    changed = answer("parameters", "tiny.yaml", "--lengths", "10,10", "model.decoder.units=4", cwd=fair)
    assert changed["cost"]["multiplications"] < short["multiplications"]
    for lengths in (["5", "7"], ["5,7,8"]):
        error("parameters", "tiny.yaml", "--lengths", *lengths, cwd=fair, code=2)
    for words in ([], ["--target", "100"], ["--to", "gone.yaml"], ["--target", "9", "--symbols", "5,3"]):
        softalign("match", "tiny.yaml", "model.attention={type: none}", *words, cwd=fair, code=2)
