#!/usr/bin/python3
"""Times softalign and PyTorch in turns on one machine and prints one table: training steps and decoding.

Every program is started once and keeps its model; a round asks each of them for one measurement, one after the other, so that
whatever else the machine does meets all of them alike. The table gives medians over all rounds.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from output import parse_checked, write

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATIONS = ("small", "medium", "long", "paper")


@dataclass
class Contestant:
    """One program on one configuration: a process that measures when told to."""

    name: str
    command: list[str]
    process: subprocess.Popen[str] | None = None
    seconds: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)

    def start(self) -> bool:
        """False when it cannot run: the reason is on standard error."""
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return bool(self.process.stdout.readline())

    def measure(self) -> None:
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        self.seconds += answer["seconds"]
        self.floor += answer.get("floor_seconds", [])

    def finish(self) -> None:
        self.process.stdin.close()
        self.summary = json.loads(self.process.stdout.readline())
        self.process.wait()


def contestants(what: str, configuration: str, arguments: argparse.Namespace) -> list[Contestant]:
    bench = str(ROOT / "build/release/bin/softalign_bench")
    rival = [arguments.pytorch, str(ROOT / "scripts/bench_pytorch.py")]
    common = [what, "--configuration", configuration, "--seconds", str(arguments.seconds)]
    found = []
    beams = [1, 5] if what == "decode" else [None]
    for beam in beams:
        extra = [] if beam is None else ["--beam", str(beam)]
        suffix = "" if beam is None else f", beam {beam}" if beam > 1 else ", greedy"
        for threads in arguments.threads:
            end = [*extra, "--threads", str(threads)]
            found.append(Contestant(f"softalign{suffix}", [bench, *common, *end]))
            if arguments.pytorch:
                modes = arguments.modes if what == "train" else ["eager"]
                found += [Contestant(f"PyTorch {mode}{suffix}", [*rival, *common, *end, "--mode", mode]) for mode in modes]
    return found


def compare(what: str, configuration: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    running = []
    for one in contestants(what, configuration, arguments):
        print(f"  warming up {configuration}: {one.name}, {one.command[one.command.index('--threads') + 1]} threads", file=sys.stderr)
        if one.start():
            running.append(one)
        else:
            print(f"  left out: {one.name} cannot run", file=sys.stderr)
    for _ in range(arguments.rounds):
        for one in running:
            one.measure()
    rows = []
    gigaflops = floor = None
    for one in running:
        one.finish()
        gigaflops = one.summary.get("gigaflops", gigaflops)
        seconds = statistics.median(one.seconds)
        if one.floor:
            floor = statistics.median(one.floor)
        row = {
            "configuration": configuration,
            "implementation": one.summary["implementation"],
            "mode": one.name,
            "threads": one.summary["threads"],
            "milliseconds": 1e3 * seconds,
            "peak_memory_mib": one.summary["peak_memory_mib"],
            "mallocs_per_step": one.summary.get("mallocs_per_step"),
        }
        if what == "train":
            row["target_tokens_per_second"] = one.summary["target_tokens"] / seconds
            row["gflops"] = gigaflops / seconds if gigaflops else None
            row["gemm_floor_ratio"] = seconds / floor if one.floor else None
        else:
            row["sentences_per_second"] = one.summary["sentences"] / seconds
        rows.append(row)
    measure = "target_tokens_per_second" if what == "train" else "sentences_per_second"
    for row in rows:
        rivals = [r[measure] for r in rows if r["implementation"] != "softalign"
                  and r["threads"] == row["threads"] and r["mode"].partition(",")[2] == beam_of(row)]  # fmt: skip
        row["ratio_to_pytorch"] = row[measure] / max(rivals) if rivals and row["implementation"] == "softalign" else None
    return rows


def beam_of(row: dict[str, Any]) -> str:
    """", beam 5" of "softalign, beam 5"; nothing for training."""
    return next((f" {part.strip()}" for part in row["mode"].split(",") if "beam" in part or "greedy" in part), "")


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown. A dash stands for what a program does not tell."""

    def number(value: float | None, digits: int = 0) -> str:
        return "–" if value is None else f"{value:,.{digits}f}"

    training = "target_tokens_per_second" in rows[0]
    speed = "target tokens/s" if training else "sentences/s"
    head = ["configuration", "program", "threads", "ms", speed]
    head += ["GF/s", "x GEMM floor"] if training else []
    head += ["MiB", "mallocs", "x PyTorch"]
    lines = [head, ["---"] * 2 + ["---:"] * (len(head) - 2)]
    for row in rows:
        cells = [row["configuration"], row["mode"], str(row["threads"]), number(row["milliseconds"])]
        cells.append(number(row.get("target_tokens_per_second", row.get("sentences_per_second"))))
        if training:
            cells += [number(row["gflops"]), number(row["gemm_floor_ratio"], 2)]
        cells += [number(row["peak_memory_mib"]), number(row["mallocs_per_step"]), number(row["ratio_to_pytorch"], 2)]
        lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.machine()


def build() -> str:
    """Builds softalign_bench. Returns a Python that may have PyTorch: that of build/pytorch, made here when PyPI can be reached."""
    subprocess.run([ROOT / "scripts/setup.sh", "build", "tests"], check=True)
    subprocess.run(["cmake", "--build", ROOT / "build/release", "--target", "softalign_bench"], check=True)
    folder = ROOT / "build/pytorch"
    if not (folder / "bin/python").exists():
        wheels = ["--extra-index-url", "https://download.pytorch.org/whl/cpu"]
        with open(ROOT / "build/pytorch.log", "w", encoding="utf-8") as log:
            for command in (["python3", "-m", "venv", folder], [folder / "bin/pip", "install", "torch==2.13.0", *wheels]):
                if subprocess.run(command, stdout=log, stderr=log, check=False).returncode:
                    shutil.rmtree(folder, ignore_errors=True)
                    return sys.executable
    return str(folder / "bin/python")


def numbers(text: str) -> list[int]:
    found = [int(part) for part in text.split(",") if part.isdigit() and int(part) > 0]
    if len(found) != text.count(",") + 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of positive numbers like 1,2")
    return found


def some_of(*names: str) -> Callable[[str], list[str]]:
    def read(text: str) -> list[str]:
        if unknown := [part for part in text.split(",") if part not in names]:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(names)}")
        return text.split(",")

    return read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--what", choices=("train", "decode", "both"), default="both")
    parser.add_argument("--configurations", type=some_of(*CONFIGURATIONS, "tiny"), default=list(CONFIGURATIONS), metavar="A,B",
                        help="of small, medium, long, paper and tiny (default: the first four)")  # fmt: skip
    parser.add_argument("--threads", type=numbers, default=[1, 2], metavar="1,2")
    parser.add_argument("--modes", type=some_of("eager", "script", "compile"), default=["eager", "script", "compile"], metavar="A,B",
                        help="of PyTorch (default: eager,script,compile)")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each program (default 5)")
    parser.add_argument("--seconds", type=float, default=1, help="of a measurement, at least one step (default 1)")
    parser.add_argument("--pytorch", default="", help="a Python that has PyTorch; without one softalign is measured alone")
    parser.add_argument("--build", action="store_true", help="build softalign_bench first, and take a PyTorch from PyPI or Debian")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    arguments = parse_checked(parser, "json")
    if arguments.build:
        arguments.pytorch = arguments.pytorch or build()
    if arguments.pytorch and subprocess.run([arguments.pytorch, "-c", "import torch"], capture_output=True, check=False).returncode:
        print(f"{arguments.pytorch} has no PyTorch: softalign is measured alone", file=sys.stderr)
        arguments.pytorch = ""
    every = []
    print(f"{processor()}, {date.today().isoformat()}")
    for what in ("train", "decode") if arguments.what == "both" else (arguments.what,):
        rows = [row for name in arguments.configurations for row in compare(what, name, arguments)]
        print(f"\n{table(rows)}", flush=True)
        every += rows
    if arguments.json:
        write(arguments.json, f"{json.dumps(every, indent=1)}\n".encode(), arguments.force)


if __name__ == "__main__":
    main()
