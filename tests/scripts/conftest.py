"""Makes the modules of scripts/ importable, as they are when a script is started."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
