#!/usr/bin/env python3
"""Predicts training speed on more threads and machines than this machine has, from steps measured here. Prints the tables of
framework/docs/scaling.md in Markdown. Needs an idle machine.

One thread computes the pieces of a step for many threads (softalign_bench scale). For ranks, the time of their exchange is added,
at a given bandwidth and latency.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BENCH = Path(os.environ.get("SOFTALIGN_BINARY_DIR", ROOT / "build/release")) / "bin/softalign_bench"
NUMBER = 4  # bytes
LATENCY = 20e-6  # seconds per message
ADDITIONS = 2.5e9  # additions of received numbers per second
TOUCHED = 0.25  # share of the tables' rows that a batch touches


def exchange_seconds(dense: int, trained: int, ranks: int, gigabits: float) -> float:
    """Seconds of exchange per update: gradients by recursive halving, then new parameters, and a few small messages."""
    if ranks == 1:
        return 0
    share = 1 - 1 / ranks
    gradients = share * (dense + TOUCHED * (trained - dense))
    numbers = gradients + share * trained
    messages = 10 * math.log2(ranks)  # calls, losses, rows of tables, slices, squares, parameters
    return numbers * NUMBER * 8 / (gigabits * 1e9) + gradients / ADDITIONS + messages * LATENCY


def measured(configuration: str, threads: int) -> list[dict[str, Any]]:
    command = [str(BENCH), "scale", "--configuration", configuration, "--threads", str(threads)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in [head, ["---"] + ["---:"] * (len(head) - 1), *rows]]
    return "\n".join(lines) + "\n"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configurations", nargs="+", default=["small", "transformer", "paper"], help="of softalign_bench")
    parser.add_argument("--threads", type=int, default=64, help="of one machine, at most")
    parser.add_argument("--node-threads", type=int, default=16, help="of each of several machines")
    arguments = parser.parse_args()
    of_threads, of_nodes = [], []
    for name in arguments.configurations:
        facts, *steps = measured(name, arguments.threads)
        alone = steps[0]["seconds"]
        of_threads.append([name, f"{1000 * alone:.0f} ms"] + [percent(alone / s["threads"] / s["seconds"]) for s in steps[1:]])
        (node,) = [step["seconds"] for step in steps if step["threads"] == arguments.node_threads]
        row = [name, f"{1000 * node:.1f} ms"]
        for ranks in (4, 16, 64):
            for gigabits in (25, 100):
                exchanged = exchange_seconds(facts["dense_numbers"], facts["trained_numbers"], ranks, gigabits)
                row.append(percent(node / (node + exchanged)))
        of_nodes.append(row)
    counts = [str(2**k) for k in range(1, arguments.threads.bit_length())]
    print(table(["threads of one machine", "step on 1", *counts], of_threads))
    head = [f"machines of {arguments.node_threads} threads", "step on one"]
    head += [f"{ranks}, {gigabits} Gb/s" for ranks in (4, 16, 64) for gigabits in (25, 100)]
    print(table(head, of_nodes))


if __name__ == "__main__":
    main()
