"""The counts of experiments/alignment_quality for the output of a search."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "experiments/alignment_quality"))
from searched import Counts, count

REFERENCE = ["a", "b", "c", "</s>"]
GOLD = np.array([[2, 0, 0], [0, 1, 0], [0, 0, 2], [0, 0, 0]])  # links of a and c are sure, that of b is possible


def test_a_word_of_the_search_has_the_links_of_the_same_word():
    counts = count(GOLD, REFERENCE, ["c", "a", "x", "</s>"], [(2, 0), (1, 1), (0, 2)])  # c is right, a is wrong, x is not in the reference
    assert counts == Counts(links=2, sure_hits=1, hits=1, sure=2, pointed=2, pointed_right=1)
    assert (counts.aer, counts.pointing) == (50, 50)


def test_possible_links_cost_nothing():
    counts = count(GOLD, REFERENCE, REFERENCE, [(0, 0), (1, 1), (2, 2)])
    assert counts == Counts(links=3, sure_hits=2, hits=3, sure=2, pointed=2, pointed_right=2)
    assert (counts.aer, counts.pointing) == (0, 100)


def test_unknown_words_are_not_the_same_word():
    counts = count(GOLD, ["<unk>", "b", "c"], ["<unk>"], [(0, 0)])
    assert counts == Counts() and math.isnan(counts.aer) and math.isnan(counts.pointing)
