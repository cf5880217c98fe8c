#!/usr/bin/env python3
"""Makes significance_cases.json, what significance_test.cpp expects. Run by hand, never by the tests.

    freeze_significance.py TEXT > significance_cases.json

TEXT: a text file, one tokenised sentence a line (bible.test.es was used). Needs the Python package sacrebleu (2.x), which
the project itself does not use. Systems are references, damaged, each in its own way; the first is the baseline. sacreBLEU runs its
own tests with its default numbers of trials and resamples, then with many more: the values that ours are held against.
"""
from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

sys.path.insert(0, str(Path(__file__).parents[1] / "eval"))
from freeze_sacrebleu import damage  # noqa: E402

SENTENCES, LONGEST = 100, 16
SYSTEMS = {"baseline": (1, 0.16), "near": (2, 0.145), "other": (3, 0.13), "better": (4, 0.09)}
MANY = {"ar": 100_000, "bs": 20_000}


def p_values(kind: str, trials: int, systems: list[tuple[str, list[str]]], references: list[str]) -> dict[str, list[dict[str, float]]]:
    """{"bleu": [{"score", "p", "mean", "ci"}..], "chrf": ..}, without what sacreBLEU leaves open."""
    metrics = {"bleu": BLEU(tokenize="none", smooth_method="exp", references=[references]), "chrf": CHRF(references=[references])}
    _, found = PairedTest(systems, metrics, None, kind, trials)()
    results = dict(zip(metrics, (found["BLEU"], found["chrF2"])))
    names = {"score": "score", "p_value": "p", "mean": "mean", "ci": "ci"}
    return {
        name: [{n: float(getattr(result, a)) for a, n in names.items() if getattr(result, a) is not None} for result in of_metric]
        for name, of_metric in results.items()
    }


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [line.strip() for line in file if 4 <= len(line.split()) <= LONGEST]
    references = random.Random(1).sample(lines, SENTENCES)
    vocabulary = [word for line in lines for word in line.split()]
    systems = []
    for name, (seed, rate) in SYSTEMS.items():
        rng = random.Random(seed)
        systems.append((name, [" ".join(damage(line.split(), vocabulary, rate, rng)) for line in references]))
    made = {"made_by": "tests/analysis/freeze_significance.py", "sacrebleu": sacrebleu.__version__}
    expected = {
        f"{kind}_{count}": {"draws": draws, **p_values(kind, draws, systems, references)}
        for kind, default in (("ar", 10_000), ("bs", 1_000))
        for count, draws in (("default", default), ("many", MANY[kind]))
    }
    texts = {"references": references, **dict(systems)}
    parts = [f'"{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in {**made, **expected}.items()]
    rows = ",\n".join(f' "{name}": [\n{_rows(text)}]' for name, text in texts.items())
    print("{" + ",\n".join(parts) + ',\n"texts": {\n' + rows + "}}")


def _rows(text: list[str]) -> str:
    return ",\n".join("  " + json.dumps(line, ensure_ascii=False) for line in text)


if __name__ == "__main__":
    main()
