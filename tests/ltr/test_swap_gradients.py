"""The compiled part where its machine code cannot be kept."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_riskguard
from pytest_riskguard.ltr import LambdaMART

pytest.importorskip("numba")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders that cannot be written to are made differently here")
def test_machine_code_that_cannot_be_kept_is_compiled_again(tmp_path):
    package = tmp_path / "site" / "pytest_riskguard"
    shutil.copytree(Path(pytest_riskguard.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    # A file where the folder should be stops root too.
    (package / "ltr" / "__pycache__").write_text("")
    code = (
        "from pytest_riskguard.ltr import LambdaMART, swap_gradients\n"
        "print(swap_gradients.__file__, LambdaMART().gradients([1, 0], [0, 0], [2])[0].tolist())"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "HOME": "/dev/null",
        "XDG_CACHE_HOME": "/dev/null",
    }
    environment.pop("NUMBA_CACHE_DIR", None)
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    expected = LambdaMART().gradients([1, 0], [0, 0], [2])[0].tolist()
    assert ran.stdout == f"{package / 'ltr' / 'swap_gradients.py'} {expected}\n"
