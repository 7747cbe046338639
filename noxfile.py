"""Everything that is done to a checkout, each in an environment of its own: ``nox -l`` lists the sessions."""

from __future__ import annotations

import nox

nox.needs_version = ">=2025.5"
nox.options.sessions = ["tests", "lint", "types"]
nox.options.reuse_venv = "yes"
nox.options.error_on_external_run = True

#: What the package supports: every Python, the oldest pytest and the newest.
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PYTESTS = (nox.param("==9.0.3", id="oldest"), nox.param(">9.0.3", id="newest"))


#: All extras that users install; `test` is for the package's own tests.
EXTRAS = ",".join(
    name for name in nox.project.load_toml("pyproject.toml")["project"]["optional-dependencies"] if name != "test"
)


#: What tests of formats, rankers and pages need besides; browser tests also need Chromium, those with Spark Java.
PEERS = ("--group", "peers", "--group", "browser")


@nox.session
def tests(session: nox.Session) -> None:
    """The quick tests, as everybody runs them before a commit."""
    session.install("-e", ".[test]")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session(name="all")
def all_tests(session: nox.Session) -> None:
    """The slow tests too, with every package that one needs, as CI runs them."""
    session.install("-e", ".", *PEERS)
    session.run("pytest", "-n", "auto", "-m", "not nightly", *session.posargs)


@nox.session
def nightly(session: nox.Session) -> None:
    """Studies, simulations, the whole matrix of sabotage, and more generated examples: an hour or two."""
    session.install("-e", ".", *PEERS)
    session.run("pytest", "-n", "auto", "-m", "nightly", *session.posargs)
    session.run("pytest", "-n", "auto", "-m", "not nightly", "--hypothesis-profile=nightly", *session.posargs)


@nox.session(python=PYTHONS)
@nox.parametrize("version", PYTESTS)
def versions(session: nox.Session, version: str) -> None:
    """The quick tests with each Python that the machine has, and with the oldest and the newest pytest."""
    session.install("-e", ".[test]", f"pytest{version}")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Quick and slow tests under branch coverage, subprocesses included; below 95 % it fails."""
    session.install("-e", ".", *PEERS, "--group", "coverage")
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", "-n", "auto", "-m", "not nightly", *session.posargs)
    session.run("coverage", "combine")
    session.run("coverage", "report")


@nox.session
def lint(session: nox.Session) -> None:
    """Style: ruff's checks and its formatting."""
    session.install("--group", "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Types: mypy with the settings of pyproject.toml."""
    session.install("-e", ".", *PEERS, "--group", "lint")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation site, in docs/_build; a warning is an error."""
    session.install("-e", ".", "--group", "docs")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build", *session.posargs)


@nox.session
def audit(session: nox.Session) -> None:
    """Known vulnerabilities of what the package and all its extras install."""
    session.install("-e", f".[{EXTRAS}]", "--group", "audit")
    session.run("python", ".ci/audit")


@nox.session
def scale(session: nox.Session) -> None:
    """Processor time beside ir_measures: ``-- --only formats``, or ``-- --write`` for docs/performance.md."""
    session.install("-e", ".", *PEERS)
    session.run("python", "-m", "tests.benchmarks.scale", *session.posargs)
