#!/usr/bin/python3
"""Dropout masks, computed with NumPy's integers, for tests/gradient/dropout_test.cpp.

Prints the keep bits of layer "decoder.dropout" at seed 5, update 7, rate 0.3, for examples 11 and 4, steps 0 to 2 and six numbers.
"""

from __future__ import annotations

import hashlib

import numpy as np

M0, M1, W0, W1 = 0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85
LOW = 0xFFFFFFFF


def philox(counter: list[int], key: tuple[int, int]) -> list[int]:
    """Philox4x32-10 (Salmon et al. 2011)."""
    k0, k1 = key
    for _ in range(10):
        a, b = M0 * counter[0], M1 * counter[2]
        counter = [(b >> 32) ^ counter[1] ^ k0, b & LOW, (a >> 32) ^ counter[3] ^ k1, a & LOW]
        k0, k1 = (k0 + W0) & LOW, (k1 + W1) & LOW
    return counter


def named(seed: int, name: str) -> tuple[int, int]:
    digest = hashlib.sha256(f"softalign-rng-1|{seed}|{name}".encode()).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")


def split(low: int, high: int) -> list[int]:
    return [low & LOW, low >> 32, high & LOW, high >> 32]


def keep(name: str, seed: int, update: int, example: int, step: int, size: int, rate: float) -> np.ndarray:
    key = philox(split(seed, update), named(0, "noise/" + name))[:2]
    words = [philox(split(i, example << 32 | step), tuple(key)) for i in range((size + 3) // 4)]
    return (np.array(words, dtype=np.uint64).reshape(-1)[:size] >= int(rate * 2**32)).astype(int)


if __name__ == "__main__":
    for example in (11, 4):
        for step in range(3):
            print(example, step, keep("decoder.dropout", 5, 7, example, step, 6, 0.3))
