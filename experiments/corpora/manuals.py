"""Parallel paragraphs of manuals in two languages: HTML books and help pages, man pages. Independent of languages and packages.

Translations are made paragraph by paragraph and keep the markup. So a document is read as blocks of text, each with the markup that it
begins with, and two documents are parallel if this markup is the same from the first block to the last.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

BREAKS = set("blockquote body dd div dl dt h1 h2 h3 h4 h5 h6 head html li ol p section table tbody td th thead title tr ul".split())
NOT_PROSE = {"nav", "pre", "script", "style"}
VOID = set("area base br col hr img input link meta".split())  # without an end tag

FONTS = {"B", "I", "SM", "SB", "R", "UR", "UE", "MT", "ME"}  # macros whose arguments are part of the text, including those of links
MIXED = {"BI", "BR", "IB", "IR", "RB", "RI"}  # like FONTS, but the arguments are joined
HEADINGS = {"SH", "SS"}
TAGGED = {"TP", "TQ"}
REQUEST = re.compile(r"[.'][ \t]*(\S*)[ \t]*(.*)")
VERBATIM = {"nf": "fi", "EX": "EE", "TS": "TE"}  # macro -> the macro that ends it
ROFF = [  # escapes in order of replacement, and what they print as
    (re.compile(r'\\".*'), ""),  # a comment
    (re.compile(r"\\f(?:\(..|\[[^]]*\]|.)|\\[sk][+-]?\d|\\[&%/,:|^c)]"), ""),  # fonts, sizes, escapes that print nothing
    (re.compile(r"\\\*?(?:\((?:lq|rq|dq)|\[[lrd]q\])"), '"'),
    (re.compile(r"\\(?:\([aco]q|\[[aco]q\])"), "'"),
    (re.compile(r"\\(?:\((?:bu|e[mn]|hy|mi|pl)|-)"), "-"),
    (re.compile(r"\\\[u00A0\]|\\[~ 0]"), " "),
    (re.compile(r"\\e"), r"\\"),
    (re.compile(r"\\\*?(?:\(..|\[[^]]*\])"), ""),
]


class Block(NamedTuple):
    """Text on one line, and the markup that it begins with."""

    mark: str
    text: str


def _filled(blocks: Iterator[tuple[str, str]]) -> list[Block]:
    lines = (Block(mark, " ".join(text.split())) for mark, text in blocks)
    return [block for block in lines if block.text]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = [["", ""]]
        self._hidden = 0  # depth of nesting in elements that are not prose

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # LibreOffice hides the names of things on other systems.
        hidden = ("hidden", "true") in attrs and not (dict(attrs).get("id") or "").startswith("default")
        if tag in VOID:
            return
        if self._hidden or hidden or tag in NOT_PROSE:
            self._hidden += 1
        elif tag in BREAKS:
            self.blocks.append([tag, ""])

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            self._hidden -= tag not in VOID
        elif tag in BREAKS:
            self.blocks.append([f"/{tag}", ""])

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.blocks[-1][1] += data


def read_html(file: Path) -> list[Block]:
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    return _filled((mark, text) for mark, text in page.blocks)


def _printed(line: str) -> str:
    for escape, text in ROFF:
        line = escape.sub(text, line)
    return line


def _words(arguments: str) -> list[str]:
    """Returns the arguments of a macro, separated by blanks or in quotes."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"?|((?:\\.|\S)+)', arguments)]


def read_man(file: Path) -> list[Block]:
    """Reads a page of man macros, without tables and unfilled text."""
    blocks = [["", ""]]
    until = ""  # the macro that ends the text being skipped
    for line in gzip.decompress(file.read_bytes()).decode("utf-8").splitlines():
        macro, arguments = request.groups() if (request := REQUEST.match(line or ".PP")) else ("", line)
        if macro.startswith('\\"'):
            continue
        text = ""
        if not macro or macro in FONTS or macro in MIXED:
            text = "" if until else ("" if macro in MIXED else " ").join(_words(arguments)) if macro else line
        else:
            until = VERBATIM.get(macro, "" if macro == until else until)
            blocks.append([macro, arguments.strip('"') if macro in HEADINGS else ""])
        blocks[-1][1] += " " + text
        if macro in HEADINGS or text and blocks[-1][0] in TAGGED:  # the text after this line is another block
            blocks.append(["text", ""])
    return _filled((mark, _printed(text)) for mark, text in blocks)


def parallel(ours: list[Block], theirs: list[Block]) -> Iterator[tuple[str, str]]:
    """Yields the texts of both documents in pairs; none if their marks differ. Ignores further blocks at the end of `theirs`: the translator's name."""
    if [block.mark for block in ours] == [block.mark for block in theirs[: len(ours)]]:
        yield from ((a.text, b.text) for a, b in zip(ours, theirs))
