#!/usr/bin/python3
"""Builds short reports with headlines for the task `parallel_text`; names and numbers of the test set occur in no other split.

build.py [--output FOLDER] [--train N] [--seed N]: fills templates with invented names and with numbers. The same seed gives the same
bytes. Writes train, dev and test to FOLDER, each as .report and .headline, one text per line.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "data"
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
PLACES = "bridge school museum library station hospital".split()
RACES = "marathon regatta rally tournament".split()
OPENING = ["on {day} , ", "as {city} expected , ", ""]
CLOSING = [" .", " , {witness} said .", " . {witness} was there on {day} .", " . it was {count} years ago that {city} last saw this ."]
# Reports and their headlines. Each field is one word; `person` and `other` are people, `city` and `town` cities.
TEMPLATES = [
    ("{person} , the mayor of {city} , has opened a new {place}", "{person} opens {place} in {city}"),
    ("the {place} of {city} , which {person} had built for {count} million , is open", "{city} : new {place} cost {count} million"),
    ("{firm} , a company from {city} , will cut {count} jobs", "{firm} to cut {count} jobs"),
    ("in {city} the company {firm} is looking for {count} people", "{firm} offers {count} jobs in {city}"),
    ("{person} from {city} has won the {race} ahead of {other}", "{person} beats {other} in {race}"),
    ("{other} came second in the {race} of {city} , which {person} won", "{person} beats {other} in {race}"),
    ("a fire has destroyed {count} houses in {city}", "fire in {city} destroys {count} houses"),
    ("the club of {city} has bought {person} from {town} for {count} million", "{city} buys {person} from {town}"),
    ("{other} leaves {firm} after {count} years , and {person} follows", "{firm} : {person} follows {other}"),
    ("{town} and {city} are {count} days without water", "no water in {town} and {city}"),
]
SYLLABLES = [first + vowel + last for first in "bdfgklmnprstvz" for vowel in "aeiou" for last in ("", "l", "n", "r")]


def names(stream: random.Random) -> Iterator[str]:
    """Yields invented names, each once."""
    given = set()
    while True:
        name = "".join(stream.choice(SYLLABLES) for _ in range(stream.randint(2, 3)))
        if name not in given:
            given.add(name)
            yield name


def pairs(count: int, new_name: Callable[[], str], numbers: range, stream: random.Random) -> list[tuple[str, str]]:
    """Returns reports with their headlines. A name occurs in a few of them."""
    people, cities, firms = ([new_name() for _ in range(max(10, count // 2))] for _ in range(3))
    made = []
    for _ in range(count):
        report, headline = stream.choice(TEMPLATES)
        text = stream.choice(OPENING) + report + stream.choice(CLOSING)
        fields = dict(zip(("person", "other", "witness"), stream.sample(people, 3), strict=True))
        fields |= dict(zip(("city", "town"), stream.sample(cities, 2), strict=True))
        fields |= {"firm": stream.choice(firms), "count": str(stream.choice(numbers))}
        fields |= {"day": stream.choice(DAYS), "place": stream.choice(PLACES), "race": stream.choice(RACES)}
        made.append((text.format(**fields), headline.format(**fields)))
    return made


def build(folder: Path, train: int, seed: int) -> None:
    stream = random.Random(seed)
    supply = names(stream)
    folder.mkdir(parents=True, exist_ok=True)
    for number, (split, count) in enumerate({"train": train, "dev": train // 20, "test": train // 10}.items()):
        made = pairs(count, lambda: next(supply), range(100 + number, 4000, 3), stream)
        for side, texts in zip(("report", "headline"), zip(*made, strict=True), strict=True):
            (folder / f"{split}.{side}").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", metavar="FOLDER", type=Path, default=FOLDER, help="folder for the files (default: data/ beside this script)")
    parser.add_argument("--train", metavar="N", type=int, default=4000, help="number of training pairs; test has a tenth, dev a twentieth (default: 4000)")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="seed (default: 1)")
    arguments = parser.parse_args()
    build(arguments.output, arguments.train, arguments.seed)


if __name__ == "__main__":
    main()
