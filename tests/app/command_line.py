"""Runs the built program like a user; the small specs and corpora of the tests."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pty
import resource
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BINARIES = Path(os.environ.get("SOFTALIGN_BINARY_DIR", "build/release")).absolute()
PROGRAM = BINARIES / "bin" / "softalign"
ANGULAR = BINARIES / "lib" / "angular.so"
SHIM = BINARIES / "lib" / "torture_shim.so"  # of tests/torture; makes calls fail
SANITIZED = "SOFTALIGN_SANITIZE" in os.environ  # the program is slow, opens files of its own and maps terabytes
can_be_limited = pytest.mark.skipif(SANITIZED, reason="a sanitizer maps more than ulimit -v allows")
PATIENCE = int(os.environ.get("SOFTALIGN_PATIENCE", "1"))  # factor on time limits

SPLITS = {"train": 20, "dev": 4, "test": 4}  # lines of the small corpus
TASK = """\
task:
  type: reverse
  symbols: 8
  length: {train: [2, 5], dev: [2, 5], test: [2, 5]}
  examples: {train: 64, dev: 16, test: 16}
"""
MODEL = """\
model:
  embedding: 8
  encoder: {type: gru, units: 8}
  attention: {type: global, score: {type: additive, units: 8}}
  decoder: {type: attentional_gru, units: 8}
train:
  optimizer: {type: adam, learning_rate: 0.01}
  batch: {sentences: 16}
  epochs: 2
"""
TINY = "name: tiny\n" + TASK + MODEL


def text_spec(source: str = "{}.en", target: str = "{}.es", more: str = "", model: str = MODEL) -> str:
    """Returns the tiny spec on parallel text. In the names of its files {} stands for the split; `more` is added to every split."""
    files = (f"  {split}: {{source: {source}, target: {target}{more}}}\n".replace("{}", split) for split in SPLITS)
    return "name: text\ntask:\n  type: parallel_text\n" + "".join(files) + model


def write_corpus(folder: Path) -> None:
    """Writes a small parallel corpus and its spec, text.yaml."""
    for split, lines in SPLITS.items():
        for side in ("en", "es"):
            (folder / f"{split}.{side}").write_text("".join(f"a b c {i % 5}\n" for i in range(lines)))
    (folder / "text.yaml").write_text(text_spec())


def softalign(*arguments: object, cwd: Path, code: int | None = 0, text: str | bytes = "", **more: Any) -> Any:
    """Returns the finished process, whose exit status must be `code` (None: any)."""
    data = text if isinstance(text, bytes) else text.encode()
    done = subprocess.run(
        [str(PROGRAM), *map(str, arguments)], cwd=cwd, input=data, capture_output=True, timeout=120 * PATIENCE, **more
    )
    done.stdout, done.stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert code is None or done.returncode == code, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def answer(*arguments: object, cwd: Path, **more: Any) -> Any:
    """Returns the JSON that the program prints."""
    return json.loads(softalign(*arguments, "--json", cwd=cwd, **more).stdout)


def json_lines(*arguments: object, cwd: Path, **more: Any) -> list[dict[str, Any]]:
    """Returns the objects of a program that prints one per line."""
    return [json.loads(line) for line in softalign(*arguments, "--json", cwd=cwd, **more).stdout.splitlines()]


# Errors that the system can return for intact files.
READ_ERRORS = [
    errno.EACCES, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN,
]  # fmt: skip


def unreadable(path: Path, number: int = errno.EACCES, calls: str = "open,opendir") -> dict[str, str]:
    """Returns an environment in which these calls fail for this file, or in this folder and below."""
    if not SHIM.exists():
        pytest.skip(f"no {SHIM}: it is not built with sanitizers")
    own = {"TORTURE_BELOW": path, "TORTURE_CALLS": calls, "TORTURE_DO": "fail", "TORTURE_AT": 1, "TORTURE_TIMES": 0, "TORTURE_NUMBER": number}
    return {**os.environ, "SOFTALIGN_CACHE": "", "LD_PRELOAD": str(SHIM), **{name: str(value) for name, value in own.items()}}


def address_space(size: int) -> dict[str, Callable[[], None]]:
    """Sets the limit of a child's memory, in bytes."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))}


def contents(folder: Path) -> dict[str, bytes]:
    """Returns all files below a folder."""
    return {name: (folder / name).read_bytes() for name in files_below(folder)}


def needs_subwords() -> None:
    """Skips a test if the program was built without sentencepiece."""
    if any(finding["found"] == "not built in" for finding in json.loads(softalign("doctor", "--json", cwd=Path.cwd(), code=None).stdout)):
        pytest.skip("the program was built without sentencepiece")


def error(*arguments: object, cwd: Path, code: int, **more: Any) -> str:
    """Returns the single line on standard error of a program that fails."""
    lines = softalign(*arguments, cwd=cwd, code=code, **more).stderr.splitlines()
    assert len(lines) == 1 or SANITIZED, lines  # a slow program also prints its progress
    return lines[-1]


def started(*arguments: object, cwd: Path, **more: Any) -> subprocess.Popen[str]:
    """Starts a program that can be interrupted, even if these tests run in the background of a script."""
    return subprocess.Popen(
        [str(PROGRAM), *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **more,
    )


def trained_run(folder: Path, *overrides: object, spec: str = "tiny.yaml") -> Path:
    """Returns the folder of the run of a spec with overrides in a working folder."""
    return folder / Path(answer("run", spec, *overrides, cwd=folder)["record"]).parent


def only_run(folder: Path, name: str = "tiny") -> Path:
    """Returns the folder of the only run with this name below folder/results."""
    (run,) = folder.glob(f"results/{name}/*")
    return run


def started_run(folder: Path, *overrides: object) -> tuple[subprocess.Popen[str], Path]:
    """Starts a run of tiny.yaml and waits for a checkpoint. Returns the process and the run's folder."""
    process = started("run", "tiny.yaml", *overrides, cwd=folder)
    wait_until(lambda: any(folder.glob("results/tiny/*/ckpt/*.ckpt")))
    return process, only_run(folder)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def interrupt(process: subprocess.Popen[str], name: str = "SIGINT", code: int = 75) -> str:
    """Stops a running program by a signal. Returns its standard error."""
    process.send_signal(getattr(signal, name))
    _, messages = process.communicate(timeout=60)
    assert process.returncode == code, messages
    return messages


def wait_until(true: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds * PATIENCE
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def on_terminal(folder: Path, columns: int, *arguments: object, output: bool = False) -> str:
    """Returns the messages of the program on a terminal with this width, with `output` also its output."""
    try:
        master, slave = pty.openpty()
    except OSError as error:  # a bare root has no /dev/pts
        pytest.skip(f"no pseudo-terminal: {error}")
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [str(PROGRAM), *map(str, arguments)]
    where = slave if output else subprocess.DEVNULL
    surroundings = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(command, cwd=folder, stdin=slave, stdout=where, stderr=slave, env=surroundings)
    written, ended = b"", False
    while not ended:  # this side stays open: once all others are closed, what is still on its way can be lost
        ended = process.poll() is not None
        while select.select([master], [], [], 0.1)[0]:
            written += os.read(master, 65536)
    os.close(slave)
    os.close(master)
    assert process.returncode == 0
    return written.decode()
