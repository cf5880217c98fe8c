"""Small pieces of SVG: scales, ticks, axes, markers. Colours are CSS classes, so that one drawing serves light, dark and print."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup, escape

from softalign_tools import palette
from softalign_tools.charts import or_nan as or_nan

MARKERS = [
    "M-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
    "M-2.8,-2.8h5.6v5.6h-5.6z",
    "M0,-3.6L3.3,2.6H-3.3z",
    "M0,-3.8L3.8,0L0,3.8L-3.8,0z",
    "M0,3.6L3.3,-2.6H-3.3z",
    "M-3.4,-1h2.4v-2.4h2v2.4h2.4v2h-2.4v2.4h-2v-2.4h-2.4z",
    "M0,-3.8L1,-1H3.7L1.6,0.8L2.4,3.5L0,1.9L-2.4,3.5L-1.6,0.8L-3.7,-1H-1z",
    "M-1.6,-3.4h3.2L3.4,0L1.6,3.4h-3.2L-3.4,0z",
]


def p_text(p: float | None) -> str:
    """Returns a p-value as `softalign compare` prints it."""
    return "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def number(value: float | None, digits: int = 4) -> str:
    """Returns a number as people write it: "0.1234", "12.34", "12,345"; a dash for an unknown one."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) < 1e-3 or abs(value) >= 1e6:
        return f"{value:.{digits - 1}g}"
    return f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def counted(count: int, noun: str) -> str:
    """Returns "1 run", "2 runs"."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def spread(mean: float, deviation: float | None) -> str:
    """Returns "78.10 ± 1.03": four digits for the larger number, as many decimals for the other; the mean alone if the deviation is unknown."""
    if deviation is None or not math.isfinite(deviation) or not math.isfinite(mean):
        return number(mean)
    largest = max(abs(mean), abs(deviation))
    decimals = min(6, max(0, 3 - math.floor(math.log10(largest)))) if largest > 0 else 0
    return f"{mean:,.{decimals}f} ± {deviation:,.{decimals}f}"


def tick(value: float) -> str:
    """Returns the text of an axis tick, without unnecessary digits."""
    return f"{value:,.10g}" if 1e-4 <= abs(value) < 1e7 or value == 0 else f"{value:g}"


@dataclass(frozen=True)
class Scale:
    """Maps values low..high to pixels start..end. log: logarithmically, for values above 0."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (math.log10(v) for v in (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self, count: int = 5) -> list[float]:
        if self.log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            for steps in ((1, 2, 5), (1, 3), (1,)):
                found = [s * 10.0**d for d in decades for s in steps if self.low <= s * 10.0**d <= self.high * (1 + 1e-9)]
                if len(found) <= count + 3:
                    break
            return found if len(found) > 1 else replace(self, log=False).ticks(count)
        span = self.high - self.low
        if span <= 0:
            return [self.low]
        rough = span / max(count, 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next(s for s in (1, 2, 5, 10) if s * power >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [round(i * step, 12) for i in range(first, math.floor(self.high / step + 1e-9) + 1)]


def fitted(values: Iterable[float], start: float, end: float, zero: bool = False, log: bool = False) -> Scale:
    """Returns a scale around the values, with a little room. zero: from 0 unless a value is below; log: logarithmic if all values are above 0."""
    known = [v for v in values if math.isfinite(v)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if log and low > 0:
        return Scale(low / 1.1, high * 1.1, start, end, True)
    if zero and low >= 0:
        low = 0.0
    room = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
    return Scale(low if zero and low == 0 else low - room, high + room, start, end)


def tag(name: str, text: str = "", **attributes: object) -> Markup:
    """Returns an element. In names of attributes, a _ at the end (class_) is removed, and any other _ becomes -."""
    rest = "".join(f' {k.rstrip("_").replace("_", "-")}="{escape(str(v))}"' for k, v in attributes.items() if v is not None)
    return Markup(f"<{name}{rest}>{escape(text)}</{name}>") if text else Markup(f"<{name}{rest}/>")


def group(class_: str, parts: Iterable[Markup], frame: tuple[float, float, float, float] | None = None) -> Markup:
    """frame: left, top, width and height of the visible area, if not everything is visible."""
    inner = Markup("").join(parts)
    if frame is None:
        return Markup('<g class="{}">{}</g>').format(class_, inner)
    x, y, width, height = (f"{value:g}" for value in frame)
    return Markup('<svg class="{0}" aria-hidden="true" x="{1}" y="{2}" width="{3}" height="{4}" viewBox="{1} {2} {3} {4}">{5}</svg>').format(class_, x, y, width, height, inner)


def embedded(value: Any) -> Markup:
    """Returns JSON that is safe inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def path(points: Sequence[tuple[float, float]], **attributes: object) -> Markup:
    """Draws a line through the known points, with gaps at unknown ones."""
    words, pen = [], "M"
    for x, y in points:
        if math.isfinite(y):
            words.append(f"{pen}{x:g},{y:g}")
        pen = "L" if math.isfinite(y) else "M"
    return tag("path", d="".join(words), **attributes) if words else Markup("")


def style(index: int) -> str:
    colours = len(palette.COLOURS)  # further series repeat them with other dashes
    return f"s{index % colours} d{index // colours % 4}"


def marker_shape(index: int) -> str:
    return MARKERS[palette.marker(index)]


def marker(x: float, y: float, index: int, class_: str = "mark") -> Markup:
    return tag("path", d=marker_shape(index), transform=f"translate({x:g} {y:g})", class_=f"{class_} {style(index)}")


def width_of(text: str, size: float = 10.0) -> float:
    """Estimates the width of a text, rather too wide than too narrow, because fonts differ."""
    return 0.62 * size * len(text)


def shortened(text: str, width: float, size: float = 10.0) -> str:
    """Returns the text, or only its end if it is too wide; the tables show all of it."""
    room = max(2, int(width / width_of("m", size)))
    return text if len(text) <= room else "…" + text[1 - room :]


def apart(ticks: Iterable[tuple[str, float]], least: float = 11.0) -> list[tuple[str, float]]:
    """Returns the ticks that are at least `least` away from every tick returned before them."""
    kept: list[tuple[str, float]] = []
    for text, at in ticks:
        if all(abs(at - other) >= least for _, other in kept):
            kept.append((text, at))
    return kept


def label(text: str, x: float, y: float, right: float, class_: str = "tick") -> Markup:
    """Draws a text centred on x, moved to the left if it would pass `right`."""
    if x + width_of(text) / 2 > right:
        return tag("text", text, x=right, y=y, class_=f"{class_} end")
    return tag("text", text, x=x, y=y, class_=f"{class_} mid")


def plated(text: str, x: float, y: float) -> Markup:
    """Draws a tick's text to the right of x, on a plate that covers the lines below it."""
    plate = tag("rect", x=x - 2, y=y - 6, width=round(width_of(text) + 4, 1), height=12, rx=2, class_="plate")
    return plate + tag("text", text, x=x, y=y + 3.5, class_="tick")


def y_axis(scale: Scale, left: float, right: float) -> Markup:
    parts = []
    for value in scale.ticks():
        y = scale(value)
        parts.append(tag("line", x1=left, x2=right, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", tick(value), x=left - 5, y=y + 3.5, class_="tick end"))
    return Markup("").join(parts)


def svg(width: float, height: float, parts: Iterable[Markup], label: str, **attributes: object) -> Markup:
    rest = "".join(f' {k.replace("_", "-")}="{escape(str(v))}"' for k, v in attributes.items())
    inner = Markup("").join(parts)
    return Markup(f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}"{rest}>{inner}</svg>')
