"""Imported by a script before its libraries. A missing one then costs a single line, which says how to install it."""

import shlex
import sys
from pathlib import Path
from types import TracebackType

# Module -> its packages in Debian and on PyPI.
PACKAGES = {
    "jinja2": ("python3-jinja2", "jinja2"),
    "matplotlib": ("python3-matplotlib", "matplotlib"),
    "numpy": ("python3-numpy", "numpy"),
    "optuna": ("python3-optuna", "optuna"),
}


def explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    module = error.name or "" if isinstance(error, ModuleNotFoundError) else ""
    if module not in PACKAGES:
        sys.__excepthook__(kind, error, trace)
        return
    debian, pypi = PACKAGES[module]
    program = Path(sys.argv[0]).stem
    of_system = sys.executable.startswith("/usr/bin/")  # which pip must not change on Debian
    install = f"apt-get install {debian}" if of_system else f"{shlex.quote(sys.executable)} -m pip install {pypi}"
    sys.stderr.write(f"{program}: the Python package '{module}' is missing: {install}\n")


sys.excepthook = explain
