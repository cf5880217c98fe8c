"""The corpus builder, on a SWORD module of six verses made here; and the files in the repository."""

import gzip
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import build_bible
import pytest
from strongs import link, tokens
from sword import SwordError, read_canon, read_verses

SCRIPT = Path(build_bible.__file__)
CANON = {"ot": {"Genesis": [2, 1]}, "nt": {"Matthew": [1], "Mark": [2]}}


def write_module(folder: Path, verses: list[str], per_block: int = 3) -> Path:
    """Writes a zText module with CANON's shape: `verses` in order, compressed in blocks of a few entries."""
    folder.mkdir()
    left = list(verses)
    for testament, books in CANON.items():
        texts = ["module", ""]
        for chapters in books.values():
            texts.append("book")
            for count in chapters:
                texts += ["chapter", *(left.pop(0) for _ in range(count))]
        entries = blocks = data = b""
        for number, start in enumerate(range(0, len(texts), per_block)):
            block = b""
            for text in texts[start : start + per_block]:
                entries += struct.pack("<IIH", number, len(block), len(text.encode()))
                block += text.encode()
            packed = zlib.compress(block) if block else b""
            blocks += struct.pack("<III", len(data), len(packed), len(block))
            data += packed
        for kind, content in (("bzv", entries), ("bzs", blocks), ("bzz", data)):
            (folder / f"{testament}.{kind}").write_bytes(content)
    return folder


def word(numbers: str, text: str) -> str:
    lemma = " ".join(f"strong:{number}" for number in numbers.split())
    return f'<w lemma="{lemma}">{text}</w>'


def words(osis: str) -> list[str]:
    return [token.text for token in tokens(osis)]


def test_verses_come_in_order_with_their_places(tmp_path):
    texts = ["one", "two", "", "four", "five ñ", "six"]
    verses = list(read_verses(write_module(tmp_path / "m", texts), CANON))
    assert [verse.text for verse in verses] == texts
    assert [verse.reference for verse in verses][1:4] == ["Genesis 1:2", "Genesis 2:1", "Matthew 1:1"]
    assert [verse.chapter_index for verse in verses] == [0, 0, 1, 2, 3, 3]


def test_a_module_of_another_shape_is_refused(tmp_path):
    module = write_module(tmp_path / "m", list("abcdef"))
    with pytest.raises(SwordError, match=r"nt\.bzv: 9 entries where the canon has 10"):
        list(read_verses(module, {**CANON, "nt": {"Matthew": [1], "Mark": [3]}}))


def test_tokens_split_punctuation_and_leave_notes_out():
    assert words("The LORD’s 3 sons,<note>a <w>b</w></note> came—so.") == ["the", "lord's", "3", "sons", ",", "came", "—", "so", "."]
    assert words('<title>Of David.</title>x<title canonical="true">A Psalm</title>') == ["x", "a", "psalm"]


def test_a_unit_ends_with_its_element_and_punctuation_has_none():
    found = tokens(word("H1", "the gods,") + " spoke <w>plainly</w>")
    assert [token.unit is not None for token in found] == [True, True, False, False, False]


def test_single_words_are_linked_surely_and_longer_units_possibly():
    english = tokens(f"{word('H1', 'God')} {word('H2', 'did create')} it")
    spanish = tokens(f"{word('H2', 'creó')} {word('H1', 'Dios')}")
    assert str(link(english, spanish)) == "0-1 1p0 2p0"


def test_equally_frequent_numbers_pair_in_order_and_others_all_with_all():
    a, b = (word("H1", text) for text in "ab")
    assert str(link(tokens(a + b), tokens(a + b))) == "0-0 1-1"
    assert str(link(tokens(a + b), tokens(a))) == "0p0 1p0"


def test_a_sure_link_is_not_possible_too():
    assert str(link(tokens(word("H1 H2", "a") + word("H2", "b")), tokens(word("H1 H2", "x")))) == "0-0 1p0"


def test_the_parts_are_whole_chapters():
    parts = [build_bible.part_of(chapter) for chapter in range(40)]
    assert [parts.index("test"), parts.index("dev")] == [7, 17]
    assert [parts.count(part) for part in build_bible.PARTS[:3]] == [36, 2, 2]


def test_the_long_part_joins_verses_of_a_chapter_with_their_links(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(build_bible, "LONGEST", 3)

    def verse(reference: str, english: str, spanish: str) -> build_bible.Pair:
        a, b = tokens(english), tokens(spanish)
        return build_bible.Pair("test", a, b, reference, build_bible.Links({(0, len(b) - 1)}, set()))

    pairs = [verse("Ruth 1:1", "a b", "x"), verse("Ruth 1:2", "c d e", "y z"), verse("Ruth 1:3", "f", "v"), verse("Ruth 2:1", "g", "u"),
             verse("Ruth 2:2", "h", "t"), verse("Ruth 2:3", "i j", "s"), verse("Ruth 2:4", "k l m n", "r")]  # fmt: skip
    long = build_bible.with_long(pairs)[len(pairs) :]
    assert [pair.reference for pair in long[: len(pairs)]] == [pair.reference for pair in pairs]
    assert [pair.columns() for pair in long[len(pairs) :]] == [("a b c d e", "x y z", "Ruth 1:1-2", "0-0 2-2"), ("g h i j", "u t s", "Ruth 2:1-3", "0-0 1-1 2-2")]
    assert {pair.part for pair in long} == {"long"}
    assert dict(zip((pair.reference for pair in long), build_bible.clusters(long))) == {
        **{pair.reference: pair.reference for pair in pairs}, "Ruth 1:1": "Ruth 1:1-2", "Ruth 1:2": "Ruth 1:1-2",
        **{f"Ruth 2:{verse}": "Ruth 2:1-3" for verse in (1, 2, 3)}, "Ruth 1:1-2": "Ruth 1:1-2", "Ruth 2:1-3": "Ruth 2:1-3"}  # fmt: skip


def test_files_hold_the_pairs_and_the_same_bytes_twice(tmp_path):
    english = write_module(tmp_path / "en", [word("H1", "Light"), "two", "", "four", "five", "six"])
    spanish = write_module(tmp_path / "es", [word("H1", "Luz"), "dos", "tres", "cuatro", "", "seis"])
    pairs = list(build_bible.read_pairs(english, spanish, CANON))
    for out in ("a", "b"):
        build_bible.write(pairs, tmp_path / out)
    read = {column: gzip.decompress((tmp_path / f"a/train.{column}.gz").read_bytes()).decode() for column in build_bible.COLUMNS}
    assert read["en"] == "light\ntwo\nfour\nsix\n"
    assert read["es"] == "luz\ndos\ncuatro\nseis\n"
    assert read["ref"].splitlines()[2:] == ["Matthew 1:1", "Mark 1:2"]
    assert read["align"] == "0-0\n\n\n\n"
    files = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert len(files) == 17
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files)
    assert (tmp_path / "a/train.en.gz").read_bytes()[3:8] == bytes(5)  # the gzip header has no name and no time


def test_a_package_with_other_bytes_is_refused(tmp_path):
    deb = tmp_path / "kjv.deb"
    deb.write_bytes(b"not a package")
    ended = subprocess.run([sys.executable, SCRIPT, deb, deb, "--output", tmp_path / "out"], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert f"{deb}: SHA-256 is " in ended.stderr and "sword-text-kjv 14.3-1" in ended.stderr
    assert not (tmp_path / "out").exists()


def test_the_canon_is_whole():
    canon = read_canon(SCRIPT.parent / "kjv_canon.json")
    assert [len(books) for books in canon.values()] == [39, 27]
    assert sum(sum(chapters) for books in canon.values() for chapters in books.values()) == 31102


def test_the_shipped_files_are_the_recorded_ones():
    sums = build_bible.FOLDER / "SHA256SUMS"
    assert len(sums.read_text().splitlines()) == 17
    assert build_bible.differing(build_bible.FOLDER / "data", sums) == []


@pytest.mark.parametrize("part", build_bible.PARTS)
def test_the_columns_of_the_shipped_files_fit(part):
    columns = [gzip.open(build_bible.FOLDER / f"data/{part}.{column}.gz", "rt", encoding="utf-8") for column in build_bible.COLUMNS]
    for english, spanish, reference, links in zip(*columns, strict=True):
        sizes = len(english.split()), len(spanish.split())
        assert all(sizes) and reference.strip()
        for item in links.split():
            i, j = (int(end) for end in item.replace("p", "-").split("-"))
            assert i < sizes[0] and j < sizes[1], reference
