"""Arrays of frames in Python give the results of the same arrays in a file; errors name the index."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import softalign_lab as sa
from command_line import MODEL, softalign

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")

Arrays = list[np.ndarray]


def write(path: Path, arrays: Arrays) -> None:
    with h5py.File(path, "w") as file:
        file["frames"] = np.concatenate(arrays).astype("float32")
        file["lengths"] = [len(array) for array in arrays]


@pytest.fixture(scope="module")
def arrays() -> Arrays:
    stream = np.random.default_rng(1)
    return [stream.standard_normal((length, 2)).astype("float32") + [0, 50] for length in (3, 1, 6, 2, 5, 4, 7, 2)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, arrays: Arrays) -> sa.Run:
    folder = tmp_path_factory.mktemp("frames")
    write(folder / "x.h5", arrays)
    (folder / "x.txt").write_text("a b\nb\na\nb b\na a\nb\na\nb a\n")
    files = "".join(f"  {split}: {{source: x.h5, target: x.txt}}\n" for split in ("train", "dev", "test"))
    (folder / "x.yaml").write_text(f"name: x\ntask:\n  type: frames\n  frame_size: 2\n{files}{MODEL}")
    return sa.run(folder / "x.yaml", {"train.epochs": 20}, results=folder / "results", progress=False)


def test_arrays_are_translated_as_the_program_does(run: sa.Run, arrays: Arrays, tmp_path: Path) -> None:
    write(tmp_path / "new.h5", arrays)
    printed = softalign("translate", run.path, "--frames", "new.h5", cwd=tmp_path).stdout.splitlines()
    found = run.translate([array.astype("float32") for array in arrays])
    assert [str(one) for one in found] == printed == list(run.sentences["hypothesis"])
    assert found[2].alignment.sizes["source"] == len(arrays[2])
    transposed = [np.asfortranarray(array) for array in arrays]  # float64, too, in another order in memory
    assert [str(one) for one in run.translate(transposed)] == printed


def test_arrays_are_refused_by_their_index(run: sa.Run, arrays: Arrays) -> None:
    with pytest.raises(sa.DataError, match="array 1 has not the shape"):
        run.translate([arrays[0], arrays[1][:, :1]])
    with pytest.raises(sa.DataError, match="array 2: number 1 of frame 0"):
        run.translate([*arrays[:2], np.full((2, 2), [1, np.nan])])
    with pytest.raises(TypeError, match="list of arrays"):
        run.translate(arrays[0])
