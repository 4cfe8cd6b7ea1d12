"""The texts of a Watts Up stand beside the tests of its driver."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "meters"))
