"""A browser for the tests here. If it is missing, all tests are skipped with the reason, and so is the CTest (status 77)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests/scripts"), str(ROOT / "scripts")]
BUILD = Path(os.environ.get("SOFTALIGN_BINARY_DIR", ROOT / "build/release")).absolute()
MODULES = BUILD.parent / "browser"
ALL_SKIPPED = 77


@cache
def lacking() -> str:
    """Returns the reason why no browser can be used here; empty if one can."""
    for program, package in (("chromium", "chromium"), ("node", "nodejs"), ("npm", "npm")):
        if shutil.which(program) is None:
            return f"there is no {program}; apt-get install {package}"
    try:
        done = subprocess.run([HERE / "install_playwright.sh", MODULES], capture_output=True, text=True, timeout=180, check=False)
    except subprocess.TimeoutExpired:
        return "playwright-core and axe-core cannot be fetched: npm took more than 3 minutes"
    if done.returncode == 0:
        return ""
    causes = [line for line in done.stderr.splitlines() if line.startswith("npm err")] or done.stderr.splitlines()
    return f"playwright-core and axe-core cannot be fetched: {'; '.join(causes[:2])}"


@pytest.fixture(scope="session")
def drive() -> Callable[..., str]:
    """Returns a function that plays a scenario of scenarios/ on a page and returns its output. It fails if the scenario fails, if
    the page logs an error, or if the page requests anything but its own file."""
    if reason := lacking():
        pytest.skip(reason)

    def play(scenario: str, page: Path, *, width: int = 1280, theme: str = "light", script: bool = True) -> str:
        command = ["node", HERE / "drive.mjs", scenario, page, str(width), theme, "script" if script else "none"]
        environment = {
            **os.environ,
            "PLAYWRIGHT": str(MODULES / "node_modules/playwright-core/index.mjs"),
            "AXE": str(MODULES / "node_modules/axe-core/axe.min.js"),
            "CHROMIUM": shutil.which("chromium"),
        }
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return play


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter is not None and set(reporter.stats) & {"passed", "skipped"} == {"skipped"}:
        session.exitstatus = ALL_SKIPPED
