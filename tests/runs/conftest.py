"""Makes the helpers of tests/app, which run the program, and of tests/torture, which compare records, importable."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("app", "torture")]  # command_line, checks
