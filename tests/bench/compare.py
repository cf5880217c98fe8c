#!/usr/bin/python3
"""Times softalign and its strongest peers in turns on one machine and prints one table: training steps and decoding.

Every program is started once and keeps its model. In each round the programs take one measurement each, one after the other, so
that other load on the machine affects all of them alike. The table gives medians over all rounds.
"""

from __future__ import annotations

import argparse
import json
import os
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

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from softalign_tools.files import parse_checked, write

CONFIGURATIONS = ("small", "medium", "long", "paper", "luong", "transformer")
RNNSEARCH = ("small", "medium", "long", "paper", "tiny")


@dataclass(frozen=True)
class Peer:
    """A configuration of a peer: its script in tests/bench/peers, and the mode to pass to the script."""

    name: str
    script: str
    mode: str
    tuned: bool = False  # run it in the environment of tuned()
    apart: bool = False  # one process per thread, each on its own core, instead of threads
    configurations: tuple[str, ...] = CONFIGURATIONS + ("tiny",)

    @property
    def knows_bfloat16(self) -> bool:
        return self.script == "pytorch.py" and self.mode != "by_hand"


UNROLLED = tuple(name for name in Peer.configurations if name != "long")  # compiling 80 steps takes a quarter of an hour
PEERS = {
    "train": {
        "eager": Peer("PyTorch eager", "pytorch.py", "eager"),
        "script": Peer("PyTorch script", "pytorch.py", "script", configurations=RNNSEARCH + ("luong",)),
        "compile": Peer("PyTorch compile", "pytorch.py", "compile", configurations=UNROLLED),
        "eager-tuned": Peer("PyTorch eager, tuned", "pytorch.py", "eager", tuned=True, configurations=("luong", "transformer")),
        "script-tuned": Peer("PyTorch script, tuned", "pytorch.py", "script", tuned=True, configurations=RNNSEARCH),
        "compile-tuned": Peer("PyTorch compile, tuned", "pytorch.py", "compile", tuned=True, configurations=("luong", "transformer")),
        "by-hand-tuned": Peer("PyTorch by hand, tuned", "pytorch.py", "by_hand", tuned=True, configurations=RNNSEARCH),
        "jax": Peer("JAX", "jax_rnnsearch.py", "jit", configurations=RNNSEARCH),
    },
    "decode": {
        "eager": Peer("PyTorch eager", "pytorch.py", "eager", configurations=RNNSEARCH),
        "eager-apart": Peer("PyTorch eager, processes", "pytorch.py", "eager", apart=True, configurations=RNNSEARCH),
        "compile-tuned": Peer("PyTorch compile, tuned, processes", "pytorch.py", "compile", tuned=True, apart=True,
                              configurations=RNNSEARCH[:-1]),  # the vocabulary of tiny has fewer blocks of symbols than hypotheses
    },
}  # fmt: skip


def tuned() -> dict[str, str]:
    """An environment where PyTorch's matrix library uses AVX-512 on any vendor's CPU, and malloc keeps memory and requests huge pages."""
    library = ROOT / "build/peers_tuned.so"
    if not library.exists():
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, ROOT / "tests/bench/peers/tuned.c"], check=True)
    keep = ("hugetlb=1", "mmap_threshold=4294967296", "trim_threshold=4294967296")
    return {"LD_PRELOAD": str(library), "GLIBC_TUNABLES": ":".join(f"glibc.malloc.{part}" for part in keep)}


@dataclass
class Contestant:
    """One program on one configuration: one or more processes that measure at the same time, on request."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    cores: list[str] = field(default_factory=list)  # pins one process to each core; empty: one unpinned process
    processes: list[subprocess.Popen[str]] = field(default_factory=list)
    answers: list[list[dict[str, Any]]] = field(default_factory=list)  # for each process, its measurements
    summaries: list[dict[str, Any]] = field(default_factory=list)

    def start(self) -> bool:
        """Starts the processes. Returns False if they cannot run; the reason is on standard error."""
        pinned = [["taskset", "-c", core, *self.command] for core in self.cores] or [self.command]
        self.processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | self.environment)
            for command in pinned
        ]
        self.answers = [[] for _ in self.processes]
        return all([process.stdout.readline() for process in self.processes])

    def measure(self) -> None:
        for process in self.processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        for process, answers in zip(self.processes, self.answers):
            answers.append(json.loads(process.stdout.readline()))

    def finish(self) -> None:
        for process in self.processes:
            process.stdin.close()
        self.summaries = [json.loads(process.stdout.readline()) for process in self.processes]
        for process in self.processes:
            process.wait()

    @property
    def summary(self) -> dict[str, Any]:
        return self.summaries[0]

    def seconds(self, which: str = "seconds", process: int = 0) -> list[float]:
        return [number for answer in self.answers[process] for number in answer.get(which, [])]

    def rate(self, of: str) -> float:
        """Units per second, summed over all processes. of: the summary's key for the number of units in a repetition."""
        return sum(summary[of] / statistics.median(self.seconds(process=i)) for i, summary in enumerate(self.summaries))


def contestants(what: str, configuration: str, threads: int, beam: int, arguments: argparse.Namespace) -> list[Contestant]:
    bench = [str(ROOT / "build/release/bin/softalign_bench"), what]
    common = ["--configuration", configuration, "--seconds", str(arguments.seconds)]
    if what == "decode":
        common += ["--beam", str(beam)]
    low = what == "train" and arguments.bfloat16
    common += ["--bfloat16"] * low
    found = [Contestant("softalign", [*bench, *common, "--threads", str(threads)])]
    peers = [PEERS[what][name] for name in arguments.peers if name in PEERS[what]] if arguments.pytorch else []
    for peer in peers:
        if configuration in peer.configurations and (peer.knows_bfloat16 or not low):
            apart = peer.apart and threads > 1
            cores = [str(core) for core in sorted(os.sched_getaffinity(0))[:threads]] if apart else []
            command = [arguments.pytorch, str(ROOT / "tests/bench/peers" / peer.script), what, *common]
            command += ["--mode", peer.mode, "--threads", "1" if apart else str(threads)]
            found.append(Contestant(peer.name, command, tuned() if peer.tuned else {}, cores))
    return found


def compare(what: str, configuration: str, threads: int, beam: int, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    running = []
    for one in contestants(what, configuration, threads, beam, arguments):
        print(f"  warming up {configuration}: {one.name}, {threads} threads", file=sys.stderr)
        if one.start():
            running.append(one)
        else:
            print(f"  left out: {one.name} cannot run", file=sys.stderr)
    for _ in range(arguments.rounds):
        for one in running:
            one.measure()
    unit = "target_tokens" if what == "train" else "sentences"
    rows = []
    gigaflops, peak = None, None  # softalign's count of operations and the processor's peak, valid for every program
    for one in running:
        one.finish()
        gigaflops = one.summary.get("gflop_per_step", gigaflops)
        rate = one.rate(unit)
        seconds = sum(summary[unit] for summary in one.summaries) / rate
        row = {
            "configuration": f"{configuration}, beam {beam}" if beam > 1 else configuration,
            "precision": "bfloat16" if what == "train" and arguments.bfloat16 else "float32",
            "implementation": one.summary["implementation"],
            "program": one.name,
            "threads": threads,
            "milliseconds": 1e3 * seconds,
            f"{unit}_per_second": rate,
            "peak_memory_mib": sum(summary["peak_memory_mib"] for summary in one.summaries),
            "mallocs_per_step": one.summary.get("mallocs_per_step"),
        }
        if what == "train":
            floor = one.seconds("floor_seconds")
            peak = max((answer["peak_gflops"] for answer in one.answers[0] if "peak_gflops" in answer), default=peak)
            row["gflops"] = gigaflops / seconds if gigaflops else None
            row["share_of_peak"] = row["gflops"] / peak if row["gflops"] and peak else None
            row["gemm_floor_ratio"] = seconds / statistics.median(floor) if floor else None
        rows.append(row)
    rivals = rows[1:] if rows and rows[0]["implementation"] == "softalign" else []
    if rivals:
        rows[0]["ratio_to_best_peer"] = rows[0][f"{unit}_per_second"] / max(row[f"{unit}_per_second"] for row in rivals)
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """A Markdown table. A dash marks a value that a program does not report."""

    def number(value: float | None, digits: int = 0) -> str:
        return "–" if value is None else f"{value:,.{digits}f}"

    training = "target_tokens_per_second" in rows[0]
    columns: list[tuple[str, str, int]] = [("ms", "milliseconds", 0)]
    if training:
        columns += [("target tokens/s", "target_tokens_per_second", 0), ("GF/s", "gflops", 0)]
        columns += [("of the peak", "share_of_peak", 2), ("x GEMM floor", "gemm_floor_ratio", 2)]
    else:
        columns += [("sentences/s", "sentences_per_second", 0)]
    columns += [("MiB", "peak_memory_mib", 0), ("mallocs", "mallocs_per_step", 0), ("x best peer", "ratio_to_best_peer", 2)]
    lines = [["configuration", "program", "threads", *(title for title, _, _ in columns)]]
    lines.append(["---"] * 2 + ["---:"] * (len(columns) + 1))
    for row in rows:
        cells = [number(row.get(key), digits) for _, key, digits in columns]
        lines.append([row["configuration"], row["program"], str(row["threads"]), *cells])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.machine()


def build() -> str:
    """Builds softalign_bench. Returns a Python that may have PyTorch: that of build/pytorch, installed if PyPI can be reached."""
    subprocess.run([ROOT / "scripts/setup.sh", "build", "tests"], check=True)
    subprocess.run(["cmake", "--build", ROOT / "build/release", "--target", "softalign_bench"], check=True)
    folder = ROOT / "build/pytorch"
    if not (folder / "bin/python").exists():
        install = [folder / "bin/pip", "install", "--extra-index-url", "https://download.pytorch.org/whl/cpu"]
        with open(ROOT / "build/pytorch.log", "w", encoding="utf-8") as log:
            for command in (["python3", "-m", "venv", folder], [*install, "torch==2.13.0", "jax==0.10.2"]):
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
    every_peer = list(dict.fromkeys(name for peers in PEERS.values() for name in peers))
    parser.add_argument("--what", choices=("train", "decode", "both"), default="both")
    parser.add_argument("--configurations", type=some_of(*CONFIGURATIONS, "tiny"), default=list(CONFIGURATIONS), metavar="A,B",
                        help=f"of {', '.join(CONFIGURATIONS)} and tiny (default: all but tiny)")  # fmt: skip
    parser.add_argument("--threads", type=numbers, default=[1, 2], metavar="1,2")
    parser.add_argument("--bfloat16", action="store_true", help="train so: softalign's train.precision, PyTorch's autocast")
    parser.add_argument("--beams", type=numbers, default=[1, 5], metavar="1,5", help="of decoding; 1 is greedy")
    parser.add_argument("--peers", type=some_of(*every_peer), default=every_peer, metavar="A,B",
                        help=f"of {', '.join(every_peer)} (default: all; tests/bench/peers/README.md)")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each program (default 5)")
    parser.add_argument("--seconds", type=float, default=1, help="of a measurement, at least one step (default 1)")
    parser.add_argument("--pytorch", default="", help="a Python that has PyTorch (and JAX); without one softalign is measured alone")
    parser.add_argument("--build", action="store_true", help="build softalign_bench first, and take PyTorch and JAX from PyPI, or Debian's PyTorch")
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
        rows = []
        for name in arguments.configurations:
            if what == "decode" and name not in RNNSEARCH:
                continue  # the peers can only decode RNNsearch
            for beam in arguments.beams if what == "decode" else (1,):
                for threads in arguments.threads:
                    rows += compare(what, name, threads, beam, arguments)
        if rows:
            print(f"\n{table(rows)}", flush=True)
        every += rows
    if arguments.json:
        write(arguments.json, f"{json.dumps(every, indent=1)}\n".encode(), arguments.force)


if __name__ == "__main__":
    main()
