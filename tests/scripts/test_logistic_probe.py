"""The logistic probe that experiments/bottleneck compares with the program's own probe."""

import logistic
import numpy as np


def test_it_reads_what_a_state_holds_and_nothing_else() -> None:
    random = np.random.default_rng(1)
    symbols = random.integers(0, logistic.SYMBOLS, 4000)
    states = random.normal(size=(logistic.SYMBOLS, 48))[symbols] + 0.5 * random.normal(size=(4000, 48))
    states = np.column_stack([states, np.ones(4000)]).astype(np.float32)

    def right(labels: np.ndarray) -> float:
        weights = logistic.learnt(states[:2000], labels[:2000])
        return 100 * float(np.mean((states[2000:] @ weights).argmax(axis=1) == labels[2000:]))

    assert right(symbols) > 99
    assert right(random.permutation(symbols)) < 6  # chance among 32 symbols: about 3 %
