"""Colours and markers of lines in figures and pages, distinguishable for colour-blind readers."""

from __future__ import annotations

from collections.abc import Iterable

COLOURS = [  # on a white page, on a dark page
    ("#0072b2", "#4fa8ff"),
    ("#d55e00", "#ff8f4a"),
    ("#00845f", "#35d0a2"),
    ("#a8478a", "#ec9fd0"),
    ("#a87500", "#f2bd3f"),
    ("#2f8fc9", "#a6dcff"),
    ("#5b5b5b", "#b9c0c8"),
    ("#6f3fa0", "#bb9bff"),
]
MARKERS = "s^DvoPX*"  # in matplotlib's notation
DASHES = ("-", "--", ":", "-.")
USUAL = {"none": 6, "additive": 0, "dot": 4, "general": 2}  # fixed places of names that many studies use


def look_places(names: Iterable[str]) -> dict[str, int]:
    """Returns a place (index of a look) for each name: the fixed one of USUAL, else the first free one."""
    names = list(dict.fromkeys(names))
    places = {name: USUAL[name] for name in names if name in USUAL}
    free = (place for place in range(len(COLOURS) * len(names) + 1) if place not in places.values())
    return places | {name: next(free) for name in names if name not in places}


def colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)][0]


def marker(place: int) -> int:
    """Returns the index of a marker; there are as many markers as colours. A repeated colour gets another marker."""
    return (place + place // len(COLOURS)) % len(COLOURS)


def dash(place: int) -> str:
    """Returns a line style; it changes each time the colours repeat."""
    return DASHES[place // len(COLOURS) % len(DASHES)]


def css() -> str:
    return ":root { " + " ".join(f"--s{i}: light-dark({light}, {dark});" for i, (light, dark) in enumerate(COLOURS)) + " }\n"
