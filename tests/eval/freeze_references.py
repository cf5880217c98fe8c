#!/usr/bin/env python3
"""Makes sacrebleu_references.json, the scores of several references that references_test.cpp expects. Run by hand, never by the tests.

    freeze_references.py > sacrebleu_references.json

Needs the Python package sacrebleu (2.x), which the project itself does not use. Sentences are those of sacrebleu_cases.json; hypotheses and
references are damaged copies of them, and some references are missing, as blank lines of a file are.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import sacrebleu
from freeze_sacrebleu import damage
from sacrebleu.metrics import BLEU, CHRF

# Hypotheses, and of each its references.
BY_HAND = {
    "clipped by the reference that has most": (["the the the cat"], [["the cat the", "the the the the dog"]]),
    "n-grams of both": (["a b c d e f g h"], [["a b c d x", "y e f g h"]]),
    "of two lengths as close the shorter": (["a b c d e"], [["a b c d e f g", "a b c"]]),
    "the closest length": (["a b c d e f"], [["a b c", "a b c d e f g", "a b c d e f g h i j"]]),
    "one missing": (["a b c d", "e f g h"], [["a b c e", ""], ["e f h g", "e f g h i"]]),
    "the same twice": (["a b c d e"], [["a b c d f", "a b c d f"]]),
    "empty hypothesis": (["", "a b c d"], [["a b", "c"], ["a b c d", "a b c d e"]]),
    "chrF of either is the same": (["ab ac"], [["ab xy", "xy ac"]]),
}


def random_cases(lines: list[str], count: int) -> dict[str, tuple[list[str], list[list[str]]]]:
    rng = random.Random(1)
    words = [word for line in lines for word in line.split()]
    cases = {}
    for number in range(count):
        chosen = rng.sample(lines, rng.randint(1, 6))
        most = rng.randint(2, 4)

        def damaged(line: str) -> str:
            return " ".join(damage(line.split(), words, rng.choice([0.1, 0.2, 0.4]), rng))

        references = [[damaged(line) or line] + [damaged(line) if rng.random() > 0.1 else "" for _ in range(most - 1)] for line in chosen]
        cases[f"damaged {number}"] = ([damaged(line) for line in chosen], references)
    return cases


def main() -> None:
    made = json.loads((Path(__file__).parent / "sacrebleu_cases.json").read_text(encoding="utf-8"))
    lines = sorted({line for case in made["cases"] for line in case["references"] if len(line.split()) > 6})
    cases = []
    for name, (hypotheses, references) in {**BY_HAND, **random_cases(lines, 20)}.items():
        bleu, chrf = BLEU(tokenize="none", smooth_method="exp"), CHRF()
        streams = [[text or None for text in stream] for stream in zip(*references)]
        case = {"name": name, "hypotheses": hypotheses, "references": references}
        for metric, label in ((bleu, "bleu"), (chrf, "chrf")):
            case[label] = metric.corpus_score(hypotheses, streams).score
            case[f"{label}_stats"] = [[int(x) for x in row] for row in metric._extract_corpus_statistics(hypotheses, streams)]
        case["references_of_each"] = dict(item.split(":") for item in str(bleu.get_signature()).split("|"))["nrefs"]
        cases.append(case)
    head = json.dumps({"made_by": "tests/eval/freeze_references.py", "sacrebleu": sacrebleu.__version__, "cases": []})[: -len("]}")]
    rows = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    print(f"{head}\n{rows}\n]}}")


if __name__ == "__main__":
    main()
