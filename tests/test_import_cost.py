"""Installing the plugin costs the test suites of others nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "yaml", "pydantic", "rich", "click", "ir_measures", "filelock")
SHOW = f"import sys; print(sorted(set({HEAVY!r}) & set(sys.modules)))"


def fresh(*arguments: str, folder: os.PathLike[str] | None = None) -> str:
    environment = {**os.environ, "PYTEST_ADDOPTS": ""}
    result = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, cwd=folder, env=environment
    )
    assert result.stderr == ""
    return result.stdout


@pytest.mark.parametrize("module", ["pytest_riskguard", "pytest_riskguard.plugin", "pytest_riskguard.errors"])
def test_importing_loads_nothing_heavy(module):
    assert fresh("-c", f"import {module}; {SHOW}") == "[]\n"


def test_a_public_name_loads_on_first_use():
    code = f"import pytest_riskguard as r; r.RiskyError; {SHOW}; r.assert_not_significantly_risky; {SHOW}"
    first, second = fresh("-c", code).splitlines()
    assert first == "[]"
    assert "numpy" in second
    assert fresh("-c", "import pytest_riskguard as r; print(all(hasattr(r, n) for n in r.__all__))") == "True\n"
    assert fresh("-c", "import pytest_riskguard as r; print(hasattr(r, 'nonsense'))") == "False\n"


@pytest.mark.parametrize("arguments", [("--help",), ("-q", "--collect-only"), ("-q",)], ids=" ".join)
def test_pytest_loads_nothing_heavy_and_leaves_nothing_behind(tmp_path, arguments):
    (tmp_path / "conftest.py").write_text(
        # subprocess: a git process, say, would need it
        f"import subprocess\nHEAVY = {HEAVY!r}\n"
        "def no_process(*a, **k): raise AssertionError('a process was started')\n"
        "subprocess.Popen = no_process\n"
        "def pytest_unconfigure(config):\n"
        "    import sys\n"
        "    assert config.pluginmanager.hasplugin('riskguard')\n"
        "    print('LOADED', sorted(set(HEAVY) & set(sys.modules)))\n"
    )
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n")
    # hypothesis may load numpy by itself
    quiet = ("-p", "no:hypothesispytest", "-p", "no:cacheprovider")
    out = fresh("-B", "-m", "pytest", *quiet, *arguments, folder=tmp_path)
    assert "LOADED []" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conftest.py", "test_own.py"]
    if arguments == ("--help",):
        for option in (
            "--riskguard",
            "--no-riskguard",
            "--riskguard-no-yaml",
            "--riskguard-require",
            "--riskguard-report",
        ):
            assert option in out
    else:
        assert "riskguard" not in out
