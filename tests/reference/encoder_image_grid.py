#!/usr/bin/python3
"""The numbers in tests/gradient/image_grid_test.cpp: encoder image_grid by its definition, pixel by pixel, in NumPy.

Run it and compare with the test; nothing of the project is used. Images [W, H], two of them in a batch of width 6. Parameter q, in the
order of the encoder, holds 0.4 sin(1.7 k + q) at place k.
"""

import numpy as np

HEIGHT, LEVELS, CHANNELS, CONVOLUTIONS, COLUMNS = 5, 17, (2, 3), 2, 4
WIDTHS = (6, 3)


def parameter(number: int, *shape: int) -> np.ndarray:
    return 0.4 * np.sin(1.7 * np.arange(np.prod(shape)) + number).reshape(shape)


def image(b: int, width: int) -> np.ndarray:
    levels = [[(3 * x + 5 * y + 7 * b + x * y) % LEVELS for y in range(HEIGHT)] for x in range(width)]
    return np.array(levels)[:, :, None] / (LEVELS - 1)


def convolved(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.zeros((*x.shape[:2], w.shape[3]))
    for i, j, di, dj in np.ndindex(*x.shape[:2], 3, 3):
        if 0 <= i + di - 1 < x.shape[0] and 0 <= j + dj - 1 < x.shape[1]:
            out[i, j] += x[i + di - 1, j + dj - 1] @ w[di, dj]
    return out + b


def pooled(x: np.ndarray) -> np.ndarray:
    shape = (x.shape[0] + 1) // 2, (x.shape[1] + 1) // 2
    out = np.zeros((*shape, x.shape[2]))
    for i, j in np.ndindex(shape):
        out[i, j] = x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max(axis=(0, 1))
    return out


def main() -> None:
    for b, width in enumerate(WIDTHS):
        x, inputs, q = image(b, width), 1, 0
        for outputs in CHANNELS:
            for _ in range(CONVOLUTIONS):
                w, bias = parameter(q, 3, 3, inputs, outputs), parameter(q + 1, outputs)
                x, inputs, q = np.maximum(convolved(x, w, bias), 0), outputs, q + 2
            x = pooled(x)
        rows, columns = parameter(q, -(-HEIGHT // 4), CHANNELS[-1]), parameter(q + 1, COLUMNS, CHANNELS[-1])
        states = x + rows[None, : x.shape[1]] + columns[: x.shape[0], None]
        states = states.reshape(-1, CHANNELS[-1])
        print(f"image {b}: {len(states)} annotations")
        print("  states", ", ".join(f"{v:.12f}" for v in states.ravel()))
        print("  mean", ", ".join(f"{v:.12f}" for v in states.mean(axis=0)))


if __name__ == "__main__":
    main()
