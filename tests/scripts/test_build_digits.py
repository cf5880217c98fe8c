"""The builder of the digits, and the file in the repository."""

import gzip
import subprocess
import sys
from collections import Counter
from pathlib import Path

import build_digits
import pytest
from debian_package import BuildError, differing, write_gzip

SCRIPT = Path(build_digits.__file__)


def line(level: int, digit: int) -> str:
    return ",".join([str(level)] * 64 + [str(digit)])


def test_of_ten_images_of_a_digit_seven_are_to_train_on():
    text = "\n".join(line(i % 17, i % 2) for i in range(40))
    digits = build_digits.read_digits(text)
    assert [d.digit for d in digits[:4]] == [0, 1, 0, 1] and digits[5].pixels == (5,) * 64
    for digit in (0, 1):
        parts = [d.part for d in digits if d.digit == digit]
        assert parts[:10] == parts[10:] == [*["train"] * 3, "test", *["train"] * 2, "dev", "train", "test", "train"]


@pytest.mark.parametrize("text", [line(17, 3), line(3, 10), line(-1, 3), "1,2,3"])
def test_what_is_no_digit_is_refused(text):
    with pytest.raises(BuildError, match="line 2: "):
        build_digits.read_digits(f"{line(1, 1)}\n{text}")


def test_a_digit_is_written_row_by_row_the_same_bytes_each_time(tmp_path):
    digits = build_digits.read_digits(",".join(map(str, [*range(16)] * 4 + [7])))
    for folder in ("a", "b"):
        build_digits.write(digits, tmp_path / folder)
    one, two = ((tmp_path / folder / "digits.txt.gz").read_bytes() for folder in ("a", "b"))
    assert one == two
    assert gzip.decompress(one).decode() == "train 7 " + " ".join(map(str, [*range(16)] * 4)) + "\n"


def test_another_package_is_refused(tmp_path):
    (tmp_path / "other.deb").write_bytes(b"other")
    for name in ("other.deb", "no.deb"):
        done = subprocess.run([sys.executable, SCRIPT, tmp_path / name], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and name in done.stderr and "Traceback" not in done.stderr


def test_the_shipped_file_is_the_recorded_one_and_its_parts_share_no_image():
    assert differing(build_digits.FOLDER / "data", build_digits.FOLDER / "SHA256SUMS") == []
    with gzip.open(build_digits.FOLDER / "data/digits.txt.gz", "rt", encoding="ascii") as file:
        lines = [text.split() for text in file]
    assert Counter(words[0] for words in lines) == {"train": 1261, "dev": 179, "test": 357}
    assert all(len(words) == 66 and all(0 <= int(w) <= 16 for w in words[2:]) for words in lines)
    assert len({tuple(words[2:]) for words in lines}) == len(lines) == 1797  # no image occurs twice


def test_a_file_that_changed_is_named(tmp_path):
    write_gzip("x\n", tmp_path / "digits.txt.gz")
    assert differing(tmp_path, build_digits.FOLDER / "SHA256SUMS") == ["digits.txt.gz"]
