"""The program is run as tests/app runs it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))
