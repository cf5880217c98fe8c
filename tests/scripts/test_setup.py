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
[figures]
python3-h5py # 3.7
[tests]
hdf5-tools # 1.10
[clang]
clang      # 14
[browser]
npm        # 9.2
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

    def set_up(self, *words: str, script: str = "setup.sh", **environment: str) -> tuple[int, str, list[str]]:
        """Runs the script; returns its exit status, its output, and the calls of cmake and apt-get."""
        command = [self.root / "scripts" / script, *words]
        ended = subprocess.run(command, env={**os.environ, "PATH": str(self.bin), **environment}, capture_output=True, text=True, check=False)
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


def test_without_groups_what_the_readme_s_first_page_uses_is_installed(machine):
    machine.debian("cmake")
    code, _, calls = machine.set_up()
    assert code == 0 and any(call.endswith(" libfmt-dev python3-h5py") for call in calls)
    page = (SCRIPTS.parent / "README.md").read_text()
    assert "softalign report" in page and "scripts/setup.sh " in page and "scripts/setup.sh build" not in page


def test_a_build_into_a_log_counts_its_files_now_and_then(machine):
    """Counts every second here. Other output of ninja and its exit status are passed on."""
    script = machine.root / "scripts/setup.sh"
    script.write_text(script.read_text().replace("\nevery=30 ", "\nevery=1 "))
    machine.debian("cmake libfmt-dev python3-h5py")
    (machine.bin / "sleep").unlink()
    (machine.bin / "sleep").symlink_to(shutil.which("sleep"))
    machine.stand_in("cmake", """
        [[ $1 == --build ]] || exit 0
        echo "[1/7] a.cpp"; echo "[2/7] b.cpp"; echo "b.cpp: warning"; echo "[3/7] c.cpp"; printf "d.cpp: "
        sleep 2.5
        for i in 4 5 6; do echo "error"; echo "[$i/7] d.cpp"; sleep 0.7; done
        echo "ninja: stopped"; exit 7""")  # fmt: skip
    code, message, _ = machine.set_up()
    counts = re.findall(r"^\[set-up\] compiling: (\d) files are done, (\d) left$", message, re.M)
    assert code == 7 and len(counts) >= 4 and counts[0] == ("3", "4") and counts[-1] in (("5", "2"), ("6", "1")), message
    rest = [line for line in message.splitlines() if not line.startswith("[set-up]")]
    assert rest == ["b.cpp: warning", "d.cpp: error", "error", "error", "ninja: stopped"]


def test_nothing_is_installed_when_all_is_there(machine):
    machine.debian("cmake libfmt-dev hdf5-tools")
    code, _, calls = machine.set_up("build", "tests")
    assert code == 0 and not any("apt-get" in call for call in calls)
    assert "cmake --preset release -DSOFTALIGN_TESTS=ON" in calls
    assert any("--target all " in call for call in calls)


def test_an_npm_of_another_making_is_enough(machine):
    machine.debian("cmake")
    assert "npm" in machine.set_up("--packages", "browser")[2][0].split()
    machine.calls.unlink()
    machine.stand_in("npm")
    assert not machine.set_up("--packages", "browser")[2]


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
@pytest.mark.parametrize("words", [["--preset"], ["--preset", "nosuch"], ["--pre=asan"], ["build", "buidl"]])
def test_what_a_script_does_not_know_is_refused_in_one_line(machine, script, words):
    machine.debian("cmake libfmt-dev")
    machine.stand_in("ctest", "echo '  -R <regex>, --tests-regex <regex>'")
    code, message, calls = machine.set_up(*words, script=script)
    assert code == 2 and message.count("\n") == 1 and message.startswith(("setup.sh: ", "test.sh: ")) and not calls


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


@pytest.mark.parametrize("figures, status", [(0, 4), (1, 1)])
def test_the_quickstart_leaves_a_report_and_prints_its_path(machine, figures, status):
    """Even if a claim fails, and a figure too."""
    machine.debian("cmake libfmt-dev python3-h5py")
    (machine.bin / "ls").symlink_to(shutil.which("ls"))
    shutil.copy(SCRIPTS / "quickstart.sh", machine.root / "scripts")
    (machine.root / "build/release/bin").mkdir(parents=True)
    (machine.root / "results/quickstart/figures").mkdir(parents=True)
    (machine.root / "results/quickstart/figures/a.png").touch()
    machine.stand_in("softalign", f'[[ $1 == report ]] && echo "$2/report.html, by $SOFTALIGN_PYTHON"; [[ $1 != study ]] || exit 4')
    (machine.bin / "softalign").rename(machine.root / "build/release/bin/softalign")
    machine.stand_in("python", f"exit {figures}")
    code, message, _ = machine.set_up("seed=2", script="quickstart.sh", SOFTALIGN_PYTHON=str(machine.bin / "python"))
    results = machine.root / "results/quickstart"
    assert code == status and message.endswith(f"{results}/figures/a.png\n{results}/report.html, by {machine.bin}/python\n"), message
    calls = machine.calls.read_text()
    assert "softalign study experiments/quickstart/study.yaml seed=2\n" in calls and "python scripts/figures.py all results/quickstart " in calls


def test_each_group_names_a_package_once_with_its_version():
    for group in re.split(r"^\[.*\]\n", (SCRIPTS / "packages.txt").read_text(), flags=re.M):
        lines = [line for line in group.splitlines() if line and line[0] != "#"]
        assert all(re.fullmatch(r"[a-z0-9+-]+ +# [0-9.]+\b.*", line) for line in lines)
        names = [line.split()[0] for line in lines]
        assert len(set(names)) == len(names)


COMMANDS = sorted(path.name for path in SCRIPTS.iterdir() if path.suffix in (".py", ".sh") and os.access(path, os.X_OK))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_script_answers_help_and_refuses_what_it_does_not_know(name: str):
    """Immediately: before anything is installed, built or run."""
    helped, refused = (subprocess.run([SCRIPTS / name, word], capture_output=True, text=True, timeout=60, check=False) for word in ("--help", "--nonsense"))
    assert helped.returncode == 0 and name.partition(".")[0] in helped.stdout, helped.stderr
    assert refused.returncode == 2 and name.partition(".")[0] in refused.stderr and "Traceback" not in refused.stderr, refused.stderr
