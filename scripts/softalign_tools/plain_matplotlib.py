"""Imported by scripts before anything of matplotlib: nobody's matplotlibrc enters, neither a user's nor that of the working directory,
which may be a stranger's and could name programs to be started."""

import logging
import os
import warnings
from pathlib import Path

_place = os.open(".", os.O_PATH)  # which nobody needs to be allowed to read
os.chdir(Path(__file__).resolve().parent)
try:
    import matplotlib
finally:
    os.fchdir(_place)
    os.close(_place)

matplotlib.use("Agg")
matplotlib.rcdefaults()
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # a font of another weight is welcome
warnings.filterwarnings("ignore", "Glyph .* missing from")  # fonts.note_missing says it
