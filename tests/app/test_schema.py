"""softalign schema: all specs, sweeps and studies of the project are valid, and faulty ones are not."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from command_line import ANGULAR, error, softalign

ROOT = Path(__file__).parents[2]


class Loader(yaml.SafeLoader):
    """A loader with the numbers of YAML 1.2, such as 1e-4."""


Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"), list("-+.0123456789"))


def read(text: str) -> Any:
    return yaml.load(text, Loader)


@cache
def validator(what: str, *more: object) -> jsonschema.Draft7Validator:
    schema = json.loads(softalign("schema", what, *more, cwd=ROOT).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def kind_of(content: dict[str, Any]) -> str:
    return "sweep" if {"base", "parts"} & set(content) else "spec"


def shipped() -> list[Path]:
    files = [path for folder in ("configs", "experiments", "results") for path in sorted((ROOT / folder).rglob("*.yaml"))]
    return [path for path in files if not {"clusters", "schedulers"} & set(path.parts) and not any(part.startswith(".") for part in path.parts)]


def test_shipped_specs_sweeps_and_studies_are_valid() -> None:
    kinds = []
    for path in shipped():
        content = read(path.read_text())
        kinds.append(kind_of(content))
        faults = [f"{path}: {one.json_path}: {one.message}" for one in validator(kinds[-1]).iter_errors(content)]
        assert not faults, faults[0][:500]
    assert kinds.count("spec") > 30 and kinds.count("sweep") > 10


@pytest.mark.parametrize("path", ["configs/bible.yaml", "experiments/speech/speech.yaml", "experiments/memory_hops/two_hops.yaml"])
def test_a_resolved_spec_is_valid(path: str) -> None:
    content = read(softalign("resolve", path, cwd=ROOT).stdout)
    assert not [f"{one.json_path}: {one.message}"[:500] for one in validator("spec").iter_errors(content)]


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("spec", "train: {epoch: 3}"),
        ("spec", "seed: one"),
        ("spec", "train: {epochs: 0}"),
        ("spec", "model: {encoder: {type: gru, unit: 4}}"),
        ("spec", "model: {attention: {type: global, score: dto}}"),
        ("spec", "model: {attention: {type: global, score: {type: additive, units: many}}}"),
        ("spec", "evaluate: {metrics: [{bleu: {tokenizer: 13a}}]}"),
        ("sweep", "{name: a, base: b.yaml, parameters: {seed: 3}}"),
        ("sweep", "{name: a, base: b.yaml, method: gird}"),
        ("sweep", "{name: a, parameters: {}}"),
        ("sweep", "{name: a, base: b.yaml, early_terminate: {type: asha, eta: 1}}"),
        ("sweep", "{name: a, base: b.yaml, claims: [{clam: x}]}"),
    ],
)
def test_mistakes_are_found(what: str, text: str) -> None:
    assert not validator(what).is_valid(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "model: {encoder: gru, decoder: {type: attentional_gru, units: '${model.embedding}'}}",
        "train: {early_stopping: null, max_updates: null}",
        "evaluate: {metrics: [loss, {bleu: {tokenize: 13a}}]}",
        "extends: [a.yaml, b.yaml]",
    ],
)
def test_all_that_specs_may_hold_is_valid(text: str) -> None:
    validator("spec").validate(read(text))


def test_plugins_that_are_named_are_part_of_it() -> None:
    spec = read("model: {attention: {type: global, score: angular}}")
    assert not validator("spec").is_valid(spec)
    validator("spec", "--plugin", ANGULAR).validate(spec)


def test_a_sweep_s_schema_has_the_keys_that_are_read(tmp_path: Path) -> None:
    """Returns the keys that the program lists in its error about an unknown one."""

    def read_keys(text: str) -> set[str]:
        (tmp_path / "sweep.yaml").write_text(text)
        return set(error("sweep", "plan", "sweep.yaml", cwd=tmp_path, code=2).rpartition("legal: ")[2].split(", "))

    properties = validator("sweep").schema["properties"]
    grid, study = read_keys("{name: a, base: b.yaml, parameters: {a: {value: 1}}, zzzzzz: 1}"), read_keys("{name: a, parts: {}, zzzzzz: 1}")
    assert "run_cap" in grid and "parts" in study
    assert set(properties) == grid | study | {"parts"} | set(properties["parts"]["additionalProperties"]["properties"])
    part = read_keys("{name: a, variants: {v: {}}, parts: {p: {base: b.yaml, zzzzzz: 1}}}")
    assert set(properties["parts"]["additionalProperties"]["properties"]) == part
    condition = read_keys("{name: a, base: b.yaml, parameters: {a: {value: 1}}, conditions: [{zzzzzz: 1}]}")
    assert set(properties["conditions"]["items"]["properties"]) == condition
