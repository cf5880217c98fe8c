"""The colours and markers of lines, in figures and in pages. Colour-blind readers tell them apart."""

from __future__ import annotations

from collections.abc import Iterable

COLOURS = [  # on white, on a dark page
    ("#0072b2", "#4fa8ff"),
    ("#d55e00", "#ff8f4a"),
    ("#00845f", "#35d0a2"),
    ("#a8478a", "#ec9fd0"),
    ("#a87500", "#f2bd3f"),
    ("#2f8fc9", "#a6dcff"),
    ("#5b5b5b", "#b9c0c8"),
    ("#6f3fa0", "#bb9bff"),
]
MARKERS = "s^DvoPX*"  # as matplotlib names them
DASHES = ("-", "--", ":", "-.")
USUAL = {"none": 6, "additive": 0, "dot": 4, "general": 2}  # the places of names that many studies have


def look_places(names: Iterable[str]) -> dict[str, int]:
    """A place for each name: a usual one for some, else the first that is free."""
    names = list(dict.fromkeys(names))
    places = {name: USUAL[name] for name in names if name in USUAL}
    free = (place for place in range(len(COLOURS) * len(names) + 1) if place not in places.values())
    return places | {name: next(free) for name in names if name not in places}


def colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)][0]


def marker(place: int) -> int:
    """Of as many as there are colours. A colour that comes again has another."""
    return (place + place // len(COLOURS)) % len(COLOURS)


def dash(place: int) -> str:
    """Another for each time that the colours begin again."""
    return DASHES[place // len(COLOURS) % len(DASHES)]


def css() -> str:
    return ":root { " + " ".join(f"--s{i}: light-dark({light}, {dark});" for i, (light, dark) in enumerate(COLOURS)) + " }\n"
