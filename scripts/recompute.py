#!/usr/bin/python3
"""Recomputes the claims of published studies with NumPy alone, from the counts of each test sentence.

recompute.py FOLDER..: each is a results/studies/NAME. Reads table.h5, prints value, 95 % interval, p, corrected p and verdict of each claim,
and compares them with claims.csv, which the program has written. Exit status: 1 if they differ.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # in products of this size, threads only wait for each other  # isort: split
import argparse
import csv
import functools
import re
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import h5py
import numpy as np

RESAMPLES, FEWEST, LEVEL = 1000, 10, 0.05
MEASUREMENT = re.compile(r"([a-z_][\w.]*)(?:\[(\d+)(?:(\+)|-(\d+))?\])?\(([\w.-]+)/([\w.-]+)\)")
COMPARISON = re.compile("<=|>=|<|>")
Metric = tuple[list[str], Callable[[Any], Any]]


def bleu(s: Any) -> Any:
    """Returns BLEU (Papineni et al. 2002). The k-th n-gram order without a match counts 1/2^k of a match."""
    hypothesis, reference, matches, totals = s[:, 0], s[:, 1], s[:, 2:6], s[:, 6:10]
    precision = np.where(matches > 0, matches, 0.5 ** np.cumsum(matches == 0, axis=1)) / totals
    score = 100 * np.exp(np.minimum(0, 1 - reference / hypothesis) + np.log(precision).mean(axis=1))
    return np.where((totals[:, 3] > 0) & (matches[:, 0] > 0), score, 0)


def chrf(s: Any) -> Any:
    """Returns chrF (Popovic 2015) with beta 2: the F-score of the mean precision and the mean recall over character 1- to 6-grams."""
    hypothesis, reference, matches = s[:, 0:18:3], s[:, 1:18:3], s[:, 2:18:3]
    there = (hypothesis > 0) & (reference > 0)
    precision, recall = (np.where(there, matches / grams, 0).sum(axis=1) / there.sum(axis=1) for grams in (hypothesis, reference))
    return 100 * 5 * precision * recall / (4 * precision + recall)


def percent(*columns: str) -> Metric:
    return list(columns), lambda s: 100 * s[:, 0] / s[:, 1]


def error_rate(column: str) -> Metric:
    """Returns the alignment error rate (Och and Ney 2003). Counts: links, those that are sure, those that are possible or sure; known sure links."""
    return [column], lambda s: 100 * (1 - (s[:, 1] + s[:, 2]) / (s[:, 0] + s[:, 3]))


# Metric -> the columns of counts that it reads, and a function from their sums to its value; the last sum is the number of sentences.
METRICS: dict[str, Metric] = {
    "bleu": (["bleu_stats"], bleu),
    "chrf": (["chrf_stats"], chrf),
    "loss": (["nll", "target_tokens"], lambda s: s[:, 0] / s[:, 1]),
    "perplexity": (["nll", "target_tokens"], lambda s: np.exp(s[:, 0] / s[:, 1])),
    "token_accuracy": percent("correct_tokens", "target_tokens"),
    "exact_match": percent("exact"),
    "attention_entropy": (["attention_entropy", "attention_steps"], lambda s: s[:, 0] / s[:, 1]),
    "pointing_accuracy": percent("pointing_hits", "pointing_tokens"),
    "pointing_accuracy_ibm_model1": percent("ibm_model1_hits", "ibm_model1_tokens"),
    "aer": error_rate("attention_links"),
    "aer_ibm_model1": error_rate("ibm_model1_links"),
}


def philox(number: Any, round_: Any, key: list[int]) -> Any:
    """Returns Philox4x32-10 (Salmon et al. 2011) of the counters (number, round), four words each."""
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    c = [number & mask, number >> shift, round_ & mask, round_ >> shift]
    k0, k1 = (np.uint64(part) for part in key)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(b >> shift) ^ c[1] ^ k0, b & mask, (a >> shift) ^ c[3] ^ k1, a & mask]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & mask, (k1 + np.uint64(0xBB67AE85)) & mask
    return np.stack(np.broadcast_arrays(*c))


@functools.cache
def draws(test_set: str, units: int) -> Any:
    """Returns [1 + RESAMPLES, units]: how often each unit is in the test set itself, and in each resample."""
    digest = sha256(f"softalign-rng-1|1|bootstrap {test_set}".encode()).digest()
    key = [int.from_bytes(digest[at : at + 4], "little") for at in (0, 4)]
    index, rounds = np.arange(units, dtype=np.uint64), np.arange(1, RESAMPLES + 1, dtype=np.uint64)[:, None]
    chosen, again = np.zeros((RESAMPLES, units), np.uint64), np.ones((RESAMPLES, units), bool)
    for attempt in range(100):  # Lemire 2019, without bias
        place = index + np.uint64(attempt << 40)
        product = np.take_along_axis(philox(place // np.uint64(4), rounds, key), (place % np.uint64(4)).astype(int)[None, None], 0)[0] * np.uint64(units)
        chosen = np.where(again, product >> np.uint64(32), chosen)
        again &= (product & np.uint64(0xFFFFFFFF)) < (2**32 - units) % units
        if not again.any():
            break
    counts = [np.bincount(row, minlength=units) for row in chosen.astype(int)]
    return np.stack([np.ones(units, int), *counts])


def measured(table: Any, found: re.Match[str]) -> tuple[Any, float]:
    """Returns a measurement [seeds, 1 + RESAMPLES] and its number of independent sentences; for an array of a diagnostic, [seeds, 1] and infinity."""
    metric, first, open_, last, part, variant = found.groups()
    low, high = (0, np.inf) if first is None else (int(first), np.inf if open_ else int(last or first))
    seeds, units = [], np.inf
    for run in (table["runs"][part][variant][seed] for seed in sorted(table["runs"][part][variant], key=int)):
        if "." in metric:
            values, places = run[metric][:], run[metric].attrs.get("places")
            if places is not None:
                values = values[(places >= low) & (places <= high)]
            seeds.append([np.nanmean(values)])
            continue
        test_set = table["test_sets"][run.attrs["test_set"]]
        lengths = test_set["source_length"][:]
        clusters = np.unique(test_set["cluster"][:], return_index=True, return_inverse=True) if "cluster" in test_set else None
        unit = np.arange(len(lengths)) if clusters is None else np.argsort(np.argsort(clusters[1]))[clusters[2]]  # in order of their first sentences
        chosen = (lengths >= low) & (lengths <= high)
        columns, value = METRICS[metric]
        counts = np.column_stack([*(run[column][:] for column in columns), np.ones(len(lengths))])
        times = draws(run.attrs["test_set"], unit.max() + 1)[:, unit[chosen]]
        seeds.append(value(times @ counts[chosen].astype(float)))
        units = min(units, len(set(unit[chosen])))
    return np.array(seeds), units


@functools.cache
def sine_power(power: int) -> Callable[[float], float]:
    """Returns a function: the integral of sin^power from 0 to its angle, as a share of that to a right angle, by Gauss-Legendre quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(200)

    def integral(angle: float) -> Any:
        return angle / 2 * weights @ np.sin(angle * (nodes + 1) / 2) ** power

    whole = integral(np.pi / 2)
    return lambda angle: float(integral(angle) / whole)


def largest(holds: Callable[[float], bool], high: float) -> float:
    """Returns the largest number in [0, high] for which `holds` is true. It must be true for all smaller ones."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def quantile(level: float, freedom: int) -> float:
    """Returns Student's t with P(|T| > t) = level. For t = sqrt(freedom) / tan(angle), P is sine_power(freedom - 1) of the angle."""
    share = sine_power(freedom - 1)
    return float(np.sqrt(freedom) / np.tan(largest(lambda angle: share(angle) < level, np.pi / 2)))


def estimate(difference: Any, units: float) -> dict[str, float]:
    """Returns value, 95 % interval and p over seeds and sentences. Its squared half-width is the sum of those of both by Student's t (Howe 1974)."""
    seeds, of = len(difference), {"difference": difference[:, 0].mean()}
    drawn = difference[:, 1:].mean(axis=0)
    drawn = drawn[np.isfinite(drawn)]
    resampled = bool(np.isfinite(units))
    if (resampled and (units < FEWEST or 2 * len(drawn) <= RESAMPLES)) or (not resampled and seeds == 1):
        return of
    of_seeds = difference[:, 0].var(ddof=1) / seeds if seeds > 1 else 0
    of_sentences = drawn.var(ddof=1) if resampled else 0
    error = of["error"] = np.sqrt(of_seeds + of_sentences)
    if error == 0:
        return of | {"low": of["difference"], "high": of["difference"]} | ({"p": float(of["difference"] == 0)} if seeds > 1 else {})
    terms = [(variance, freedom) for variance, freedom in ((of_seeds, seeds - 1), (of_sentences, units - 1)) if variance > 0]

    def half(level: float) -> float:
        return float(np.sqrt(sum(variance * quantile(level, freedom) ** 2 for variance, freedom in terms)))

    of |= {"low": of["difference"] - half(LEVEL), "high": of["difference"] + half(LEVEL)}
    return of | ({"p": np.exp(-largest(lambda x: half(np.exp(-x)) < abs(of["difference"]), 100))} if seeds > 1 else {})


def evaluated(table: Any, formula: str) -> tuple[Any, float]:
    """Returns what `measured` does, for a formula of measurements and numbers. Raises ValueError for anything else."""
    formula = re.sub(r"\s", "", formula)
    found = [measured(table, one) for one in MEASUREMENT.finditer(formula)]
    order = iter(range(len(found)))
    arithmetic = MEASUREMENT.sub(lambda _: f"v[{next(order)}]", formula)
    if re.search(r"[^-+*/().\dv\[\]]", arithmetic):  # never evaluate foreign code
        raise ValueError(f"{formula}: not a sum of measurements")
    value = eval(arithmetic, {"__builtins__": {}}, {"v": [value for value, _ in found]})
    return np.atleast_2d(value), min((units for _, units in found), default=np.inf)


def recomputed(table: Any, text: str) -> dict[str, Any]:
    (left, left_units), (right, right_units) = (evaluated(table, side) for side in COMPARISON.split(text))
    difference = left - right
    left, right = (np.broadcast_to(side, difference.shape)[:, 0] for side in (left, right))
    holds = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[COMPARISON.findall(text)[0]]
    agrees, held = bool(holds(left.mean(), right.mean())), int(holds(left, right).sum())
    sides = {"left": left.mean(), "right": right.mean(), "agrees": agrees, "seeds_held": held, "seeds": len(left)}
    return estimate(difference, min(left_units, right_units)) | sides


def decided(claims: list[dict[str, Any]]) -> None:
    """Adds to each claim its p-value, corrected for all claims (Holm 1979), and its verdict."""
    least, left = 0.0, sorted((claim for claim in claims if "p" in claim), key=lambda claim: claim["p"])
    for rank, claim in enumerate(left):
        claim["p_holm"] = least = max(least, min(1.0, claim["p"] * (len(left) - rank)))
    for claim in claims:
        if claim.get("error") == 0:
            supported = claim["seeds_held"] == claim["agrees"] * claim["seeds"]
        elif "p" in claim:
            supported = claim["p_holm"] < LEVEL
        else:
            supported = claim.get("low", 0) > 0 or claim.get("high", 0) < 0
        claim["verdict"] = ("holds" if claim["agrees"] else "fails") if supported else "undecided"


def compared(folder: Path) -> int:
    """Prints the claims of a study. Returns how many differ from claims.csv, or 1 if there are none or they cannot be recomputed."""
    try:
        with (folder / "claims.csv").open(encoding="utf-8", newline="") as lines:
            written = [row for row in csv.DictReader(lines) if row["verdict"] in ("holds", "fails", "undecided")]
        with h5py.File(folder / "table.h5") as table, np.errstate(all="ignore"):
            claims = [recomputed(table, row["claim"]) for row in written]
    except (OSError, LookupError, SyntaxError, TypeError, ValueError) as error:
        print(f"{folder}: cannot be recomputed: {error}\n")
        return 1
    decided(claims)
    wrong = 0
    for row, claim in zip(written, claims):
        numbers = {key: claim.get(key, np.nan) for key in ("left", "right", "difference", "low", "high", "p", "p_holm", "seeds_held")}
        same = all(np.isclose(value if np.isfinite(value) else np.nan, float(row[key] or "nan"), rtol=1e-6, atol=1e-9, equal_nan=True) for key, value in numbers.items())
        same &= claim["verdict"] == row["verdict"]
        wrong += not same
        print("  same " if same else "DIFFERS", row["claim"], claim["verdict"], *(f"{key} {value:.4g}" for key, value in numbers.items()))
    print(f"{folder.name}: {len(written) - wrong} of {len(written)} claims are the same\n")
    return wrong if written else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", type=Path)
    sys.exit(min(1, sum(map(compared, parser.parse_args().folders))))
