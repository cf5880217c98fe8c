"""Imported before anything of matplotlib: nobody's matplotlibrc enters, neither a user's nor that of the working directory,
which may be a stranger's and could name programs to be started."""

import os
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
