#!/usr/bin/python3
"""A FAKE of OpenPBS's qsub, qstat and qdel, written from their manual, because Debian has no package of OpenPBS.

Linked as qsub, qstat and qdel into a folder on PATH, with its state in $FAKE_PBS. Tasks run one after the other on this machine.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

STATE = Path(os.environ["FAKE_PBS"])
DIRECTIVES = {"-N", "-j", "-o", "-r", "-q", "-A", "-l", "-J", "-v"}


def fail(text: str, status: int) -> NoReturn:
    sys.exit(print(text, file=sys.stderr) or status)


def qsub(words: list[str]) -> None:
    *options, script = words
    for line in Path(script).read_text().splitlines()[1:]:
        if line.startswith("#PBS "):
            options += shlex.split(line[5:])
        elif not line.startswith("#"):
            break  # directives end at the first command
    given = dict(zip(options[::2], options[1::2]))
    if unknown := set(given) - DIRECTIVES:
        fail(f"qsub: invalid option -- '{unknown.pop()}'", 2)
    number = len(list(STATE.iterdir())) + 1
    name, indices = f"{number}.fake", [""]
    if "-J" in given:
        bounds = re.fullmatch(r"(\d+)-(\d+)(%\d+)?", given["-J"])
        if not bounds or int(bounds[1]) >= int(bounds[2]):
            fail("qsub: illegal -J value", 2)
        name, indices = f"{number}[].fake", [str(i) for i in range(int(bounds[1]), int(bounds[2]) + 1)]
    job = STATE / name
    job.mkdir()
    for index in indices:
        (job / f"task{index}").write_text("Q")
    more = dict(pair.split("=", 1) for pair in given.get("-v", "").split(",") if pair)
    environment = {**os.environ, **more, "PBS_O_WORKDIR": os.getcwd(), "PBS_ENVIRONMENT": "PBS_BATCH"}
    text = Path(script).read_text()  # the server's copy
    if os.fork() == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        run(job, indices, text, environment, given)
        os._exit(0)
    print(name)


def run(job: Path, indices: list[str], text: str, environment: dict[str, str], given: dict[str, str]) -> None:
    number = job.name.split(".")[0].rstrip("[]")
    for index in indices:
        task = job / f"task{index}"
        if task.read_text() != "Q":
            continue
        own = {"PBS_JOBID": job.name.replace("[]", f"[{index}]"), "PBS_JOBNAME": given.get("-N", "STDIN")}
        if index:
            own |= {"PBS_ARRAY_ID": job.name, "PBS_ARRAY_INDEX": index}
        output = Path(environment["PBS_O_WORKDIR"]) / given.get("-o", ".") / f"{own['PBS_JOBNAME']}.o{number}{'.' + index if index else ''}"
        with open(output, "w") as log:
            home = os.environ["HOME"]
            process = subprocess.Popen(["bash", "-c", text], cwd=home, env={**environment, **own}, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
            task.write_text(f"R {process.pid}")
            process.wait()
        task.write_text("X")


def qstat(words: list[str]) -> None:
    if words == ["-B", "-f"]:
        return print("Server: fake\n    server_state = Active")
    if len(names := [word for word in words if word != "-t"]) > 1:
        return sys.exit(max(subprocess.run([sys.argv[0], name]).returncode for name in names))
    (name,) = names
    if name in os.environ.get("FAKE_PBS_SILENT", "").split():
        fail("qstat: cannot connect to server fake (errno=111)", 111)
    job = STATE / name
    if not job.is_dir():
        fail(f"qstat: Unknown Job Id {name}", 153)
    states = {task.name[4:]: task.read_text()[0] for task in sorted(job.iterdir())}
    if set(states.values()) == {"X"}:
        fail(f"qstat: {name} Job has finished, use -x or -H to obtain historical job information", 35)
    line = "{:<17} {:<16} {:<16} {:>8} {} {}".format
    print(line("Job id", "Name", "User", "Time Use", "S", "Queue"), line("-" * 17, "-" * 16, "-" * 16, "-" * 8, "-", "-----"), sep="\n")
    if "" in states:  # not an array
        return print(line(name, "sweep", "user", "0", states[""], "workq"))
    print(line(name, "sweep", "user", "0", "B", "workq"))
    for index, state in states.items():
        print(line(name.replace("[]", f"[{index}]"), "sweep", "user", "00:00:01", state, "workq"))


def qdel(words: list[str]) -> None:
    (name,) = words
    if not (STATE / name).is_dir():
        fail(f"qdel: Unknown Job Id {name}", 153)
    for task in (STATE / name).iterdir():
        state, _, pid = task.read_text().partition(" ")
        if state == "R":
            os.killpg(int(pid), signal.SIGTERM)
        elif state == "Q":
            task.write_text("X")
    time.sleep(0.1)


if __name__ == "__main__":
    {"qsub": qsub, "qstat": qstat, "qdel": qdel}[Path(sys.argv[0]).name](sys.argv[1:])
