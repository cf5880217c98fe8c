"""Uses the helpers of tests/app."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))
