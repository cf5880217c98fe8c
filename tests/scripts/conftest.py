"""Makes the scripts, their package and the scripts of experiments importable."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ("", "alignment_quality", "bottleneck/probe", "corpora")
sys.path[:0] = [str(ROOT / "scripts"), *(str(ROOT / "experiments" / name) for name in EXPERIMENTS)]
