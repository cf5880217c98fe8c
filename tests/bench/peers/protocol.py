"""Code shared by the peers of softalign_bench: the configurations and the measurement protocol.

A peer prints {"ready": true} after warming up, then a line of measured seconds for every line read, and a summary at the end of the input.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

END, BEGIN = 2, 1


@dataclass(frozen=True)
class Workload:
    embedding: int
    units: int
    vocabulary: int
    sentences: int
    source: int
    target: int


WORKLOADS = {
    "small": Workload(256, 256, 8000, 64, 20, 20),
    "medium": Workload(512, 512, 10000, 64, 25, 25),
    "long": Workload(256, 256, 8000, 64, 80, 80),
    "paper": Workload(620, 1000, 30000, 80, 30, 30),
    "luong": Workload(256, 256, 8000, 64, 20, 20),
    "transformer": Workload(256, 256, 8000, 64, 30, 30),
    "tiny": Workload(32, 32, 100, 16, 6, 6),
}


def arguments_of(description: str, modes: tuple[str, ...], what: tuple[str, ...] = ("train",)) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("what", choices=what)
    parser.add_argument("--configuration", choices=WORKLOADS, default="small")
    parser.add_argument("--mode", choices=modes, default=modes[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--bfloat16", action="store_true", help="PyTorch's autocast of training")
    parser.add_argument("--seconds", type=float, default=1, help="of a measurement")
    return parser.parse_args()


def resident_mib(line: str) -> float:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(text.split()[1]) / 1024 for text in status if text.startswith(f"{line}:"))


def serve(run: Callable[[], object], before: float, arguments: argparse.Namespace, **facts: Any) -> None:
    """Measures `run` for every line of standard input. before: the memory of the process before it made its model."""
    for _ in range(3):
        run()
    with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
        reset.write("5")
    run()
    memory = resident_mib("VmHWM") - before
    print(json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin:
        seconds: list[float] = []
        while sum(seconds) < arguments.seconds:
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
        print(json.dumps({"seconds": seconds}), flush=True)
    load = WORKLOADS[arguments.configuration]
    summary = {
        "configuration": arguments.configuration,
        "mode": arguments.mode,
        "beam": arguments.beam,
        "threads": arguments.threads,
        "sentences": load.sentences,
        "target_tokens": load.sentences * load.target,
        "peak_memory_mib": memory,
    }
    print(json.dumps(summary | facts))
