"""Counts of the house: ``python -m tests.house [COMMIT ...]`` prints today's beside those of earlier commits.

Code is counted in tokens as Python reads them, without comments, docstrings and blank lines: no layout of lines
changes the count. Without commits given, the last five that landed stand beside. ``test_house.py`` has the ceilings.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
#: Groups of commands that are no part of the core, but plug in.
WINGS = ("study", "ltr")
#: Files of the package beside its code: pictures, styles, scripts, templates and schemas.
ASSETS = {".css", ".js", ".svg", ".html", ".j2", ".jinja", ".json", ".png", ".woff2"}
COMMITS = 5

Counts = dict[str, int | str]


def tokens(source: str) -> int:
    """Tokens of a module that are code."""
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            text = (
                first.value.value if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else None
            )
            if isinstance(text, str):
                docstrings.add((first.lineno, first.col_offset))
    read = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type not in NO_CODE and token.start not in docstrings for token in read)


def code(folder: Path) -> tuple[int, int, int]:
    """Tokens, modules and lines of a folder."""
    sources = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    return sum(map(tokens, sources)), len(sources), sum(source.count("\n") for source in sources)


def words(*pages: Path) -> int:
    """Words of pages, code and tables included."""
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages)


def documented_modules(root: Path) -> list[str]:
    """The public modules: those that the page of the API lists."""
    page = (root / "docs/reference/api.md").read_text(encoding="utf-8")
    return re.findall(r"^\.\. automodule:: ([\w.]+)$", page, re.MULTILINE)


def public_names(module: str) -> set[str]:
    """What a module names as public, its version aside."""
    return set(getattr(importlib.import_module(module), "__all__", ())) - {"__version__"}


def commands() -> Iterator[tuple[str, int]]:
    """Every command that does something, by how it is called, and its slots for options."""
    import click

    from pytest_riskguard.cli.main import cli

    waiting: list[tuple[str, click.Command]] = [("riskguard", cli)]
    while waiting:
        path, command = waiting.pop()
        if isinstance(command, click.Group):
            context = click.Context(command)
            names = command.list_commands(context)
            waiting += [(f"{path} {name}", command.get_command(context, name)) for name in names]
            continue
        command = command.loaded() if hasattr(command, "loaded") else command
        if isinstance(command, click.Group):
            waiting.append((path, command))
            continue
        yield path, sum(isinstance(parameter, click.Option) for parameter in command.params)


def is_of_a_wing(command: str) -> bool:
    """Whether a command plugs in."""
    return command.split()[1] in WINGS


def properties(schema: Any) -> Iterator[str]:
    """Names of the properties of a JSON Schema, one for each place where it is declared."""
    if isinstance(schema, dict):
        declared = schema.get("properties")
        yield from declared if isinstance(declared, dict) else ()
        for value in schema.values():
            yield from properties(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from properties(value)


def yaml_keys() -> set[str]:
    """The keys of riskguard.yaml."""
    from pytest_riskguard.config.json_schema import json_schema

    return set(properties(json_schema()))


def report_properties(root: Path) -> int:
    """Properties of the JSON report, by its schema."""
    (file,) = (root / "pytest_riskguard").rglob("riskguard-report-1.schema.json")
    return sum(1 for _ in properties(json.loads(file.read_text(encoding="utf-8"))))


def sources(root: Path) -> str:
    """The text of all modules of the package."""
    return "\n".join(path.read_text(encoding="utf-8") for path in (root / "pytest_riskguard").rglob("*.py"))


def environment_variables(root: Path) -> set[str]:
    """The variables of the environment that the package knows."""
    return set(re.findall(r"""["'](RISKGUARD_[A-Z_]+)["']""", sources(root)))


def warning_codes(root: Path) -> set[str]:
    """The codes of warnings that gates raise."""
    return set(re.findall(r'\b(?:warning|VerdictWarning)\(\s*"(\w+)"', sources(root)))


class _Parser:
    """Takes what the plugin declares, as pytest's parser does."""

    def __init__(self) -> None:
        self.options: list[str] = []
        self.settings: list[str] = []

    def getgroup(self, *_names: str) -> _Parser:
        """All options together."""
        return self

    def addoption(self, name: str, **_attributes: Any) -> None:
        """An option."""
        self.options.append(name)

    def addini(self, name: str, *_help: str, **_attributes: Any) -> None:
        """A setting of the ini file."""
        self.settings.append(name)


def pytest_settings() -> _Parser:
    """Options and ini settings of the plugin."""
    from pytest_riskguard.plugin.options import add_options

    parser = _Parser()
    add_options(parser)  # type: ignore[arg-type]
    return parser


def extras(root: Path) -> list[str]:
    """What users may install besides the package, and ``test``."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return sorted(project["optional-dependencies"])


def surface(root: Path) -> Counts:
    """What users meet, of a checkout whose package can be imported; what cannot be counted there says so."""
    found: Counts = {}

    def add(names: tuple[str, ...], count: Callable[[], tuple[int | str, ...]]) -> None:
        try:
            values = count()
        except Exception as problem:  # an old commit may be anything
            values = (f"({type(problem).__name__})",) * len(names)
        found.update(zip(names, values, strict=True))

    package, docs = root / "pytest_riskguard", root / "docs"
    add(("docs: words",), lambda: (words(*docs.rglob("*.md")),))
    add(("README: words",), lambda: (words(root / "README.md"),))
    add(("public names",), lambda: (sum(len(public_names(module)) for module in documented_modules(root)),))
    add(("public names: at the top",), lambda: (len(public_names("pytest_riskguard")),))

    def of_commands() -> tuple[int, ...]:
        core = [slots for name, slots in commands() if not is_of_a_wing(name)]
        wings = [slots for name, slots in commands() if is_of_a_wing(name)]
        compare = dict(commands())["riskguard compare"]
        return len(core), len(wings), len(core) + len(wings), sum(core), sum(wings), sum(core) + sum(wings), compare

    names = ("commands: core", "commands: wings", "commands", "options: core", "options: wings", "options")
    add((*names, "options: compare"), of_commands)
    add(("YAML keys",), lambda: (len(yaml_keys()),))
    add(("report properties",), lambda: (report_properties(root),))
    add(("environment variables",), lambda: (len(environment_variables(root)),))
    add(("warning codes",), lambda: (len(warning_codes(root)),))
    add(
        ("pytest options", "ini keys"), lambda: (len((declared := pytest_settings()).options), len(declared.settings))
    )
    add(("extras",), lambda: (len(extras(root)),))
    add(("assets and schemas: bytes",), lambda: (_bytes_of_assets(package),))
    return found


def counts(root: Path) -> Counts:
    """The sizes of the code, and what users meet."""
    found: Counts = {}
    for name, folder in (("package", "pytest_riskguard"), ("tests", "tests")):
        sizes = zip(("tokens", "modules", "lines"), code(root / folder), strict=True)
        found |= {f"{name}: {unit}": size for unit, size in sizes}
    return found | surface(root)


def _bytes_of_assets(package: Path) -> int:
    return sum(path.stat().st_size for path in package.rglob("*") if path.suffix in ASSETS)


def counts_at(commit: str) -> Counts:
    """The same counts at a commit, by this file run on its tree in a process of its own."""
    packed = subprocess.run(["git", "archive", commit], cwd=CHECKOUT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        as_installed(Path(folder))
        done = subprocess.run(
            [sys.executable, __file__, "--json", folder],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
    found: Counts = json.loads(done.stdout)
    return found


def as_installed(root: Path) -> None:
    """Say in a checkout which wings plug in, as an installation of it would, whatever else is installed."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
    about = root / "pytest_riskguard.egg-info"
    about.mkdir()
    (about / "PKG-INFO").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n", encoding="utf-8")
    lines = (
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in names.items())
        for group, names in groups.items()
    )
    (about / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def landed(count: int) -> list[str]:
    """The last commits that landed, the newest last."""
    command = ["git", "log", "--first-parent", f"-{count}", "--reverse", "--format=%h"]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split()


def table(columns: dict[str, Counts]) -> Iterator[str]:
    """The counts of each column, one a line."""
    cells = {
        title: {name: f"{value:,}" if isinstance(value, int) else value for name, value in found.items()}
        for title, found in columns.items()
    }
    widths = {title: max(map(len, (title, *found.values()))) for title, found in cells.items()}
    names = list(next(reversed(cells.values())))
    first = max(map(len, names))
    yield "  ".join([" " * first, *(f"{title:>{widths[title]}}" for title in cells)])
    for name in names:
        yield "  ".join(
            [f"{name:<{first}}", *(f"{found.get(name, ''):>{widths[title]}}" for title, found in cells.items())]
        )


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", nargs="*", metavar="COMMIT", help=f"default: the last {COMMITS} that landed")
    parser.add_argument("--json", type=Path, metavar="FOLDER", help="print the counts of this tree alone, as JSON")
    options = parser.parse_args()
    if options.json:
        print(json.dumps(counts(options.json)))
        return
    columns = {commit: counts_at(commit) for commit in options.commits or landed(COMMITS)}
    print("\n".join(table(columns | {"now": counts(CHECKOUT)})))


if __name__ == "__main__":
    main()
