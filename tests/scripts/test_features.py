"""The README's table of plugins agrees with the registry."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_plugins_is_up_to_date() -> None:
    done = subprocess.run([ROOT / "scripts/features.py", "--check"], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
