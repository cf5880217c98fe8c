"""The style of papers, for the figures of this package only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from softalign_lab import _core
from softalign_lab.program import errors

if TYPE_CHECKING:
    from softalign_tools.drawing import Drawing


def drawn(font: str, band: str, width: str, draw: Callable[[Callable[[str], None]], Drawing]) -> Drawing:
    """Draws a figure in the style of papers, then restores matplotlib's settings. Raises SpecError for an unknown font, band or width."""
    import matplotlib

    from softalign_tools import drawing, figures, fonts

    for name, value, choices in (("font", font, drawing.FONTS), ("band", band, figures.BANDS), ("width", width, drawing.WIDTHS)):
        if value not in choices:
            raise _core.SpecError(f"{name}: there is no '{value}'; choose from {', '.join(choices)}")
    notes: list[str] = []
    with matplotlib.rc_context(), _choices(), errors():
        drawing.set_style(font)
        figure = draw(notes.append)
        fonts.use_fonts(figure)
        figure.draw_without_rendering()  # else matplotlib would create some parts later, in the style that is set then
    figure.notes = notes
    return figure


@contextmanager
def _choices() -> Iterator[None]:
    """Turns a ChoiceError into a SpecError. Its message is the script's, whose options are arguments here."""
    from softalign_tools.sweep_table import ChoiceError

    try:
        yield
    except ChoiceError as error:
        raise _core.SpecError(re.sub(r"(?<!\S)--(?=[a-z])", "", str(error))) from None
