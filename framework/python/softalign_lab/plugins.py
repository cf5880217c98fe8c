"""Plugins: the registered ones, and your own, compiled here."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pandas as pd

from softalign_lab import _core

HERE = Path(_core.__file__).parent


def plugins(kind: str = "") -> pd.DataFrame:
    """Returns kind, name and summary of each plugin, of all kinds or of one ("score")."""
    return pd.DataFrame(_core.plugins(kind), columns=["kind", "name", "summary"])


def load_plugin(file: str | PathLike) -> list[str]:
    """Loads a shared object for the rest of the process. Returns the plugins that it adds: ["score angular"]. Raises SpecError."""
    return _core.load_plugin(fspath(file))


def compile_plugin(source: str | PathLike) -> Path:
    """Compiles a plugin and returns its shared object, which `--plugin` also takes. Needs a C++20 compiler: the one in CXX, else g++.

    The same source is compiled only once, because the result is cached. Raises SpecError with the compiler's message.
    """
    text = Path(source).read_bytes()
    built = json.loads((HERE / "plugin_build.json").read_text())
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(shlex.split(compiler)[0]) is None:
        raise _core.SpecError(f"{source}: there is no compiler {compiler}; apt-get install g++, or set CXX")
    folders = [HERE / folder for folder in built["include"]]
    library = HERE / built["library"]
    command = [*shlex.split(compiler), *built["flags"], *(f"-I{folder}" for folder in folders)]
    key = hashlib.sha256(repr((text, command, library.stat().st_mtime_ns)).encode()).hexdigest()[:16]
    made = _cache() / f"{Path(source).stem}-{key}.so"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        beside = made.with_suffix(f".{os.getpid()}")
        done = subprocess.run([*command, fspath(source), str(library), "-o", str(beside)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise _core.SpecError(f"{source} does not compile:\n{done.stderr.strip()}")
        beside.replace(made)
    return made


def plugin(source: str | PathLike) -> list[str]:
    """Compiles a plugin and loads it for the rest of the process. Returns the plugins that it adds: ["score angular"]."""
    return load_plugin(compile_plugin(source))


def _cache() -> Path:
    given = os.environ.get("SOFTALIGN_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "softalign"
    return Path(given) / "plugins"


def add_magic(shell: Any) -> None:
    """Adds a magic to IPython. %%softalign [NAME] compiles and loads the plugin whose source is the cell. A process can register a plugin's name only once."""

    def softalign(line: str, cell: str) -> Any:
        source = _cache() / f"{line.strip() or 'cell'}.cpp"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(cell)
        return plugin(source)

    shell.register_magic_function(softalign, magic_kind="cell")
