"""Only plugins that the user names are loaded, not those that only a record or a sweep's folder names."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from command_line import ANGULAR, TINY, answer, error, softalign, trained_run

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")

SEAL = 20  # bytes behind a record: what framework/record/hdf5/hdf5.hpp adds


def build_stranger(folder: Path) -> Path:
    """Builds a shared object that writes the file MARK next to it when it is loaded."""
    tag = re.search(rb"softalign-abi\{[^}\0]+\}", ANGULAR.read_bytes())
    assert tag
    made = folder / "stranger.so"
    source = Path(__file__).with_name("stranger.c")
    words = [f'-DTAG="{tag[0].decode()}"', f'-DMARK="{folder / "MARK"}"', str(source), "-o", str(made)]
    subprocess.run(["cc", "-shared", "-fPIC", *words], check=True)
    return made


def name_in_record(record: Path, plugin: Path) -> None:
    """Makes a record name this plugin with its digest, as an untrusted record may."""
    content = record.read_bytes()
    assert content[-SEAL : -SEAL + 8] == b"SOFTSEAL"
    record.write_bytes(content[:-SEAL])
    with h5py.File(record, "r+") as file:
        text = file["provenance/spec_yaml"][()].decode()
        changed = re.sub(r"plugins: \[.*?\]", f'plugins: ["{plugin.name}"]', text)
        assert changed != text
        file["provenance/spec_yaml"][()] = changed.encode()
        file["provenance"].attrs["plugins"] = f'["{plugin.name} sha256:{hashlib.sha256(plugin.read_bytes()).hexdigest()}"]'


def unpacked(here: Path) -> tuple[Path, Path]:
    """Returns a run's folder as from an archive, and the plugin in it."""
    run = trained_run(here, "train.epochs=1")
    plugin = build_stranger(run)
    name_in_record(run / "run.h5", plugin)
    return run, plugin


def readers(run: Path) -> list[list[object]]:
    """Returns the commands that build a model from a record."""
    pair = run.parent / "pair.txt"
    pair.write_text("a b\n")
    return [["evaluate", run], ["translate", run], ["score", run, "--source", pair, "--target", pair], ["verify", run]]


def test_a_record_from_elsewhere_runs_nothing(here: Path) -> None:
    run, plugin = unpacked(here)
    for command in readers(run):
        line = error(*command, cwd=here, code=2)
        assert not (run / "MARK").exists(), command
        assert line.endswith(f"--plugin {plugin}"), line
    for command in (["show", run], ["ls"], ["diff", run, run], ["compare", "results"], ["export", "results"], ["recover", run]):
        softalign(*command, cwd=here, code=None)
        assert not (run / "MARK").exists(), command


def test_what_the_command_line_names_is_loaded_this_once(here: Path) -> None:
    run, plugin = unpacked(here)
    for command in readers(run):
        for words in (["--plugin", plugin], [f"plugins=[{plugin.relative_to(here)}]"]):
            line = error(*command, *words, cwd=here, code=2)
            assert "stranger.so: registers nothing" in line
            (run / "MARK").unlink()
        assert "refusing to load untrusted plugin" in error(*command, cwd=here, code=2), "what was named once is remembered"
        assert not (run / "MARK").exists()


def test_an_ensemble_needs_the_plugins_of_all(here: Path) -> None:
    shutil.copy(ANGULAR, here / "angular.so")
    shutil.copy(ANGULAR.with_name("leaky.so"), here / "leaky.so")
    both = ["--plugin", "angular.so", "--plugin", "leaky.so"]
    run = trained_run(here, *both, "model.attention.score=angular", "train.epochs=1")
    line = error("translate", run, cwd=here, code=2)
    assert line.endswith(f"--plugin {here / 'angular.so'} --plugin {here / 'leaky.so'}")
    line = error("translate", run, "--plugin", "leaky.so", cwd=here, code=2)
    assert "angular.so" in line and "give --plugin for each" in line
    softalign("translate", run, *both, cwd=here, text="a b\n")


BASE = TINY.replace("name: tiny\n", "").replace("epochs: 2", "epochs: 1")
SWEEP = "name: small\nbase: specs/base.yaml\nparameters:\n  model.attention.score.type: {values: [angular, additive]}\n"


@pytest.fixture()
def sweep(here: Path) -> Path:
    """Returns a sweep whose base names a plugin next to it."""
    (here / "specs").mkdir()
    shutil.copy(ANGULAR, here / "specs/angular.so")
    (here / "specs/base.yaml").write_text(BASE + "plugins: [angular.so]\n")
    (here / "sweep.yaml").write_text(SWEEP)
    return here


def test_a_sweep_may_use_the_plugins_that_its_own_file_names(sweep: Path) -> None:
    ran = softalign("sweep", "run", "sweep.yaml", "--workers", 1, cwd=sweep)
    assert "small: 2 complete" in ran.stdout
    for row in answer("sweep", "status", "results/small", cwd=sweep)["rows"]:
        assert answer("show", row["folder"], cwd=sweep)["provenance"]["plugins"].count("angular.so") == 1
    (sweep / "sweep.yaml").write_text(SWEEP + "resources: {setup: [module load gcc]}\n")
    error("sweep", "submit", "results/small", "--plugin", "specs/angular.so", cwd=sweep, code=2)


def test_a_sweep_in_a_folder_from_elsewhere_runs_nothing(sweep: Path) -> None:
    softalign("sweep", "plan", "sweep.yaml", cwd=sweep)
    plugin = build_stranger(sweep).replace(sweep / "specs/angular.so")
    mark, folder = sweep / "MARK", sweep / "results/small"
    assert "planned" in softalign("sweep", "status", folder, cwd=sweep).stdout
    for words in (["run"], ["run", "--dry-run"], ["work", "--row", 0], ["submit"], ["plan"], ["extend"]):
        command = ["sweep", words[0], folder, *words[1:]]
        assert f"--plugin {plugin}" in softalign(*command, cwd=sweep, code=2).stderr.splitlines()[-1], command
        assert not mark.exists(), command
    for file in folder.glob("failures/*"):
        file.unlink()
    softalign("sweep", "work", folder, "--row", 0, "--plugin", plugin, cwd=sweep, code=2)
    assert mark.exists()
    mark.unlink()
    shutil.copy(ANGULAR, plugin)
    named = ("--plugin", plugin)
    assert "small: 2 complete" in softalign("sweep", "retry", folder, *named, cwd=sweep).stdout + softalign("sweep", "run", folder, *named, cwd=sweep).stdout
