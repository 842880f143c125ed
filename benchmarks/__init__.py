"""What is measured, never asserted: these machines are noisy, so each figure stands beside another of the same run.

`python -m benchmarks [KIND ...]` prints one table, and finds the code by itself.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("shared", "functions")]
