"""The builder of debdocs, on manuals of a few lines made here; and the corpus, if it was built."""

import gzip
import subprocess
from pathlib import Path

import build_debdocs as debdocs
import pytest
from debian_package import differing, sha256
from manuals import parallel, read_html, read_man

PAGE = "<html><head><title>{}</title><script>var x;</script></head><body>{}</body></html>"
ENGLISH = {
    "man/man1/copy.1.gz": ".TH copy 1\n.SH NAME\ncopy \\- it copies each of the files that are named\n.TP\n.BR \\-f \", \" \\-\\-force\n"
    "Files that exist are written \\fIanew\\fP,\n.\\\" a comment\nas with\n.BR remove (1).\n.nf\nint main();\n.fi\nNever a folder.\n",
    "libreoffice/help/en-US/a/rows.html": PAGE.format("Rows", '<p>Press <b>Shift</b> and choose <span hidden="true" id="MAC">Command<br></span>'
                                                      '<span hidden="true" id="defaultMAC">Control</span> to add 10 rows below.</p><pre>x</pre>'),
    "libreoffice/help/en-US/a/more.html": PAGE.format("More", "<p>Press Shift and choose Control to add 25 rows below.</p>"),
    "libreoffice/help/en-US/a/other.html": PAGE.format("Other", "<p>A page whose translation is built otherwise.</p>"),
    "debian-reference/ch01.en.html": PAGE.format("First chapter", "<p>Free software is what you may run, study and change.</p>"),
}  # fmt: skip
FRENCH = {
    "man/fr/man1/copy.1.gz": ".TH copy 1\n.SH NOM\ncopy \\- copier chacun des fichiers indiqués\n.TP\n\\fB\\-f\\fP, \\fB\\-\\-force\\fP\n"
    "Écrire de nouveau les fichiers qui existent,\ncomme avec l'outil\n\\fBremove\\fP(1).\n.nf\nint main();\n.fi\nJamais un dossier.\n"
    ".SH TRADUCTION\nPersonne.\n",
    "libreoffice/help/fr/a/rows.html": PAGE.format("Lignes", '<p>Appuyez sur Maj et choisissez <span hidden="true" id="MAC">Commande</span>'
                                                   '<span hidden="true" id="defaultMAC">Contrôle</span> afin d’ajouter 10 lignes.</p><pre>y</pre>'),
    "libreoffice/help/fr/a/more.html": PAGE.format("Plus", "<p>Appuyez sur Maj et choisissez Contrôle afin d’ajouter 25 lignes.</p>"),
    "libreoffice/help/fr/a/other.html": PAGE.format("Autre", "<ul><li>Une page.</li></ul>"),
    "debian-reference/ch01.fr.html": PAGE.format("Premier chapitre", "<p>Un logiciel libre se laisse exécuter, étudier et modifier.</p>"),
}  # fmt: skip


@pytest.fixture()
def root(tmp_path: Path) -> Path:
    for name, text in (ENGLISH | FRENCH).items():
        file = tmp_path / "usr/share" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return tmp_path


def pair(document: str, english: str, french: str) -> debdocs.Pair:
    return debdocs.Pair(document, debdocs.tokens(english, "en"), debdocs.tokens(french, "fr"))


def named(part: str) -> str:
    """Returns the name of a document that falls into this part."""
    return next(name for name in map(str, range(1000)) if debdocs.part_of(name) == part)


def test_a_man_page_is_its_paragraphs_without_markup(root: Path):
    assert read_man(root / "usr/share/man/man1/copy.1.gz")[1:] == [
        ("text", "copy - it copies each of the files that are named"),
        ("TP", "-f, --force"),
        ("text", "Files that exist are written anew, as with remove(1)."),
        ("fi", "Never a folder."),
    ]


def test_a_page_hides_what_other_systems_show_and_code(root: Path):
    page = read_html(root / "usr/share/libreoffice/help/en-US/a/rows.html")
    assert page == [("title", "Rows"), ("p", "Press Shift and choose Control to add 10 rows below.")]


def test_documents_of_other_markup_are_not_parallel(root: Path):
    folder = root / "usr/share/libreoffice/help"
    assert not list(parallel(*(read_html(folder / language / "a/other.html") for language in ("en-US", "fr"))))


def test_pairs_come_from_all_sources_with_their_documents(root: Path):
    found = [(pair.document, " ".join(pair.english), " ".join(pair.french)) for pair in debdocs.read_pairs(root)]
    assert found[0] == ("usr/share/man/man1/copy.1.gz", "name", "nom")
    assert found[2][1:] == ("files that exist are written anew , as with remove ( 1 ) .",
                            "écrire de nouveau les fichiers qui existent , comme avec l' outil remove ( 1 ) .")  # fmt: skip
    assert "jamais un dossier ." in [french for *_, french in found] and "personne ." not in [french for *_, french in found]
    assert {document for document, *_ in found} == {
        "usr/share/man/man1/copy.1.gz", "usr/share/libreoffice/help/en-US/a/rows.html",
        "usr/share/libreoffice/help/en-US/a/more.html", "debian-reference"}  # fmt: skip
    assert not [english for _, english, _ in found if "force" in english], "the same in both languages"


@pytest.mark.parametrize("english, french, kept", [
    ("open the file", "ouvrir le fichier", True),
    ("open the file", "open the file", False),
    ("-- 1 2 --", "-- 1 2 ..", False),
    ("one two", "un " * 15, False),
    ("word " * 201, "mot " * 201, False),
])  # fmt: skip
def test_what_is_no_translation_is_left_out(english: str, french: str, kept: bool):
    assert debdocs.is_translation(pair("d", english, french)) == kept


def test_no_part_holds_what_is_nearly_in_another_or_twice(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(debdocs, "KEPT", 1)
    train, test = named("train"), named("test")
    long = "this system call opens the file that path names and gives {} back to its caller"
    pairs = [
        pair(train, long.format(3), "une traduction que rien ne rappelle"),
        pair(train, "something else that only stands once in all of these", "autre chose, une seule fois"),
        pair(train, "Something else that only stands once in all of these!", "quelque chose de différent"),
        pair(train, "other words", "cet appel système ouvre le fichier que désigne le chemin et en rend 4"),
        pair(test, "what it does", "cet appel système ouvre le fichier que désigne le chemin et en rend 5"),
        *(pair(test, long.format(5).replace("opens", word), f"{word} est le mot") for word in ("opens", "shuts", "cuts", "eats")),
    ]
    parts = debdocs.split(pairs)
    assert [" ".join(pair.english[:2]) for pair in parts["train"]] == ["something else"]
    assert [pair.english[3:4] for pair in parts["test"]] == [[], ["opens"]]


def test_short_pairs_that_are_held_out_are_thinned_and_long_ones_stay():
    pairs = [pair(document, f"a{k} b{k} " * words, f"c{k} d{k}")
             for document in (named("test"), named("train")) for words in (1, 16) for k in range(8 * words, 8 * words + 8)]  # fmt: skip
    lengths = {part: [len(pair.english) for pair in kept] for part, kept in debdocs.split(pairs).items()}
    assert lengths == {"test": [2, 2] + [32] * 8, "dev": [], "train": []}  # train is empty, because test has all its pairs


def test_the_parts_are_whole_documents():
    chosen = [debdocs.part_of(str(document)) for document in range(2000)]
    assert [round(chosen.count(part) / 100) for part in debdocs.PARTS] == [6, 1, 13]


def test_packages_give_the_same_bytes_twice(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text("Package: manual\nVersion: 1.2\nArchitecture: all\nMaintainer: Nobody <n@example.org>\nDescription: none\n")
    debs = tmp_path / "debs"
    debs.mkdir()
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", root, debs / "manual_1.2_all.deb"], check=True, capture_output=True)
    recorded = tmp_path / "experiment"
    recorded.mkdir()
    monkeypatch.setattr(debdocs, "FOLDER", recorded)

    def build(out: str, *options: str) -> None:
        monkeypatch.setattr("sys.argv", ["build_debdocs", "--debs", str(debs), "--output", str(tmp_path / out), *options])
        debdocs.main()

    (recorded / "PACKAGES").write_text(f"manual 1.1 {'0' * 64}\n")
    with pytest.raises(debdocs.BuildError, match=r"SHA-256 is \w+, not that of manual 1\.1"):
        build("a")
    build("a", "--newer")
    assert "this is another corpus" in capsys.readouterr().out
    used = f"manual 1.2 {sha256(debs / 'manual_1.2_all.deb')}\n"
    assert (tmp_path / "a/PACKAGES").read_text() == used
    (recorded / "PACKAGES").write_text(used)
    (recorded / "SHA256SUMS").write_text("".join(f"{sha256(file)}  {file.name}\n" for file in sorted((tmp_path / "a").glob("*.gz"))))
    build("b")
    assert "train: 9 pairs of 4 documents; English tokens: 4 over 10, 0 over 20" in capsys.readouterr().out
    (recorded / "SHA256SUMS").write_text(f"{'0' * 64}  train.en.gz\n")
    with pytest.raises(debdocs.BuildError, match=r"not the recorded bytes .*: train\.en\.gz"):
        build("b")


def test_a_package_that_cannot_be_had_is_named_with_the_remedy(tmp_path: Path):
    missing = debdocs.Package("no-such-manual", "1", "0" * 64, "")
    with pytest.raises(debdocs.BuildError, match="no-such-manual=1"):
        debdocs.get(missing, tmp_path, None, newer=False)


def test_the_corpus_is_the_recorded_one_and_nothing_in_it_leaks():
    """Skipped if the corpus was not built."""
    folder, sums = debdocs.FOLDER / "data", debdocs.FOLDER / "SHA256SUMS"
    if not folder.exists():
        pytest.skip("build_debdocs.py has not been run: it fetches 80 MB of packages")
    if (folder / "PACKAGES").read_text() != (debdocs.FOLDER / "PACKAGES").read_text():
        pytest.skip("built from other packages than the recorded ones")
    assert len(sums.read_text().splitlines()) == 9 and differing(folder, sums) == []
    rows = {part: list(zip(*(gzip.open(folder / f"{part}.{column}.gz", "rt", encoding="utf-8").read().splitlines() for column in debdocs.COLUMNS),
                           strict=True)) for part in debdocs.PARTS}  # fmt: skip
    documents = [{document for *_, document in rows[part]} for part in debdocs.PARTS]
    assert not documents[0] & documents[1] and not documents[2] & (documents[0] | documents[1])
    known = set().union(*(debdocs.runs(side.split()) for part in ("test", "dev") for row in rows[part] for side in row[:2]))
    for *sides, document in rows["train"]:
        assert all(2 * len(run & known) <= len(run) for run in (debdocs.runs(side.split()) for side in sides)), document
    assert sum(len(english.split()) > 50 for english, *_ in rows["test"]) > 2000
