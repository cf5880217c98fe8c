#!/usr/bin/python3
"""Prints the entropy of attention by source length. entropy.py RUN.h5: any record of a run with attention.

The entropy H of a row of an attention matrix is 0 nats if one source position has all the weight, ln S if all S have the same weight.
Prints means over target positions and heads of the recorded test sentences, at the last update, with the reference forced on the decoder.
"""

import sys

import h5py
import numpy as np


def entropies(weights):
    """Returns the entropies in nats, [heads * target], of weights [heads, target, source]."""
    weights = weights.astype(float)
    return -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1).ravel()


def main(path):
    try:
        record = h5py.File(path)
    except OSError:
        sys.exit(f"entropy: {path}: not there, or no HDF5 file")
    with record as file:
        if "alignments/cross" not in file or "test/by_length" not in file:
            sys.exit(f"entropy: {path}: no attention matrices of test sentences")
        attention = file["alignments/cross"]
        labels = list(file["test/by_length/label"].asstr())  # "1-10", "11-20", .., "51+"
        longest = [np.inf if label.endswith("+") else int(label.split("-")[-1]) for label in labels]
        found = [[] for _ in labels]  # for each bucket, for each sentence: the entropies of its rows, and ln S
        for i, (source, target) in enumerate(zip(attention["src_len"][:], attention["tgt_len"][-1])):
            bucket = np.searchsorted(longest, source - 1)  # </s> counts in src_len, not in buckets
            rows = entropies(attention["weights"][-1, i, :, :target, :source])
            if rows.size:
                found[bucket].append((rows, np.log(max(source, 2))))
    print("length   sentences  entropy  / ln S")
    for label, sentences in zip(labels, found):
        if sentences:
            entropy = np.concatenate([rows for rows, _ in sentences]).mean()
            share = np.concatenate([rows / most for rows, most in sentences]).mean()
            print(f"{label:8} {len(sentences):9} {entropy:8.4f} {share:7.4f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: entropy.py RUN.h5")
    main(sys.argv[1])
