"""Dev and test sets with several references: BLEU and chrF as sacreBLEU defines them, all texts in the record."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import h5py
import pytest
from command_line import answer, error, softalign, text_spec, trained_run

LEARNS = ["train.epochs=30", "evaluate.metrics=[bleu, chrf, exact_match, length_ratio]"]


def ngrams(symbols: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(symbols[i : i + n]) for i in range(len(symbols) - n + 1))


def bleu(hypotheses: list[str], references: list[list[str]]) -> float:
    """Returns BLEU: counts clipped by the reference with most of an n-gram; the closest length, of two equally close ones the shorter; smooth:exp."""
    length, closest, correct, total = 0, 0, [0] * 4, [0] * 4
    for hypothesis, all_of_it in zip(hypotheses, references):
        ours, theirs = hypothesis.split(), [reference.split() for reference in all_of_it if reference]
        length += len(ours)
        closest += min((abs(len(one) - len(ours)), len(one)) for one in theirs)[1]
        for n in range(4):
            most: Counter[tuple[str, ...]] = Counter()
            for one in theirs:
                most |= ngrams(one, n + 1)
            found = ngrams(ours, n + 1)
            correct[n] += sum((found & most).values())
            total[n] += sum(found.values())
    smooth, log = 1.0, 0.0
    for n in range(4):
        if correct[n] == 0:
            smooth *= 2
        log += math.log((correct[n] or 1 / smooth) / total[n]) / 4
    return 100 * math.exp(min(0.0, 1 - closest / length) + log)


def chrf(hypotheses: list[str], references: list[list[str]]) -> float:
    """Returns chrF: each sentence with the first of the references that give it the highest score."""

    def score(counts: list[int]) -> float:
        shares = [(counts[i + 2] / counts[i], counts[i + 2] / counts[i + 1]) for i in range(0, 18, 3) if counts[i] and counts[i + 1]]
        p, r = (sum(share[side] for share in shares) / max(len(shares), 1) for side in range(2))
        return 500 * p * r / (4 * p + r) if p + r else 0

    sums = [0] * 18
    for hypothesis, all_of_it in zip(hypotheses, references):
        each = []
        for reference in filter(None, all_of_it):
            counts = []
            for n in range(1, 7):
                ours, theirs = (ngrams("".join(text.split()), n) for text in (hypothesis, reference))
                counts += [sum(ours.values()) if theirs else 0, sum(theirs.values()), sum((ours & theirs).values())]
            each.append(counts)
        sums = [a + b for a, b in zip(sums, max(each, key=score))]
    return score(sums)


@pytest.fixture
def translated(here: Path) -> Path:
    """Returns sentences with a target and two further references, some of which are missing."""
    for split, lines in {"train": 30, "dev": 6, "test": 6}.items():
        for name, text in {"en": "a b c {0} d", "es": "a b c {0} d", "es2": "a c b {0}", "es3": "d {0} d a b c {0}"}.items():
            missing = {("es2", 1), ("es3", 1), ("es3", 4)}
            (here / f"{split}.{name}").write_text("".join(("" if (name, i) in missing else text.format(i % 5)) + "\n" for i in range(lines)))
    (here / "text.yaml").write_text(text_spec().replace("test.es}", "test.es, references: [test.es2, test.es3]}").replace("dev.es}", "dev.es, references: dev.es2}"))
    (here / "one.yaml").write_text(text_spec())
    return here


def test_scores_are_those_of_all_references(translated: Path) -> None:
    run = trained_run(translated, *LEARNS, spec="text.yaml")
    with h5py.File(run / "run.h5") as file:
        test = file["test"]
        hypotheses, first = (test[name].asstr()[:].tolist() for name in ("hypothesis", "reference"))
        further = test["references"].asstr()[:].tolist()
        measured, signature = dict(test.attrs), test.attrs["bleu_signature"].decode()
        exact, dev = test["exact"][:].tolist(), file["dev/bleu"][-1]
    assert further == [["a c b 0", "d 0 d a b c 0"], ["", ""], ["a c b 2", "d 2 d a b c 2"], ["a c b 3", "d 3 d a b c 3"], ["a c b 4", ""], ["a c b 0", "d 0 d a b c 0"]]  # fmt: skip
    references = [[one, *more] for one, more in zip(first, further)]
    assert measured["bleu"] == pytest.approx(bleu(hypotheses, references), abs=1e-9) and measured["bleu"] > 0
    assert measured["chrf"] == pytest.approx(chrf(hypotheses, references), abs=1e-9)
    assert exact == [hypothesis in all_of_it for hypothesis, all_of_it in zip(hypotheses, references)]
    assert signature.startswith("nrefs:var|case:mixed|eff:no|tok:none|smooth:exp|version:softalign-")
    assert dev == answer("evaluate", run, "--split", "dev", cwd=translated)["metrics"]["all"]["bleu"]
    assert "the same bits again" in softalign("verify", run, cwd=translated).stdout
    again = answer("evaluate", run, cwd=translated)["metrics"]["all"]
    assert all(again[name] == measured[name] for name in ("bleu", "chrf", "exact_match", "length_ratio"))
    rows = list(csv.DictReader(io.StringIO(softalign("export", run, "--what", "sentences", cwd=translated).stdout)))
    assert [[row["references_0"], row["references_1"]] for row in rows] == further


def test_one_reference_stays_what_it_was(translated: Path) -> None:
    several, one = (trained_run(translated, *LEARNS, spec=spec) for spec in ("text.yaml", "one.yaml"))
    assert several.name != one.name
    with h5py.File(several / "run.h5") as a, h5py.File(one / "run.h5") as b:
        assert "references" not in b["test"] and b["test"].attrs["bleu_signature"].startswith(b"nrefs:1|")
        assert a["test/hypothesis"].asstr()[:].tolist() == b["test/hypothesis"].asstr()[:].tolist()  # trained alike
        assert a["train/loss"][:].tolist() == b["train/loss"][:].tolist()
    assert "different signatures" in error("compare", several, one, "--metric", "bleu", cwd=translated, code=2)
    (translated / "found").write_text(softalign("translate", one, cwd=translated, text=(translated / "test.en").read_text()).stdout)
    found, before = (answer("evaluate", one, *more, cwd=translated)["metrics"]["all"] for more in (["task.test.references=found"], []))
    assert before["exact_match"] < 100 and before["bleu"] < 100
    assert found["exact_match"] == 100 and found["bleu"] == pytest.approx(100) and found["chrf"] == pytest.approx(100)
    for split, other in (("test", "dev"), ("dev", "test")):
        said = softalign("evaluate", one, "--split", split, f"task.{other}.references=found", "task.vocabulary.size=9", cwd=translated).stderr
        assert said.count("has no effect") == 1 and f"task.{other}.references has no effect: the {split} sentences are measured" in said
    changed = answer("evaluate", one, "task.test.references=[test.es2, test.es3]", cwd=translated)
    assert changed["metrics"] == answer("evaluate", several, cwd=translated)["metrics"]


def test_references_that_cannot_be_are_refused(translated: Path) -> None:
    (translated / "short").write_text("a\n")
    assert "/short has 1;" in softalign("validate", "one.yaml", "task.test.references=short", cwd=translated, code=3).stderr
    assert "absent" in error("run", "one.yaml", "task.dev.references=absent", cwd=translated, code=3)
    (translated / "no_target.yaml").write_text(text_spec().replace(", target: test.es}", ", references: test.es2}"))
    assert "target is missing" in error("validate", "no_target.yaml", cwd=translated, code=2)
