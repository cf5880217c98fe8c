#!/usr/bin/python3
"""Measures the cost of a target symbol by the length of the source, fits a line to it, and draws the figure.

The cost of one more target symbol is the difference between training steps with two target lengths, which excludes the
encoder's share, paid once per source by every model. Attention looks at all source positions for every target symbol, so its
cost should rise linearly. The cost of vanilla seq2seq should not depend on the length of the source. Activation memory should
be linear in the sum of source and target length, although attention computes an energy for every pair.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from compare import CONFIGURATIONS, ROOT, Contestant, numbers, processor  # noqa: E402

from softalign_tools import plain_matplotlib  # noqa: E402, F401
from softalign_tools.drawing import STYLE, looks, save_figure  # noqa: E402
from softalign_tools.files import parse_checked, write  # noqa: E402

MODELS = {"attention": [], "vanilla": ["--no-attention"]}
LOOKS = looks(MODELS)


@dataclass
class Measured:
    """The measurements of a model at one source length."""

    seconds: list[float]  # for one more target symbol of one sentence, one number per round
    mib: dict[int, float]  # memory of activations, by target length
    energies: float  # computed for a sentence with the longer target


@dataclass
class Line:
    """A fitted line, y = at_zero + slope x, and its R²."""

    at_zero: float
    slope: float
    r2: float

    @staticmethod
    def through(x: Sequence[float], y: Sequence[float]) -> Line:
        slope, at_zero = np.polyfit(x, y, 1)
        left = np.asarray(y) - (at_zero + slope * np.asarray(x))
        spread = np.asarray(y) - np.mean(y)
        return Line(float(at_zero), float(slope), float(1 - left @ left / (spread @ spread)))


def measure(sources: Sequence[int], targets: tuple[int, int], arguments: argparse.Namespace) -> dict[str, dict[int, Measured]]:
    """Returns measurements by model and source length. All programs stay open and take turns, so that other load affects them alike."""
    bench = str(ROOT / "build/release/bin/softalign_bench")
    running: dict[tuple[str, int, int], Contestant] = {}
    for model, extra in MODELS.items():
        for source in sources:
            for target in targets:
                command = [bench, "train", "--configuration", arguments.configuration, "--threads", str(arguments.threads)]
                command += ["--source", str(source), "--target", str(target), "--seconds", str(arguments.seconds), *extra]
                one = Contestant(f"{model} {source} x {target}", command)
                print(f"  warming up {one.name}", file=sys.stderr)
                if not one.start():
                    sys.exit(f"{one.name} cannot run")
                running[model, source, target] = one
    times: dict[tuple[str, int, int], list[float]] = {key: [] for key in running}
    for _ in range(arguments.rounds):
        for key, one in running.items():
            one.measure()
            times[key].append(min(one.answers[0][-1]["seconds"]))
    for one in running.values():
        one.finish()
    found: dict[str, dict[int, Measured]] = {model: {} for model in MODELS}
    short, long = targets
    for model in MODELS:
        for source in sources:
            a, b = running[model, source, short], running[model, source, long]
            symbols = b.summary["target_tokens"] - a.summary["target_tokens"]
            pairs = zip(times[model, source, short], times[model, source, long])
            found[model][source] = Measured(
                [(y - x) / symbols for x, y in pairs],
                {target: running[model, source, target].summary["activation_mib"] for target in targets},
                b.summary["energies_per_sentence"],
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configuration", choices=(*CONFIGURATIONS, "tiny"), default="small")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sources", type=numbers, default=[10, 20, 40, 80, 160], metavar="A,B,C",
                        help="source lengths (default 10,20,40,80,160)")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each program (default 5)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of a measurement, at least one step")
    parser.add_argument("--output", type=Path, default=ROOT / "tests/bench/cost_by_length.png", metavar="FILE")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured there too")
    arguments = parse_checked(parser, "output", "json")
    sources, targets = arguments.sources, (20, 40)
    if len(sources) < 3:
        parser.error("a line through fewer than three source lengths shows nothing")
    found = measure(sources, targets, arguments)

    plt.rcParams.update(STYLE)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
    print(f"{processor()}, {date.today().isoformat()}, {arguments.configuration}, {arguments.threads} threads")
    for model, by_source in found.items():
        colour, marker = LOOKS[model]["color"], LOOKS[model]["marker"]
        microseconds = [1e6 * statistics.median(by_source[source].seconds) for source in sources]
        line = Line.through(sources, microseconds)
        print(f"{model}: {line.at_zero:.1f} µs a target symbol + {line.slope:.3f} µs a source symbol (R² {line.r2:.4f}); measured "
              + ", ".join(f"{source}: {value:.1f}" for source, value in zip(sources, microseconds)))  # fmt: skip
        left.plot(sources, microseconds, ls="", color=colour, marker=marker)
        left.plot([0, sources[-1]], [line.at_zero, line.at_zero + line.slope * sources[-1]], color=colour, lw=1.5,
                  label=f"{model}: {line.at_zero:.0f} + {line.slope:.2f} S")  # fmt: skip
        both = [(source + target, by_source[source].mib[target]) for source in sources for target in targets]
        memory = Line.through([x for x, _ in both], [y for _, y in both])
        print(f"{model}: {memory.at_zero:.1f} MiB + {1024 * memory.slope:.0f} KiB a source or target position (R² {memory.r2:.4f})")
        right.plot(*zip(*both), ls="", color=colour, marker=marker)
        ends = [0, sources[-1] + targets[-1]]
        right.plot(ends, [memory.at_zero + memory.slope * x for x in ends], color=colour, lw=1.5,
                   label=f"{model}: {memory.at_zero:.0f} + {memory.slope:.2f} (S + T)")  # fmt: skip
    for source in sources:
        print(f"energies of a sentence, {source} x {targets[1]}: {found['attention'][source].energies:,.0f}")
    left.set(xlabel="source length S", ylabel="µs for one more target symbol", title="Time of a target symbol")
    right.set(xlabel="source + target length", ylabel="MiB of activations, batch of 64", title="Memory of a training step")
    for axis in (left, right):
        axis.set(xlim=(0, None), ylim=(0, None))
        axis.grid(True)
        axis.legend(loc="upper left")
    save_figure(figure, arguments.output, arguments.force, dpi=150)
    print(f"drawn: {arguments.output}")
    if arguments.json:
        plain = {model: {source: vars(one) for source, one in by_source.items()} for model, by_source in found.items()}
        write(arguments.json, f"{json.dumps(plain, indent=1)}\n".encode(), arguments.force)


if __name__ == "__main__":
    main()
