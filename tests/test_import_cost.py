"""Which modules are loaded when: the plugin costs other test suites nothing, and a gate loads what it needs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.plugin import world

#: Each starts processes of its own.
pytestmark = pytest.mark.slow

HEAVY = ("numpy", "scipy", "yaml", "pydantic", "rich", "click", "ir_measures", "filelock")
#: What no gate over files needs unless it fails or writes a report.
NOT_FOR_GATES = (
    "aiohttp",
    "asyncio",
    "click",
    "fsspec",
    "httpx2",
    "ir_datasets",
    "jinja2",
    "jmespath",
    "jsonschema",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "pytest_riskguard.cli",
    "pytest_riskguard.live_systems",
    "pytest_riskguard.reports.html",
    "pytest_riskguard.reports.markdown",
    "pytest_riskguard.reports.terminal.failure",
    "rich",
    "scipy.stats",
    "ssl",
    "urllib.request",
)
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
            "--riskguard-strict",
            "--riskguard-report",
        ):
            assert option in out
    else:
        assert "riskguard" not in out


def test_help_of_pytest_loads_no_more_of_the_package_than_its_options(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        "def pytest_unconfigure(config):\n"
        "    print('LOADED', sorted(name for name in sys.modules if name.startswith('pytest_riskguard')))\n"
    )
    out = fresh("-m", "pytest", "--help", folder=tmp_path)
    modules = ["pytest_riskguard", *(f"pytest_riskguard.{name}" for name in ("plugin", "plugin.options"))]
    assert f"LOADED {modules}" in out


def test_help_of_the_command_loads_no_command():
    heavy = tuple(name for name in HEAVY if name != "click")
    code = (
        "import sys; from pytest_riskguard.cli.main import run; run(['--help']);"
        f"print('LOADED', sorted(set({heavy!r}) & set(sys.modules)),"
        "[name for name in sys.modules if name.startswith(('pytest_riskguard.engine', 'pytest_riskguard.gates'))])"
    )
    assert fresh("-c", code).endswith("LOADED [] []\n")


def test_a_gate_that_passes_loads_only_what_it_needs(tmp_path):
    world.write_world(tmp_path, world.GOOD, alpha="1")
    (tmp_path / "conftest.py").write_text(
        f"import sys\nNOT_NEEDED = {NOT_FOR_GATES!r}\n"
        "def pytest_unconfigure(config):\n"
        "    print('LOADED', sorted(set(NOT_NEEDED) & set(sys.modules)))\n"
    )
    out = fresh("-m", "pytest", "-q", "-p", "no:hypothesispytest", "-p", "no:anyio", "--riskguard", folder=tmp_path)
    assert "1 passed" in out
    assert "LOADED []" in out
