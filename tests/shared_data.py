"""Where the real runs are, which are too large or not licensed to be committed."""

import os
from pathlib import Path

SHARED = Path(os.environ.get("RISKGUARD_SHARED", Path(__file__).resolve().parents[2] / "shared"))
