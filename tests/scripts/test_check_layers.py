"""The layer law, on source trees with one violation each."""

from pathlib import Path

import check_layers
import pytest


def found(root: Path, path: str, include: str) -> list[str]:
    file = root / path
    file.parent.mkdir(parents=True)
    file.write_text(f"// A file.\n#include {include}\n")
    return list(check_layers.breaches(root))


@pytest.mark.parametrize(
    "path, include, text",
    [
        ("framework/kernels/a.cpp", '"framework/ops/b.hpp"', "layer 'kernels' may not include layer 'ops'"),
        ("framework/nn/a.cpp", '"framework/seq/b.hpp"', "move what you need into one of: nn, ops, autodiff"),
        ("framework/eval/a.cpp", '"framework/record/b.hpp"', "layer 'eval' may not include layer 'record'"),
        ("framework/app/a.cpp", '"framework/plugins/scores/dot.hpp"', "nobody includes a plugin"),
        ("tests/nn/a_test.cpp", '"framework/plugins/scores/dot.hpp"', "nobody includes a plugin"),
        ("framework/plugins/scores/a.cpp", '"framework/nn/linear.hpp"', "a plugin of this kind includes only plugin.hpp"),
        ("framework/plugins/tasks/a.cpp", '"framework/train/b.hpp"', "layer 'plugins' may not include layer 'train'"),
        ("framework/nn/a.cpp", '"linear.hpp"', 'write "framework/nn/linear.hpp"'),
        ("framework/odd/a.cpp", '"framework/base/types.hpp"', "'odd' is no layer"),
        ("framework/record/hdf5/a.cpp", '"framework/record/journal/b.hpp"', "room 'hdf5' may not include room 'journal'"),
        ("framework/record/file.cpp", '"framework/record/hdf5/b.hpp"', "move what you need into one of: file"),
        ("framework/app/terminal/a.cpp", '"framework/app/records/b.hpp"', "room 'terminal' may not include room 'records'"),
        ("framework/app/odd/a.cpp", '"framework/app/command.hpp"', "'odd' is not a room of app/"),
        ("framework/train/odd/a.cpp", '"framework/train/spec.hpp"', "its folder has rooms"),
        ("framework/ops/a.cpp", "<xtensor/xarray.hpp>", "only by framework/base/array.hpp"),
        ("framework/record/a.cpp", "<hdf5.h>", "only by framework/record/hdf5/*"),
        ("framework/config/a.hpp", "<yaml-cpp/yaml.h>", "only by framework/config/yaml.cpp"),
        ("framework/runs/a.cpp", "<CLI/CLI.hpp>", "only by framework/app/*"),
        ("framework/record/a.hpp", "<nlohmann/json.hpp>", "only by framework/*.cpp"),
    ],
)
def test_a_breach_names_its_place_and_its_remedy(tmp_path, path, include, text):
    (line,) = found(tmp_path, path, include)
    assert line.startswith(f"{path}:2: ") and text in line


@pytest.mark.parametrize(
    "path, include",
    [
        ("framework/app/a.cpp", '"framework/base/types.hpp"'),
        ("framework/train/a.cpp", '"framework/record/journal/journal.hpp"'),
        ("framework/record/recorder.cpp", '"framework/record/journal/journal.hpp"'),
        ("framework/plugins/scores/a.cpp", '"framework/plugin.hpp"'),
        ("framework/plugins/tasks/a.cpp", '"framework/data/task.hpp"'),
        ("framework/record/hdf5/reader.cpp", "<hdf5.h>"),
        ("framework/nn/a.cpp", "<vector>"),
        ("tests/record/a_test.cpp", "<hdf5.h>"),
        ("tests/package/a.cpp", '"probe.hpp"'),
    ],
)
def test_what_the_law_allows(tmp_path, path, include):
    assert found(tmp_path, path, include) == []


@pytest.mark.parametrize(
    "line, remedy, broken, kept",
    [
        ("double f(double x) { return std::log(x); }", "use exact::log", "framework/eval/a.cpp", "framework/app/a.cpp"),
        ("const auto json = nlohmann::json::parse(text, nullptr, false);", "use read_json", "framework/record/a.cpp", "framework/base/json.hpp"),
    ],
)
def test_a_call_that_is_made_in_one_place_only(tmp_path, line, remedy, broken, kept):
    for path in (broken, kept, "tests/eval/a_test.cpp"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(line + "\n")
    (breach,) = check_layers.breaches(tmp_path)
    assert breach.startswith(f"{broken}:1: ") and remedy in breach


def test_what_the_law_names_exists(tmp_path, monkeypatch):
    tree = Path(check_layers.__file__).parents[1]
    assert list(check_layers.stale(tree)) == []
    monkeypatch.setitem(check_layers.ROOMS, "record", [*check_layers.ROOMS["record"], "attic"])
    monkeypatch.setattr(check_layers, "NO_RESULTS", [*check_layers.NO_RESULTS, "train/gone.cpp"])
    assert [line.split()[2] for line in check_layers.stale(tree)] == ["framework/record/attic,", "framework/train/gone.cpp,"]
