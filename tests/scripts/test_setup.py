"""scripts/setup.sh, in a copy of its folder, on machines made of stand-ins: no package is installed and nothing is compiled."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
PACKAGES = """
[build]
cmake      # 3.25
libfmt-dev # 9.1  text
[tests]
hdf5-tools # 1.10
[clang]
clang      # 14
"""
TOOLS = ("bash", "cat", "dirname", "env", "grep", "mkdir", "nproc", "sed", "sort", "tail")


class Machine:
    """A machine whose programs are TOOLS and stand-ins that note how they were called."""

    def __init__(self, root: Path) -> None:
        self.root, self.bin, self.calls = root, root / "bin", root / "calls"
        self.bin.mkdir()
        (root / "scripts").mkdir()
        for script in ("setup.sh", "test.sh"):
            shutil.copy(SCRIPTS / script, root / "scripts")
        shutil.copy(SCRIPTS.parent / "CMakePresets.json", root)
        (root / "scripts/packages.txt").write_text(PACKAGES)
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.stand_in("cmake")
        self.stand_in("sleep")
        self.stand_in("sudo", 'exec "$@"')

    def stand_in(self, name: str, body: str = "") -> None:
        (self.bin / name).write_text(f'#!/bin/bash\necho "{name} $*" >>{self.calls}\n{body}\n')
        (self.bin / name).chmod(0o755)

    def debian(self, installed: str, apt: str = "") -> None:
        lines = "".join(f"installed {name}\\n" for name in installed.split())
        self.stand_in("dpkg-query", f"printf '{lines}'")
        self.stand_in("apt-get", apt)

    def set_up(self, *words: str, script: str = "setup.sh") -> tuple[int, str, list[str]]:
        """Runs the script; returns its status, what it said, and the calls of cmake and apt-get."""
        command = [self.root / "scripts" / script, *words]
        ended = subprocess.run(command, env={**os.environ, "PATH": str(self.bin)}, capture_output=True, text=True, check=False)
        calls = self.calls.read_text().splitlines() if self.calls.exists() else []
        return ended.returncode, ended.stdout + ended.stderr, [call for call in calls if call.startswith(("cmake", "apt-get"))]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_only_the_missing_packages_of_the_groups_are_installed(machine):
    machine.debian("cmake")
    code, _, calls = machine.set_up("build")
    assert code == 0
    assert [re.sub(" -.*recommends", "", call) for call in calls if "apt-get" in call] == ["apt-get libfmt-dev"]
    assert "cmake --preset release -DSOFTALIGN_TESTS=OFF" in calls
    assert any("--target softalign " in call for call in calls)


def test_nothing_is_installed_when_all_is_there(machine):
    machine.debian("cmake libfmt-dev hdf5-tools")
    code, _, calls = machine.set_up("build", "tests")
    assert code == 0 and not any("apt-get" in call for call in calls)
    assert "cmake --preset release -DSOFTALIGN_TESTS=ON" in calls
    assert any("--target all " in call for call in calls)


def test_absent_package_lists_are_fetched(machine):
    machine.debian("cmake", f'[[ $* == *update* ]] && touch {machine.root}/fresh; [[ -e {machine.root}/fresh ]]')
    (machine.bin / "touch").symlink_to(shutil.which("touch"))
    code, message, calls = machine.set_up("build")
    assert code == 0 and "could not" not in message
    assert [call.split()[-1] for call in calls if "apt-get" in call] == ["libfmt-dev", "update", "libfmt-dev"]


def test_a_preset_has_its_own_build_and_packages(machine):
    machine.debian("cmake libfmt-dev")
    code, _, calls = machine.set_up("--preset", "clang", "build")
    assert code == 0 and "clang" in calls[0].split() and "apt-get" in calls[0]
    assert "cmake --preset clang -DSOFTALIGN_TESTS=OFF" in calls
    assert calls[-1].startswith("cmake --build --preset clang ")
    code, _, calls = machine.set_up("build", "--preset=asan")
    assert "cmake --preset asan -DSOFTALIGN_TESTS=OFF" in calls


def test_the_preset_of_the_fuzzers_builds_the_fuzzers(machine):
    code, _, calls = machine.set_up("--preset", "fuzz")
    assert code == 0
    assert calls[-1].startswith("cmake --build --preset fuzz --target fuzzers ")


@pytest.mark.parametrize("script", ["setup.sh", "test.sh"])
@pytest.mark.parametrize("words", [["--preset"], ["--preset", "nosuch"], ["--pre=asan"]])
def test_what_a_script_does_not_know_is_refused_in_one_line(machine, script, words):
    machine.debian("cmake libfmt-dev")
    machine.stand_in("ctest", "echo '  -R <regex>, --tests-regex <regex>'")
    code, message, calls = machine.set_up(*words, script=script)
    assert code == 2 and message.count("\n") == 1 and message.startswith(("setup.sh: ", "test.sh: ")) and not calls


def test_a_group_that_is_not_there_is_refused(machine):
    machine.debian("cmake libfmt-dev")
    code, message, calls = machine.set_up("build", "buidl")
    assert code == 2 and "there is no group 'buidl'" in message and "build, tests, clang" in message and not calls


@pytest.mark.parametrize("script", ["setup.sh", "test.sh"])
def test_help_prints_the_usage_and_does_nothing_else(machine, script):
    machine.debian("")
    code, message, calls = machine.set_up("--help", script=script)
    assert code == 0 and message.startswith(f"{script} [--preset NAME]") and not calls
    assert not (machine.root / "build").exists()


def test_a_failed_installation_says_what_to_do_and_goes_on(machine):
    machine.debian("", "echo E: no network; exit 100")
    code, message, calls = machine.set_up("build")
    assert code == 0 and "E: no network" in message
    assert "To do by hand: apt-get install cmake libfmt-dev" in message
    assert calls[-1].startswith("cmake --build")


def test_a_group_that_cannot_be_had_keeps_no_other_away(machine):
    machine.debian("", "[[ $* != *hdf5-tools* ]]")
    code, message, calls = machine.set_up("tests", "build")
    assert code == 0 and "To do by hand: apt-get install hdf5-tools\n" in message
    assert any(call.endswith("cmake libfmt-dev") for call in calls if "apt-get" in call)


def test_without_apt_get_the_needs_are_listed(machine):
    code, message, calls = machine.set_up("build")
    assert code == 0 and "no apt-get here" in message
    assert "libfmt-dev # 9.1  text" in message and "[tests]" in message
    assert len(calls) == 2


def test_a_missing_library_is_shown_and_stops_the_set_up(machine):
    machine.debian("cmake libfmt-dev")
    machine.stand_in("cmake", "echo 'Could not find fmt' >&2; exit 1")
    code, message, _ = machine.set_up("build")
    assert code == 1 and "Could not find fmt" in message and "scripts/packages.txt has its package" in message


def test_each_group_names_a_package_once_with_its_version():
    for group in re.split(r"^\[.*\]\n", (SCRIPTS / "packages.txt").read_text(), flags=re.M):
        lines = [line for line in group.splitlines() if line and line[0] != "#"]
        assert all(re.fullmatch(r"[a-z0-9+-]+ +# [0-9.]+\b.*", line) for line in lines)
        names = [line.split()[0] for line in lines]
        assert len(set(names)) == len(names)


COMMANDS = sorted(path.name for path in SCRIPTS.iterdir() if path.suffix in (".py", ".sh") and os.access(path, os.X_OK))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_script_answers_help_and_refuses_what_it_does_not_know(name: str):
    """At once: nothing is installed, built or run before."""
    helped, refused = (subprocess.run([SCRIPTS / name, word], capture_output=True, text=True, timeout=60, check=False) for word in ("--help", "--nonsense"))
    assert helped.returncode == 0 and name.partition(".")[0] in helped.stdout, helped.stderr
    assert refused.returncode == 2 and name.partition(".")[0] in refused.stderr and "Traceback" not in refused.stderr, refused.stderr
