"""softalign serve: access control, its pages, and their updates while a run trains."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from report_places import PROGRAM, ROOT, TINY, make_run


@pytest.fixture()
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Starts the server; yields (folder, address)."""
    make_run(tmp_path)
    process = subprocess.Popen([PROGRAM, "serve", tmp_path / "results"], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    yield tmp_path, process.stdout.readline().strip()
    process.terminate()
    process.wait()


def got(address: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), dict(error.headers)


def test_the_list_and_the_page_of_a_run(served: tuple[Path, str]) -> None:
    folder, address = served
    status, page, headers = got(address)
    (run,) = folder.glob("results/*/*")
    assert status == 200 and run.name in page and "complete" in page and "Refresh" not in headers
    cookie = headers["Set-Cookie"].partition(";")[0]
    base = address.partition("?")[0]
    status, page, _ = got(f"{base}page?place={run.parent.name}/{run.name}", Cookie=cookie)
    assert status == 200 and "<h1" in page and run.name in page and 'id="alignment-data"' in page
    assert got(f"{base}page?place={run.parent.name}", Cookie=cookie)[0] == 200
    for place in ("..", "../..", "/etc", f"{run.parent.name}/nothing", "%00"):
        assert got(f"{base}page?place={place}", Cookie=cookie)[0] == 404, place
    assert got(f"{base}other", Cookie=cookie)[0] == 404


def test_only_who_has_the_token_is_let_in(served: tuple[Path, str]) -> None:
    _, address = served
    base = address.partition("?")[0]
    assert base.startswith("http://127.0.0.1:")
    for wrong in (base, f"{base}?token=", f"{base}?token=abc", f"{base}page?place="):
        status, page, headers = got(wrong)
        assert status == 403 and "Set-Cookie" not in headers and "complete" not in page
    assert got(base, Cookie="softalign=abc")[0] == 403
    assert got(address, Host="evil.example")[0] == 403  # DNS rebinding: a foreign name that resolves to this machine


def test_what_trains_is_followed(served: tuple[Path, str]) -> None:
    folder, address = served
    training = subprocess.Popen([PROGRAM, "run", TINY, "train.epochs=100000", "name=long"], cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        while not list(folder.glob("results/long/*/run.h5")):
            assert training.poll() is None
            time.sleep(0.1)
        status, page, headers = got(address)
        assert status == 200 and "running" in page and headers["Refresh"] == "10"
        place = address.replace("/?", "/page?place=long&")
        status, first, headers = got(place)
        assert status == 200 and headers["Refresh"] == "10" and "running" in first
    finally:
        training.kill()
        training.wait()
    assert "Refresh" not in got(address)[2]


def test_a_wrong_folder_or_port_is_named(tmp_path: Path) -> None:
    script = [sys.executable, ROOT / "scripts/serve.py"]
    for words in ([tmp_path / "nothing"], [tmp_path, "--port", "70000"]):
        done = subprocess.run([*script, *words], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 2 and done.stderr.startswith("serve: "), done
