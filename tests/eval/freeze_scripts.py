#!/usr/bin/env python3
"""Makes sacrebleu_scripts.json: sacreBLEU's scores of 1,000 sentences in five scripts. Run by hand, never by the tests.

    freeze_scripts.py > sacrebleu_scripts.json

Needs the Python package sacrebleu (2.x). The sentences are random words with marks, numbers and entities, and hypotheses are damaged references.
"""

import json
import random

import sacrebleu
from sacrebleu.metrics import BLEU

ALPHABETS = {
    "latin": "abcdefghijklmnopqrstuvwxyzäçéñöüß",
    "cyrillic": "абвгдежзийклмнопрстуфхцчшщыьэюя",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "devanagari": "अआइईउऊकखगघचजटडतदनपबमयरलवसहािीुूे",
    "han": "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生",
}
MARKS = {
    "latin": [",", ".", "!", "?", ":", "-", "'", '"', "“", "”", "…", "&quot;", "&amp;", "<skipped>", "€", "§", "(", ")", "/", "%", "\u00a0"],
    "cyrillic": [",", ".", "«", "»", "—", "№", "₽", "!", "-"],
    "arabic": ["،", "؛", "؟", ".", "٪", "«", "»"],
    "devanagari": ["।", "॥", ",", "₹", "?", "-"],
    "han": ["，", "。", "、", "！", "？", "《", "》", "“", "”", "％", "\u3000"],
}
NUMBERS = {
    "latin": ["3.14", "1,000", "7", "12-13", "5.", ".5", "x2.", "½", "²"],
    "cyrillic": ["2,5", "1917-1918", "10.", "8"],
    "arabic": ["٣٫١٤", "١٢", "12.", "٥"],
    "devanagari": ["१२", "३.५", "4,000.", "७"],
    "han": ["三", "2024", "１２", "3.5", "〇"],
}


def sentence(script: str, rng: random.Random) -> list[str]:
    pieces = []
    for _ in range(rng.randint(3, 8)):
        word = "".join(rng.choice(ALPHABETS[script]) for _ in range(rng.randint(1, 3)))
        if rng.random() < 0.2:
            word = rng.choice(NUMBERS[script])
        if rng.random() < 0.4:
            word = word + rng.choice(MARKS[script]) if rng.random() < 0.7 else rng.choice(MARKS[script]) + word
        pieces.append(word)
    return pieces


def damaged(words: list[str], script: str, rng: random.Random) -> list[str]:
    out = []
    for word in words:
        chance = rng.random()
        if chance < 0.05:
            continue
        out.append(rng.choice(sentence(script, rng)) if chance < 0.15 else word.rstrip(",.，。") if chance < 0.25 else word)
    return out


def main() -> None:
    rng = random.Random(5)
    cases = []
    for script in ALPHABETS:
        join = "" if script == "han" else " "
        words = [sentence(script, rng) for _ in range(200)]
        references = [join.join(one) for one in words]
        hypotheses = [join.join(damaged(one, script, rng)) for one in words]
        expected = {}
        for tokenisation in ("none", "13a", "intl", "char"):
            score = BLEU(tokenize=tokenisation).corpus_score(hypotheses, [references])
            expected[tokenisation] = {"score": score.score, "bp": score.bp, "ratio": score.ratio, "counts": score.counts + score.totals}
        cases.append({"script": script, "hypotheses": hypotheses, "references": references, "expected": expected})
    print(json.dumps({"sacrebleu": sacrebleu.__version__, "cases": cases}, ensure_ascii=False, indent=0))


if __name__ == "__main__":
    main()
