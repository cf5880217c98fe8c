"""All links in documents are valid, and every name of a document is a link."""

import re

import pytest
from test_documents import BLOCK, DOCUMENTS, ROOT, text_of

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^()\s]+)\)")
DRAWN = {"experiments/tutorial/README.md"}  # its commands draw the pictures that it shows
GENERATED = ("results/studies/",)  # by scripts/study_pages.py


def prose(document: str) -> str:
    return re.sub(r"<!--.*?-->", "", BLOCK.sub("", text_of(document)), flags=re.DOTALL)


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "code", text)


def anchors(document: str) -> set[str]:
    """Returns the anchors of a document's headings, as on GitHub and the site."""
    headings = re.findall(r"^#+ +(.+?) *$", prose(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_to_a_file(document: str):
    dead = []
    for link in LINK.findall(without_code(prose(document))):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / document).parent / path if path else ROOT / document
        if not target.exists():
            if document not in DRAWN or not link.endswith(".png"):
                dead.append(link)
        elif anchor and anchor not in anchors(target.resolve().relative_to(ROOT).as_posix()):
            dead.append(link)
    assert not dead


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if not name.startswith(GENERATED)])
def test_a_document_that_is_named_is_a_link(document: str):
    """`results/record.md` alone cannot be clicked; [`results/record.md`](results/record.md) can."""
    named = re.findall(r"(?<!\[)`((?:\.\./|\w+/)[\w./-]*\.md)`", prose(document))
    assert not [name for name in named if (ROOT / name).exists() or ((ROOT / document).parent / name).exists()]


def test_links_and_headings_are_read_as_markdown_has_them():
    assert LINK.findall(without_code("see [`a`](b/c.md#d), ![x [y]](z.png), `bleu[4](p/q)`")) == ["b/c.md#d", "z.png"]
    assert "layout-format_version-1" in anchors("results/record.md")
