"""Untrusted run folders: links that lead out of them, files of other types, files with invalid content."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from journals import ALIGNMENT, ARRAY, ATTRIBUTES, END, EVENT, MARK, REWIND, SCALARS, Frame, put_together, rewrite, take_apart, text, texts
from command_line import PROGRAM, TINY, answer, error, only_run, softalign
from nightly import sampled

RUN = ["run", "tiny.yaml", "train.epochs=4"]
RAW = re.compile(
    r"json\.exception|basic_|std::|filesystem error|what\(\)|terminate|vector|out of memory|/dev/shm/softalign|HDF5: .*errno"
)
FILES = ["spec.yaml", "identity.json", "status.json", "run.h5", "journal-001.jrnl"]
ATTEMPT = ["attempt-001/CLAIM", "attempt-001/RELEASED", "attempt-001/environment.json"]
FOLDERS = ["ckpt", "attempt-001"]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    (folder / "tiny.yaml").write_text(TINY)
    softalign(*RUN, cwd=folder)
    return folder


@pytest.fixture()
def run(finished: Path, tmp_path: Path) -> Path:
    """Returns a finished run in tmp_path/results, which the test may change."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return only_run(tmp_path)


def unfinished(run: Path) -> None:
    """Returns a run that was killed after the first checkpoint, which `run` resumes."""
    journal = run / "journal-001.jrnl"
    header, frames = take_apart(journal.read_bytes())
    first = next(i for i, (kind, _) in enumerate(frames) if kind == MARK)
    journal.write_bytes(put_together(header, frames[: first + 1]))
    for name in ("run.h5", "status.json"):
        (run / name).unlink()


def refusal(*command: object, cwd: Path, naming: str = "", code: int | None = None) -> str:
    """Returns the error of the program, one line that names the file, without raw text of a library or a crash; "" if it succeeds."""
    done = softalign(*command, cwd=cwd, code=code)
    assert done.returncode in (0, 1, 2, 3, 4), (done.returncode, done.stderr)
    assert not RAW.search(done.stderr + done.stdout), done.stderr + done.stdout
    if done.returncode == 0:
        return ""
    last = [line for line in done.stderr.splitlines() if line.startswith("softalign: ")]
    assert len(last) == 1 or command[0] == "compare", done.stderr
    assert naming in last[0], last
    return last[0]


# Links ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("command", ["run", "recover"])
def test_a_folder_that_is_a_link_is_refused(run: Path, tmp_path: Path, name: str, command: str) -> None:
    unfinished(run)
    outside = tmp_path / "precious"
    (run / name).rename(outside)
    (outside / "thesis.tex").write_text("x")
    (outside / "upd-00000001-01234567.ckpt").write_text("x")
    (run / name).symlink_to(outside)
    before = sorted(file.name for file in outside.iterdir())
    line = error(*(RUN if command == "run" else ["recover", run]), cwd=tmp_path, code=3)
    assert line.startswith(f"softalign: {run.relative_to(tmp_path) if command == 'run' else run}/{name}: is a link")
    assert sorted(file.name for file in outside.iterdir()) == before


@pytest.mark.parametrize("name", [*FILES, *ATTEMPT])
def test_a_file_that_is_a_link_is_refused(run: Path, tmp_path: Path, name: str) -> None:
    unfinished(run)
    outside = tmp_path / "outside"
    outside.write_text("precious\n")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(outside)
    for command in (RUN, [*RUN, "--force"], ["recover", run]):
        line = error(*command, cwd=tmp_path, code=3)
        assert f"{name}: is a link" in line or "damaged" in line, line
    assert outside.read_text() == "precious\n"


def test_a_link_to_a_runs_folder_and_to_results_is_followed(run: Path, tmp_path: Path) -> None:
    unfinished(run)
    run.rename(tmp_path / "elsewhere")
    run.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "results").rename(tmp_path / "disk")
    (tmp_path / "results").symlink_to(tmp_path / "disk")
    softalign(*RUN, cwd=tmp_path)
    assert (tmp_path / "elsewhere/run.h5").is_file()


# Foreign files remain -------------------------------------------------------------------------------------------


def test_only_checkpoints_are_removed_from_their_folder(run: Path, tmp_path: Path) -> None:
    unfinished(run)
    kept = ["thesis.tex", "upd-notes.ckpt", "upd-00000001-01234567.ckpt.bak", ".thesis.tex.tmp", "notes.tmp-12"]
    for name in kept:
        (run / "ckpt" / name).write_text("x")
    (run / "ckpt/sub").mkdir()
    (run / "ckpt/sub/file").write_text("x")
    (run / "ckpt/upd-00000001-01234567.ckpt").write_text("an old one")
    softalign(*RUN, cwd=tmp_path)
    there = {file.name for file in (run / "ckpt").iterdir()}
    assert there > {*kept, "sub"} and len(there) == len(kept) + 1 + 2
    assert "upd-00000001-01234567.ckpt" not in there


def test_a_folder_with_a_checkpoints_name_is_named(run: Path, tmp_path: Path) -> None:
    unfinished(run)
    (run / "ckpt/upd-00000001-01234567.ckpt").mkdir()
    assert "upd-00000001-01234567.ckpt: " in error(*RUN, cwd=tmp_path, code=3)


@pytest.mark.parametrize("content", [b"precious\n", b"SOFT", b"SOFTJRNL\1\0\0\0and no header of ours", b"\0" * 40])
def test_what_does_not_begin_as_this_runs_journal_is_not_cut(run: Path, tmp_path: Path, content: bytes) -> None:
    unfinished(run)
    (run / "journal-002.jrnl").write_bytes(content)
    softalign(*RUN, cwd=tmp_path)
    assert (run / "journal-002.jrnl").read_bytes() == content
    softalign("verify", run, cwd=tmp_path)


def test_a_journal_of_another_run_is_named_and_not_cut(run: Path, tmp_path: Path) -> None:
    unfinished(run)
    softalign("run", "tiny.yaml", "train.epochs=1", cwd=tmp_path)
    (other,) = (journal for journal in tmp_path.glob("results/tiny/*/journal-001.jrnl") if journal.parent != run)
    torn = other.read_bytes()[:-3]
    (run / "journal-001.jrnl").write_bytes(torn)
    assert "journal-001.jrnl: journal of another run" in error(*RUN, cwd=tmp_path, code=3)
    assert (run / "journal-001.jrnl").read_bytes() == torn


# Temporaries ---------------------------------------------------------------------------------------------------


def temporaries(run: Path) -> list[Path]:
    """Creates a temporary file of a dead process on this machine in each folder, according to its name."""
    places = [run / "run.h5", run / "ckpt/upd-00000004-01234567.ckpt", run / "attempt-001/environment.json"]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    space = hashlib.sha256((boot + os.readlink("/proc/self/ns/pid")).encode()).hexdigest()[:8]
    dead = 4_000_000_000
    return [place.parent / f".{place.name}.tmp-{space}-{dead}" for place in places]


def test_what_a_kill_left_is_swept_at_the_next_start(run: Path, tmp_path: Path) -> None:
    for claimed in (False, True):
        if claimed:
            unfinished(run)
        left = temporaries(run)
        others = [file.with_name(file.name.replace(file.name.split("-")[-2], "0123abcd")) for file in left]
        older = [file.with_name(re.sub(r"tmp-.*", "tmp-4000000000", file.name)) for file in left]
        alive = run / re.sub(r"\d+$", str(os.getpid()), left[0].name)
        for file in (*left, *others, *older, alive):
            file.write_text("half")
        softalign(*(RUN if claimed else ["recover", run]), cwd=tmp_path)
        assert not any(file.exists() for file in left)
        # With a claim nobody else writes here: those of other machines are gone too.
        assert all(file.exists() != claimed for file in (*others, *older, alive))


# Other file types ----------------------------------------------------------------------------------------------


def pipe(place: Path) -> None:
    os.mkfifo(place)


def folder(place: Path) -> None:
    place.mkdir()
    (place / "file").write_text("x")


def device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def loop(place: Path) -> None:
    place.symlink_to(place.name)


def huge(place: Path) -> None:
    """Writes a sparse file."""
    with place.open("wb") as file:
        file.truncate(1 << 42)


@pytest.mark.parametrize(("name", "spoil"), sampled(product([*FILES, *ATTEMPT, "ckpt"], [pipe, folder, device, loop, huge]), 4))
def test_what_is_no_file_never_hangs_and_is_named(run: Path, tmp_path: Path, name: str, spoil: Callable[[Path], None]) -> None:
    place = run / name
    for finished in (True, False):
        if not finished:
            shutil.rmtree(run)
            shutil.copytree(tmp_path / "copy", run)
            unfinished(run)
        else:
            shutil.copytree(run, tmp_path / "copy")
        shutil.rmtree(place, ignore_errors=True)
        place.unlink(missing_ok=True)
        spoil(place)
        for command in (["ls"], ["show", run], ["tail", run], ["compare", "results"], ["validate", "tiny.yaml"]):
            refusal(*command, cwd=tmp_path)
        for command in (["recover", run], RUN, [*RUN, "--force"]):
            refusal(*command, cwd=tmp_path, naming=place.name)


def test_a_folder_that_may_not_be_written_is_named(run: Path, tmp_path: Path) -> None:
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere")
    unfinished(run)
    tmp_path.chmod(0o755)
    other = ["setpriv", "--reuid=65534", "--clear-groups"] if os.getuid() == 0 else []
    run.chmod(0o555)
    done = subprocess.run([*other, PROGRAM, *RUN], cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if "Permission denied" not in done.stderr or done.returncode == 126:
        pytest.skip(f"another user cannot run the program: {done.stderr}")
    assert done.returncode == 1 and "attempt-002: cannot create the folder: Permission denied" in done.stderr, done.stderr


# Files with invalid content ------------------------------------------------------------------------------------


def number(value: int) -> bytes:
    return struct.pack("<q", value)


def scalars(series: str, name: str) -> Frame:
    return SCALARS, text(series) + number(9) + struct.pack("<d", 1.0) + number(1) + text(name) + struct.pack("<d", 2.0)


def alignment(weights: int, gold: int = 0, module: str = "attention") -> Frame:
    shape = text(module) + number(5) + number(0) + number(0) + texts("a", "b") + texts("c", "d", "e")
    return ALIGNMENT, shape + number(weights) + b"\0" * 4 * weights + number(gold) + b"\0" * gold


def array(group: str, name: str, dims: dict[str, int], values: int, attributes: str = "{}") -> Frame:
    axes = number(len(dims)) + b"".join(text(d) + number(n) for d, n in dims.items())
    return ARRAY, text(group) + text(name) + number(1) + axes + b"\x04" + number(values) + b"\0" * values + text(attributes)


def attributes(path: str, json: str) -> Frame:
    return ATTRIBUTES, text(path) + text(json)


IMPOSSIBLE = {
    "too few weights": alignment(5),
    "too many weights": alignment(7),
    "gold links for others": alignment(6, 5),
    "module with a slash": alignment(6, module="a/b"),
    "value without a name": scalars("train", ""),
    "value with a NUL": scalars("train", "a\0b"),
    "other size": array("test", "x", {"n": 3}, 2),
    "negative size": array("test", "x", {"n": -1, "m": -2}, 2),
    "sizes that overflow": array("test", "x", {"n": 1 << 62, "m": 4}, 0),
    "axis without a name": array("test", "x", {"": 2}, 2),
    "attributes of an array": array("test", "x", {"n": 2}, 2, "[1]"),
    "attributes in attributes": attributes("test", '{"a": {"b": 1}}'),
    "attributes that are none": attributes("test", "no json"),
    "very deep attributes": attributes("test", '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
    "checkpoint elsewhere": (MARK, number(1) + text("../../thesis.ckpt") + text("0" * 64)),
    "unknown kind": (99, b""),
    "cut frame": (EVENT, b"\0" * 9),
    "longer frame": (END, struct.pack("<d", 1.0) + text("complete") + b"\0"),
    "back to nowhere": (REWIND, number(3) + text("upd-00000003-01234567.ckpt")),
}
CONFLICTS = {
    "a value that is an axis": [scalars("train", "update")],
    "two sizes of one axis": [array("more", "x", {"n": 2}, 2), array("more", "y", {"n": 3}, 3)],
    "an array in an array": [array("more", "x", {"n": 2}, 2), array("more/x", "y", {"m": 2}, 2)],
    "a place of the record's own": [array("provenance", "spec_yaml", {"n": 2}, 2)],
    "a dataset's own axis": [array("more", "x", {"x": 2, "y": 1}, 2)],
    "lists of several kinds": [attributes("test", '{"a": [1, "b"]}')],
}


@pytest.mark.parametrize("what", sampled([*IMPOSSIBLE, *CONFLICTS], 2))
def test_a_journal_that_says_what_no_run_says_is_named(run: Path, tmp_path: Path, what: str) -> None:
    record = (run / "run.h5").read_bytes()
    journal = run / "journal-001.jrnl"
    _, frames = take_apart(journal.read_bytes())
    rewrite(journal, *(CONFLICTS[what] if what in CONFLICTS else [IMPOSSIBLE[what]]), frames[-1], until=-1)
    line = refusal("recover", run, cwd=tmp_path, naming=f"{run}", code=3)
    assert what in CONFLICTS or f"{run / 'journal-001.jrnl'}: " in line
    assert (run / "run.h5").read_bytes() == record
    for command in (["show", run], ["tail", run], ["ls"], RUN):
        refusal(*command, cwd=tmp_path, naming=run.name)


def test_times_that_are_none_are_left_out(run: Path, tmp_path: Path) -> None:
    for time in (float("nan"), float("inf"), -1e300, 1e300):
        rewrite(run / "journal-001.jrnl", (EVENT, struct.pack("<d", time) + text("late")), (END, struct.pack("<d", time) + text("complete")), until=-1)
        softalign("recover", run, cwd=tmp_path)
        softalign("tail", run, cwd=tmp_path)


def test_a_journal_under_another_number_is_named(run: Path, tmp_path: Path) -> None:
    shutil.copy(run / "journal-001.jrnl", run / "journal-002.jrnl")
    assert "journal-002.jrnl: " in error("recover", run, cwd=tmp_path, code=3)


ENVIRONMENTS = ["[]", "-1", "null", '{"host": -1}', '{"": 1}', '{"a\\u0000": 1}', "[" * 100_000, "\xff", "no json"]
LARGE = [f'{{"{"x" * 70_000}": "z"}}', f'{{"spec_yaml": "{"z" * 70_000}"}}']


@pytest.mark.parametrize("json", sampled([*ENVIRONMENTS, *LARGE], 2))
def test_an_environment_that_is_none_is_named(run: Path, tmp_path: Path, json: str) -> None:
    environment = run / "attempt-001/environment.json"
    environment.write_bytes(json.encode("latin-1"))
    assert error("recover", run, cwd=tmp_path, code=3).startswith(f"softalign: {environment}: damaged")
    unfinished(run)
    softalign(*RUN, cwd=tmp_path)  # another attempt's environment is in nobody's way
    environment.unlink()
    softalign("recover", run, cwd=tmp_path)


WRONG = ["", "{}", "[]", "null", "[" * 100_000, '{"state": 1, "attempt": "x", "host": 3, "pid": {}}', "\xff\xfe"]


@pytest.mark.parametrize(("name", "text"), sampled(product(["status.json", "identity.json", "spec.yaml", "attempt-001/CLAIM"], WRONG), 3))
def test_a_small_file_of_the_wrong_types_is_named_or_not_needed(run: Path, tmp_path: Path, name: str, text: str) -> None:
    (run / name).write_bytes(text.encode("latin-1"))
    for command in (["ls"], ["show", run], ["tail", run], ["recover", run], RUN, [*RUN, "--force"]):
        refusal(*command, cwd=tmp_path, naming=Path(name).name)


@pytest.mark.parametrize("key", ["attempt", "pid", "time"])
def test_a_claim_with_numbers_that_are_none_is_damaged(run: Path, tmp_path: Path, key: str) -> None:
    claim = run / "attempt-001/CLAIM"
    claim.write_text(re.sub(rf'"{key}": [\d.]+', f'"{key}": 1e300' if key != "time" else f'"{key}": "now"', claim.read_text()))
    (run / "attempt-001/RELEASED").unlink()
    (run / "status.json").unlink()
    refusal(*RUN, "--force", cwd=tmp_path, naming="CLAIM")
    assert answer("ls", cwd=tmp_path)


# The cache -----------------------------------------------------------------------------------------------------

def empty_folder(place: Path) -> None:
    place.mkdir()


def link_outside(place: Path) -> None:
    outside = place.parents[2] / "outside"
    outside.write_text("precious")
    place.symlink_to(outside)


@pytest.mark.parametrize("spoil", sampled([folder, pipe, empty_folder, link_outside, loop, device, huge], 3))
def test_what_stands_in_the_cache_and_is_no_file_counts_as_absent(corpus: Path, spoil: Callable[[Path], None]) -> None:
    surroundings = os.environ | {"SOFTALIGN_CACHE": "cache"}

    def result(out: str) -> str:
        return softalign("run", "tiny.yaml", "--results", out, cwd=corpus, env=surroundings).stdout.replace(out, "OUT")

    first = result("out-1")
    names = [file for file in (corpus / "cache").rglob("*") if file.is_file()]
    (dataset,) = (file for file in names if file.parent.name == "datasets")
    # A file's hash is remembered only when the file was left alone for some seconds: made here for the test.
    hashes = [corpus / "cache/hashes" / hashlib.sha256(str(corpus / name).encode()).hexdigest() for name in ("text.en", "text.es")]
    runs = [corpus / "cache/runs" / hashlib.sha256(str(folder).encode()).hexdigest() for folder in corpus.glob("out-1/*")]
    for place in (dataset, *hashes, *runs):
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        spoil(place)
    assert result("out-2") == first
    assert [one["state"] for one in answer("ls", "out-1", cwd=corpus, env=surroundings)] == ["complete"]
    if spoil is link_outside:
        assert (corpus / "outside").read_text() == "precious"
    if spoil is folder:
        messages = softalign("run", "tiny.yaml", "--results", "out-3", cwd=corpus, env=surroundings).stderr
        assert str(dataset) in messages
