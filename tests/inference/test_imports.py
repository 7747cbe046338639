"""Kernels load little."""

import subprocess
import sys


def test_kernels_load_neither_pytest_nor_scipy_stats():
    code = (
        "import sys, pytest_riskguard.risk, pytest_riskguard.inference, pytest_riskguard.studies;"
        "print([name for name in ('pytest', '_pytest', 'scipy.stats', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
