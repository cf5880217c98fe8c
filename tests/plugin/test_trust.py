"""Whose plugins run: those that the user names, and of those that records and folders name only the ones that the user trusts."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from command_line import ANGULAR, TINY, answer, error, softalign, trained_run

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")

SEAL = 20  # bytes behind a record: what framework/record/hdf5/seal.hpp adds


def build_stranger(folder: Path) -> Path:
    """A shared object whose code leaves the file MARK beside it as soon as it is loaded."""
    tag = re.search(rb"softalign-abi\{[^}\0]+\}", ANGULAR.read_bytes())
    assert tag
    made = folder / "stranger.so"
    source = Path(__file__).with_name("stranger.c")
    words = [f'-DTAG="{tag[0].decode()}"', f'-DMARK="{folder / "MARK"}"', str(source), "-o", str(made)]
    subprocess.run(["cc", "-shared", "-fPIC", *words], check=True)
    return made


def name_in_record(record: Path, plugin: str, digest: str) -> None:
    """What a stranger's record may say: that the run was made with this plugin, of whatever digest it likes."""
    content = record.read_bytes()
    assert content[-SEAL : -SEAL + 8] == b"SOFTSEAL"
    record.write_bytes(content[:-SEAL])
    with h5py.File(record, "r+") as file:
        text = file["provenance/spec_yaml"][()].decode()
        changed = re.sub(r"plugins: \[.*?\]", f'plugins: ["{plugin}"]', text)
        assert changed != text
        file["provenance/spec_yaml"][()] = changed.encode()
        file["provenance"].attrs["plugins"] = f'["{plugin} sha256:{digest}"]'


def unpacked(here: Path) -> tuple[Path, Path]:
    """A run's folder as it might come out of somebody's archive, and the plugin in it."""
    run = trained_run(here, "train.epochs=1")
    plugin = build_stranger(run)
    name_in_record(run / "run.h5", plugin.name, digest_of(plugin))
    return run, plugin


def digest_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def readers(run: Path) -> list[list[object]]:
    """The commands that build a model from a record."""
    pair = run.parent / "pair.txt"
    pair.write_text("a b\n")
    return [["evaluate", run], ["translate", run], ["score", run, "--source", pair, "--target", pair], ["verify", run]]


def test_a_record_from_elsewhere_runs_nothing(here: Path) -> None:
    run, plugin = unpacked(here)
    for command in readers(run):
        line = error(*command, cwd=here, code=2)
        assert not (run / "MARK").exists(), command
        assert line.startswith(f"{run}/run.h5 (its spec):"), line
        assert f"{plugin} (SHA-256 {digest_of(plugin)}) is code that may come from anyone, and was not run" in line
        again = f"softalign {' '.join(map(str, command))} --plugin {plugin}"
        assert f"for once: {again}, or from now on: softalign trust {plugin}" in line
    for command in (["show", run], ["ls"], ["diff", run, run], ["compare", "results"], ["export", "results"], ["recover", run]):
        softalign(*command, cwd=here, code=None)
        assert not (run / "MARK").exists(), command


def test_what_the_command_line_names_is_loaded_by_its_name(here: Path) -> None:
    run, plugin = unpacked(here)
    for command in readers(run):
        for words in (["--plugin", plugin], [f"plugins=[{plugin.relative_to(here)}]"]):
            line = error(*command, *words, cwd=here, code=2)
            assert "stranger.so: registers nothing" in line
            assert (run / "MARK").read_text() == f"{plugin}\n"
            (run / "MARK").unlink()
    assert not (here / "config").exists(), "what was named once is trusted"


def test_what_is_trusted_is_loaded_as_the_bytes_that_were_trusted(here: Path) -> None:
    run, plugin = unpacked(here)
    digest = digest_of(plugin)
    assert softalign("trust", plugin, cwd=here).stdout == f"{plugin}: SHA-256 {digest} is trusted\n"
    assert not (run / "MARK").exists()
    for command in readers(run):
        assert "stranger.so: registers nothing" in error(*command, cwd=here, code=2)
        assert (run / "MARK").read_text().startswith("/proc/self/fd/"), "loaded from a file that can change"
        (run / "MARK").unlink()
    with plugin.open("ab") as file:
        file.write(b"changed")
    for command in readers(run):
        message = error(*command, cwd=here, code=2)
        assert f"(SHA-256 {digest_of(plugin)}) is code that may come from anyone" in message
        assert "it has changed since you trusted it" in message
        assert not (run / "MARK").exists()


def test_the_list_of_trusted_plugins(here: Path) -> None:
    shutil.copy(ANGULAR, here / "a.so")
    shutil.copy(ANGULAR.with_name("leaky.so"), here / "b.so")
    a, b = (digest_of(here / name) for name in ("a.so", "b.so"))
    assert softalign("trust", cwd=here).stdout == ""
    softalign("trust", "a.so", "b.so", cwd=here)
    assert softalign("trust", "a.so", cwd=here).stdout.endswith(", trusted already\n")
    lines = [f"{a} {here / 'a.so'}\n", f"{b} {here / 'b.so'}\n"]
    assert softalign("trust", cwd=here).stdout == "".join(lines)
    listed = here / "config/softalign/trusted_plugins"
    assert listed.read_text() == "".join(lines) and listed.stat().st_mode & 0o777 == 0o600
    assert softalign("trust", "--remove", "a.so", cwd=here).stdout == "a.so: 1 plugin trusted no more\n"
    assert listed.read_text() == lines[1]
    assert "no plugin of this name or digest is trusted" in error("trust", "--remove", "a.so", cwd=here, code=2)
    assert "no plugin of this name" in error("trust", "--remove", b[:7], cwd=here, code=2)
    softalign("trust", "--remove", b[:8], cwd=here)
    assert listed.read_text() == "" and "no plugin is named" in error("trust", "--remove", cwd=here, code=2)
    softalign("trust", "a.so", cwd=here)
    (here / "a.so").rename(here / "c.so")
    assert softalign("trust", "--remove", "c.so", cwd=here).stdout == "c.so: 1 plugin trusted no more\n"
    (here / "c.so").rename(here / "a.so")
    (here / "text.so").write_text("no plugin")
    assert "is no shared object" in error("trust", "text.so", cwd=here, code=2)
    without = {"XDG_CONFIG_HOME": "relative", "HOME": str(here), "PATH": os.environ["PATH"]}
    softalign("trust", "a.so", cwd=here, env=without)
    assert (here / ".config/softalign/trusted_plugins").read_text() == lines[0]
    assert "neither XDG_CONFIG_HOME nor HOME" in error("trust", "a.so", cwd=here, code=2, env={"PATH": os.environ["PATH"]})


def test_a_list_that_others_could_have_written_counts_for_nothing(here: Path) -> None:
    run, plugin = unpacked(here)
    softalign("trust", plugin, cwd=here)
    listed = here / "config/softalign/trusted_plugins"
    listed.chmod(0o622)
    for command in (["evaluate", run], ["trust"], ["trust", plugin]):
        assert "others can write to it" in error(*command, cwd=here, code=3)
    listed.chmod(0o600)
    listed.write_text(listed.read_text() + "nonsense\n")
    assert f"{listed}:2: is no SHA-256 with a path behind it" in error("evaluate", run, cwd=here, code=3)
    assert not (run / "MARK").exists()


def test_an_ensemble_needs_the_plugins_of_all(here: Path) -> None:
    shutil.copy(ANGULAR, here / "angular.so")
    shutil.copy(ANGULAR.with_name("leaky.so"), here / "leaky.so")
    both = ["--plugin", "angular.so", "--plugin", "leaky.so"]
    run = trained_run(here, *both, "model.attention.score=angular", "train.epochs=1")
    line = error("translate", run, cwd=here, code=2)
    assert f"--plugin {here / 'angular.so'} --plugin {here / 'leaky.so'}" in line
    line = error("translate", run, "--plugin", "leaky.so", cwd=here, code=2)
    assert "unknown score 'angular'" in line and "give --plugin for each" in line
    softalign("translate", run, *both, cwd=here, text="a b\n")


BASE = TINY.replace("name: tiny\n", "").replace("epochs: 2", "epochs: 1")
SWEEP = "name: small\nbase: specs/base.yaml\nparameters:\n  model.attention.score.type: {values: [angular, additive]}\n"


@pytest.fixture()
def sweep(here: Path) -> Path:
    """A sweep whose base names its plugin beside it."""
    (here / "specs").mkdir()
    shutil.copy(ANGULAR, here / "specs/angular.so")
    (here / "specs/base.yaml").write_text(BASE + "plugins: [angular.so]\n")
    (here / "sweep.yaml").write_text(SWEEP)
    return here


def test_a_sweep_may_use_the_plugins_that_its_own_file_names(sweep: Path) -> None:
    ran = softalign("sweep", "run", "sweep.yaml", "--workers", 1, cwd=sweep)
    assert "small: 2 complete" in ran.stdout
    assert not (sweep / "config").exists()
    for row in answer("sweep", "status", "results/small", cwd=sweep)["rows"]:
        assert answer("show", row["folder"], cwd=sweep)["provenance"]["plugins"].count("angular.so") == 1
    (sweep / "sweep.yaml").write_text(SWEEP + "resources: {setup: [module load gcc]}\n")
    line = error("sweep", "submit", "results/small", "--plugin", "specs/angular.so", cwd=sweep, code=2)
    assert "says what Slurm runs" in line and "softalign sweep submit --out=results sweep.yaml" in line


def test_a_sweep_in_a_folder_from_elsewhere_runs_nothing(sweep: Path) -> None:
    softalign("sweep", "plan", "sweep.yaml", cwd=sweep)
    plugin = build_stranger(sweep).replace(sweep / "specs/angular.so")
    mark, folder = sweep / "MARK", sweep / "results/small"
    assert "planned" in softalign("sweep", "status", folder, cwd=sweep).stdout
    for words in (["run"], ["run", "--dry-run"], ["work", "--row", 0], ["submit"], ["plan"], ["extend"]):
        command = ["sweep", words[0], folder, *words[1:]]
        line = softalign(*command, cwd=sweep, code=2).stderr.splitlines()[-1]
        assert f"{plugin} (SHA-256 {digest_of(plugin)}) is code that may come from anyone" in line, command
        assert f"softalign {' '.join(map(str, command))} --plugin {plugin}" in line
        assert not mark.exists(), command
    for file in folder.glob("failures/*"):
        file.unlink()
    softalign("sweep", "work", folder, "--row", 0, "--plugin", plugin, cwd=sweep, code=2)
    assert mark.exists()
    mark.unlink()
    shutil.copy(ANGULAR, plugin)
    softalign("trust", plugin, cwd=sweep)
    assert "small: 2 complete" in softalign("sweep", "retry", folder, cwd=sweep).stdout + softalign("sweep", "run", folder, cwd=sweep).stdout
