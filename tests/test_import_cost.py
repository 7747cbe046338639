"""Which modules are loaded when: the plugin costs other test suites nothing, and a gate loads what it needs."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.plugin import world

#: Each starts processes of its own.
pytestmark = pytest.mark.slow

HEAVY = ("numpy", "scipy", "yaml", "pydantic", "click", "ir_measures", "filelock")
#: What no comparison of two files needs, whether it passes or fails, in a process of the command or of pytest.
NOT_FOR_FILES = (
    "aiohttp",
    "asyncio",
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
    "numpy.f2py",
    "numpy.testing",
    "pytest_riskguard.inference.studentized",
    "pytest_riskguard.inference.georisk",
    "pytest_riskguard.live.candidates",
    "pytest_riskguard.live.http",
    "pytest_riskguard.ltr.command",
    "pytest_riskguard.reports.ci.junit",
    "pytest_riskguard.reports.html.page",
    "pytest_riskguard.reports.markdown",
    "pytest_riskguard.studies.commands",
    "scipy",
    "ssl",
    "urllib.request",
)
#: What a gate of a riskguard.yaml needs besides, and a command that is given runs does not.
NOT_FOR_RUNS = (
    "pydantic",
    "pytest",
    "pytest_riskguard.baselines.store",
    "pytest_riskguard.config.schema",
    "pytest_riskguard.engine.declared_gates",
    "yaml",
)
#: What no gate needs in pytest unless it fails.
NOT_FOR_A_PASS = ("pytest_riskguard.reports.terminal",)
SHOW = f"import sys; print(sorted(set({HEAVY!r}) & set(sys.modules)))"


def fresh(*arguments: str, folder: os.PathLike[str] | None = None, status: int = 0) -> str:
    environment = {**os.environ, "PYTEST_ADDOPTS": ""}
    result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=folder, env=environment)
    assert (result.returncode, result.stderr) == (status, "")
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
    assert "LOADED ['pytest_riskguard', 'pytest_riskguard.lazily', 'pytest_riskguard.plugin']" in out


def test_help_of_the_command_loads_no_command():
    heavy = tuple(name for name in HEAVY if name != "click")
    code = (
        "import sys; from pytest_riskguard.cli.main import run; run(['--help']);"
        f"print('LOADED', sorted(set({heavy!r}) & set(sys.modules)),"
        "[name for name in sys.modules if name.startswith(('pytest_riskguard.engine', 'pytest_riskguard.gates'))])"
    )
    assert fresh("-c", code).endswith("LOADED [] []\n")


@pytest.mark.parametrize(
    ("candidate", "outcome", "others"),
    [(world.GOOD, "1 passed", NOT_FOR_A_PASS), (world.LOSS, "1 failed", ())],
    ids=["passes", "fails"],
)
def test_a_gate_in_pytest_loads_only_what_it_needs(tmp_path, candidate, outcome, others):
    world.write_world(tmp_path, candidate, alpha="1")
    (tmp_path / "conftest.py").write_text(
        f"import sys\nNOT_NEEDED = {(*NOT_FOR_FILES, *others, 'click')!r}\n"
        "def pytest_unconfigure(config):\n"
        "    print('LOADED', sorted(set(NOT_NEEDED) & set(sys.modules)))\n"
    )
    quiet = ("-q", "-p", "no:hypothesispytest", "-p", "no:anyio", "-p", "no:xdist")
    out = fresh("-m", "pytest", *quiet, "--riskguard", folder=tmp_path, status=int(outcome == "1 failed"))
    assert outcome in out
    assert "LOADED []" in out


@pytest.mark.parametrize(("candidate", "status"), [(world.GOOD, 0), (world.LOSS, 1)], ids=["passes", "fails"])
@pytest.mark.parametrize(
    ("arguments", "others"),
    [
        (("compare", "prod.run", "candidate.run", "--qrels", "qrels.txt", "--measure", "AP"), NOT_FOR_RUNS),
        (("check",), ("pytest",)),
    ],
    ids=["compare", "check"],
)
def test_a_command_loads_only_what_it_needs(tmp_path, arguments, others, candidate, status):
    world.write_world(tmp_path, candidate, alpha="1")
    if arguments[0] == "compare":
        (tmp_path / "riskguard.yaml").unlink()
        shutil.rmtree(tmp_path / "baselines")
    code = (
        "import sys, atexit\n"
        f"atexit.register(lambda: print('LOADED', sorted(set({(*NOT_FOR_FILES, *others)!r}) & set(sys.modules))))\n"
        "from pytest_riskguard.cli import main; main()"
    )
    assert fresh("-c", code, *arguments, folder=tmp_path, status=status).endswith("LOADED []\n")
