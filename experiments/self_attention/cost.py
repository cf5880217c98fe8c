#!/usr/bin/python3
"""The cost of the runs of a study: see experiments/study_cost.py."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2] / "scripts")]

from study_cost import main

if __name__ == "__main__":
    sys.exit(main())
