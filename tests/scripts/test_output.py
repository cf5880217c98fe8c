"""Output files of scripts: only files that softalign made are replaced, atomically, and never through a link."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import figures
import pytest
from made_records import change_spec, write_record, write_rest

from softalign_tools import files
from softalign_tools.report.checklist import markdown
from softalign_tools.report.page import compute, html

MINE = b"a file of mine\n"


def made_by_report(tmp_path: Path) -> dict[str, bytes]:
    made = compute([write_rest(write_record(tmp_path / "record", "dot")).parent])
    return {"page.html": html(made).encode(), "list.md": markdown(made.subject, made.items).encode()}


def test_what_softalign_made_is_known(tmp_path):
    ours = made_by_report(tmp_path)
    record = write_record(tmp_path / "runs", "none", state="interrupted")
    for name, content in ours.items():
        (tmp_path / name).write_bytes(content)
    assert figures.main(["curves", str(record), "--metric", "dev/perplexity", "--output", str(tmp_path / "figure")]) == 0
    known = {name: files.made_by_us(tmp_path / name) for name in (*ours, "figure.pdf", "figure.png")}
    assert known == dict.fromkeys(known, True)
    others = {
        "journal": b"SOFTJRNL" + files.PAGE_MARK.encode(),
        "quoted.html": b"<!DOCTYPE html>\n<p>" + files.PAGE_MARK.encode(),
        "notes.md": b"# notes\n\n" + files.TEXT_MARK.encode(),
        "other.pdf": b"%PDF-1.4\n/Creator (Matplotlib)",
        "other.png": b"\x89PNG\r\n\x1a\n" + bytes(25) + b"tEXtSoftware\0Matplotlib",
        "empty": b"",
    }
    for name, content in others.items():
        (tmp_path / name).write_bytes(content)
        assert not files.made_by_us(tmp_path / name), name
    assert not files.made_by_us(record)


def test_the_law(tmp_path):
    new, mine, ours = tmp_path / "deep/new", tmp_path / "mine", tmp_path / "ours"
    ours.write_text(f"# x\n{files.TEXT_MARK}\n")
    files.write(new, b"content")
    files.write(new, b"content")  # the same content again
    files.write(ours, b"other")
    mine.write_bytes(MINE)
    with pytest.raises(files.OutputError):
        files.write(mine, b"other")
    assert mine.read_bytes() == MINE
    files.write(mine, b"forced", force=True)
    assert (new.read_bytes(), ours.read_bytes(), mine.read_bytes()) == (b"content", b"other", b"forced")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deep", "mine", "ours"]  # no temporary file is left


@pytest.mark.parametrize("force", [False, True])
def test_links_folders_and_devices_are_never_written(tmp_path, force):
    target = tmp_path / "target"
    target.write_bytes(MINE)
    kinds: dict[str, Callable[[Path], None]] = {
        "symbolic link": lambda path: path.symlink_to(target),
        "symbolic link, ": lambda path: path.symlink_to(tmp_path / "absent"),
        "folder": Path.mkdir,
        "no regular file": os.mkfifo,
    }
    for kind, make in kinds.items():
        make(tmp_path / kind)
        with pytest.raises(files.OutputError, match=kind):
            files.write(tmp_path / kind, MINE + b"more", force)
    assert target.read_bytes() == MINE and not (tmp_path / "absent").exists()


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "page").write_bytes(MINE)

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write(tmp_path / "page", b"other", force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["page"] and (tmp_path / "page").read_bytes() == MINE


INTERRUPTED = """
from softalign_tools import ending
import os, signal, threading, time
from pathlib import Path
from softalign_tools import files

threading.Thread(target=time.sleep, args=(60,), daemon=True).start()  # as numpy's library has them
sync = os.fsync

def interrupted(file):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)
    sync(file)

os.fsync = interrupted
files.write(Path("page"), b"content")
"""


def test_an_interrupt_waits_for_the_file_whichever_thread_gets_it(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(files.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["page"]


def test_figures_replace_figures_and_nothing_else(tmp_path, capsys):
    record, out = write_record(tmp_path / "runs", "none", state="interrupted"), tmp_path / "out"
    commands = {
        "reverse_curves.png": lambda *more: figures.main(["all", str(record), "--output", str(out), *more]),
        "x.pdf": lambda *more: figures.main(["curves", str(record), "--metric", "dev/perplexity", "--output", str(out / "x"), *more]),
    }
    for name, draw in commands.items():
        assert draw() == 0 and draw() == 0
        (out / name).write_bytes(MINE)
        capsys.readouterr()
        assert draw() == 2 and capsys.readouterr().err.count("--force replaces it") == 1
        assert (out / name).read_bytes() == MINE
        assert draw("--force") == 0 and (out / name).read_bytes() != MINE
        (out / name).unlink()
        (out / name).symlink_to(record)
        before = record.read_bytes()
        assert draw("--force") == 2 and record.read_bytes() == before


def test_a_task_s_name_leads_out_of_no_folder(tmp_path):
    record = change_spec(write_record(tmp_path / "runs", "none"), "type: reverse", "type: ../../evil")
    assert figures.main(["all", str(record), "--output", str(tmp_path / "a/b/c")]) == 0
    assert {file.parent for file in tmp_path.rglob("*.p??")} == {tmp_path / "a/b/c"}


def test_messages_are_printable():
    assert files.printable("a\x1b[31m\nb\u009b\u202e\udcff\ud800é") == "a\\x1b[31m\\nb\\xc2\\x9b\\xe2\\x80\\xae\\xff\\xed\\xa0\\x80é"
