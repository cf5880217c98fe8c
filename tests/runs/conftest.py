"""The program is driven as tests/app drives it, and its records are compared as tests/torture compares them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("app", "torture")]  # command_line, checks
