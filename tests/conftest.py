"""Fixtures and rules for the whole suite: which tests run, and which may be skipped."""

import gzip
import os
import re
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy.fft
import numpy.random  # noqa: F401 - pytester forgets what its runs load, and C modules of numpy load only once
import pytest
from hypothesis import HealthCheck, settings

from pytest_riskguard import limits, run_context
from pytest_riskguard.build import CI_VARIABLES
from pytest_riskguard.errors import UsageError
from tests.reports.html.browsers import CHROMIUM, Opened
from tests.shared_data import SHARED

pytest_plugins = ["pytester"]

#: Packages that the quick suite does without; tests that need one stand beside others and are skipped where it is
#: missing. CI installs them (dependency groups `peers` and `browser`); with RISKGUARD_REQUIRE_PEERS they must run.
PEERS = {
    *("axe_playwright_python", "bm25s", "cbor2", "distributed", "ir_datasets", "lightgbm", "lz4"),
    *("numba", "pandas", "playwright", "polars", "psutil", "psycopg", "pyarrow", "pyspark", "pyterrier"),
    *("pytrec_eval", "qdrant_client", "ranx", "sklearn", "xgboost"),
}
#: Every test skipped must start its reason with one of these: anything else would hide a test that nobody runs.
SKIP_REASONS: tuple[str, ...] = (
    "no folder 'shared'",
    "no browser",
    "no Java",
    "no PostgreSQL",
    "this system",
    "this Python",
    "this pytest",
)
if "RISKGUARD_REQUIRE_PEERS" not in os.environ:
    SKIP_REASONS += ("not installed: ",)

# The same examples on every machine and in every run, eight times as many at night (`nox -s nightly`).
# Hypothesis' own limits of time measure how busy the machine is.
for name, most in (("suite", 25), ("nightly", 200)):
    settings.register_profile(
        name,
        max_examples=most,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("suite")

# An agent that runs the tests must not change what commands print.
for name in (*run_context.AGENTS, "RISKGUARD_BRIEF"):
    os.environ.pop(name, None)
# The processes that tests start compile the package once, not each of them again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Workers of pytest-xdist keep all processors busy: more threads in each of them would only wait for one another.
# Tests of whether the number of threads changes a result, such as gates/test_determinism.py, set it themselves.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")


@pytest.fixture(scope="session", autouse=True)
def _outside_ci():
    """Tests see no CI wherever they run; those that are about CI set its variables themselves.

    A fixture, so that the pytest that runs the suite still knows where it is, and prints failures in full there.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in (*CI_VARIABLES, "BUILD_NUMBER", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def set_limit(monkeypatch):
    """``set_limit("TOPICS", 2)``: another number for one limit of ``limits``."""

    def set_number(name: str, most: int) -> None:
        monkeypatch.setitem(vars(getattr(limits, name)), "default", most)

    return set_number


@pytest.fixture
def write(tmp_path):
    """``write("a.run", text)``: a file with exactly this content; gzip where its name ends in .gz."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return write_file


def pytest_configure(config: pytest.Config) -> None:
    """Run a slow test that is asked for by its node id, although ``addopts`` leaves slow tests out."""
    if config.option.markexpr == "not slow and not nightly" and any("::" in argument for argument in config.args):
        config.option.markexpr = ""


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[Any]:
    """Skip a test that reads or writes a format whose package is not installed."""
    try:
        return (yield)
    except UsageError as error:
        needed = re.search(r" needs (\w+): pip install ", str(error))
        if needed is None or needed[1] not in PEERS or find_spec(needed[1]) is not None:
            raise
        pytest.skip(f"could not import '{needed[1]}'")


def _skips(reporter: pytest.TerminalReporter) -> Counter[str]:
    """How many tests, or whole modules, were skipped for each reason."""
    reports = reporter.stats.get("skipped", [])
    return Counter(_reason(report.longrepr[2]) for report in reports if isinstance(report.longrepr, tuple))


def _reason(text: str) -> str:
    """Why a test was skipped; a package that is missing by the group that has it."""
    text = text.removeprefix("Skipped: ")
    missing = re.match(r"could not import '(\w+)", text)
    return f"not installed: {missing[1]} (pip install --group peers)" if missing and missing[1] in PEERS else text


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed before, by the list that RISKGUARD_PASSED names: CI runs no test in two environments."""
    if (file := Path(os.environ.get("RISKGUARD_PASSED", os.devnull))).is_file():
        passed = set(file.read_text(encoding="utf-8").splitlines())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
        items[:] = [item for item in items if item.nodeid not in passed]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """List what passed, and fail the run if a test is skipped for a reason that ``SKIP_REASONS`` does not name."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if "PYTEST_XDIST_WORKER" not in os.environ and (file := os.environ.get("RISKGUARD_PASSED")):
        with Path(file).open("a", encoding="utf-8") as passed:
            passed.writelines(f"{report.nodeid}\n" for report in reporter.stats.get("passed", []))
    if reporter is None or session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return
    if any(not reason.startswith(SKIP_REASONS) for reason in _skips(reporter)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line for each reason that tests were skipped for."""
    for reason, count in sorted(_skips(terminalreporter).items()):
        allowed = reason.startswith(SKIP_REASONS)
        counted = "1 test" if count == 1 else f"{count} tests"
        line = f"{counted} skipped: {reason}" + ("" if allowed else " (not a reason of tests/conftest.py: an error)")
        terminalreporter.write_line(line, yellow=allowed, red=not allowed)


@pytest.fixture(scope="session")
def reference_data():
    """The folder of published tables and of R's intervals, which every checkout has (see its README)."""
    return Path(__file__).parent / "reference_data"


@pytest.fixture(scope="session")
def shared():
    """The folder of real runs, too large to commit; without it the tests that need it are skipped."""
    if not (SHARED / "data").is_dir():
        pytest.skip(
            "no folder 'shared' beside the checkout with the real runs (RISKGUARD_SHARED names another place)"
        )
    return SHARED


@pytest.fixture(scope="session")
def browser():
    required = os.environ.get("RISKGUARD_REQUIRE_BROWSER") == "1"
    if CHROMIUM is None:
        if required:
            pytest.fail("RISKGUARD_REQUIRE_BROWSER=1, and no Chromium: apt-get install chromium")
        pytest.skip("no browser: apt-get install chromium")
    if not required:
        pytest.importorskip("playwright.sync_api", reason="no browser: playwright is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser, tmp_path):
    contexts = []

    def open_(text: str, *, width: int = 1200, **options: Any) -> Opened:
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **options))
        return Opened(contexts[-1].new_page(), path)

    yield open_
    for context in contexts:
        context.close()
