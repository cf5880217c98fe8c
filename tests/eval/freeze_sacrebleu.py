#!/usr/bin/env python3
"""Makes sacrebleu_cases.json, the scores that bleu_test.cpp and chrf_test.cpp expect. Run by hand, never by the tests.

    freeze_sacrebleu.py TEXT [RANDOM_CASES] > sacrebleu_cases.json

TEXT: a text file, one tokenised sentence a line (bible.test.es was used). Needs the Python package sacrebleu (2.x), which
the project itself does not use. Hypotheses are the references, damaged; a few cases are written by hand.
"""
import json
import random
import sys

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

BY_HAND = {
    "identical": (["el arca de noé era grande"], ["el arca de noé era grande"]),
    "nothing shared": (["uno dos tres cuatro"], ["five six seven eight"]),
    "empty hypothesis": ([""], ["no hay nada aquí ahora"]),
    "empty reference": (["no hay nada aquí ahora"], [""]),
    "both empty": ([""], [""]),
    "shorter than four words": (["a b c", "d"], ["a b c", "d"]),
    "one long sentence saves short ones": (["a b", "w x y z"], ["a b", "w x y z"]),
    "no shared bigram, smoothed": (["a b c d e"], ["b a d c f"]),
    "no shared trigram, smoothed": (["a b x c d y e"], ["a b z c d w f g"]),
    "repeats are clipped": (["the the the the the the the"], ["the cat is on the mat"]),
    "too long": (["a b c d e f g h"], ["a b c d e"]),
    "too short": (["a b c d e"], ["a b c d e f g h i j"]),
    "odd white space": (["a\u00a0b  c\u2003d\te"], ["a b c d e"]),
    "beyond the basic plane": (["😀 𝒳 日本 語 n\u0303"], ["😀 𝒴 日 本語 ñ"]),
    "case counts": (["The Cat Sat On It"], ["the cat sat on it"]),
    "one letter": (["a"], ["a"]),
}


def damage(words: list[str], vocabulary: list[str], rate: float, rng: random.Random) -> list[str]:
    """Drops, doubles, exchanges and swaps words, each at the given rate."""
    out: list[str] = []
    for word in words:
        move = rng.random() / rate
        if move < 1:
            continue
        out.append(rng.choice(vocabulary) if move < 2 else word)
        if 2 <= move < 3:
            out.append(word)
        if 3 <= move < 4 and len(out) > 1:
            out[-1], out[-2] = out[-2], out[-1]
    return out


def random_cases(lines: list[str], count: int) -> dict[str, tuple[list[str], list[str]]]:
    rng = random.Random(1)
    vocabulary = [word for line in lines for word in line.split()]
    cases = {}
    for number in range(count):
        references = rng.sample(lines, rng.randint(1, 6))
        rate = rng.choice([0.03, 0.1, 0.2, 0.3, 0.5])
        hypotheses = [" ".join(damage(line.split(), vocabulary, rate, rng)) for line in references]
        cases[f"damaged {number}"] = (hypotheses, references)
    return cases


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    bleu, chrf = BLEU(tokenize="none", smooth_method="exp"), CHRF()
    cases = []
    for name, (hypotheses, references) in {**BY_HAND, **random_cases(lines, count)}.items():
        case = {"name": name, "hypotheses": hypotheses, "references": references}
        for metric, label in ((bleu, "bleu"), (chrf, "chrf")):
            case[label] = metric.corpus_score(hypotheses, [references]).score
            case[f"{label}_stats"] = [
                [int(x) for x in metric._extract_corpus_statistics([h], [[r]])[0]]
                for h, r in zip(hypotheses, references)
            ]
        cases.append(case)
    made = {
        "made_by": "tests/eval/freeze_sacrebleu.py",
        "sacrebleu": sacrebleu.__version__,
        "bleu": str(bleu.get_signature()),
        "chrf": str(chrf.get_signature()),
        "cases": cases,
    }
    head = json.dumps({**made, "cases": []}, ensure_ascii=False)[: -len("]}")]
    rows = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    print(f"{head}\n{rows}\n]}}")


if __name__ == "__main__":
    main()
