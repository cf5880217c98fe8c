"""Imported by scripts before matplotlib, so that no matplotlibrc is used: neither the user's nor that of the working directory, which may be
untrusted and could name programs to start."""

import logging
import os
import warnings
from pathlib import Path

_place = os.open(".", os.O_PATH)  # O_PATH needs no permission to read the folder
os.chdir(Path(__file__).resolve().parent)
try:
    import matplotlib
finally:
    os.fchdir(_place)
    os.close(_place)

matplotlib.use("Agg")
matplotlib.rcdefaults()
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # a substitute font of another weight needs no warning
warnings.filterwarnings("ignore", "Glyph .* missing from")  # fonts.note_missing reports it
