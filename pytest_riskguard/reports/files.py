"""Reports as files, each in the format of its suffix; a file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_riskguard import plugins
from pytest_riskguard.errors import UsageError
from pytest_riskguard.reports import kept_runs

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.reports.comparisons import Report


#: Formats, called as the modules that write them.
JSON, MARKDOWN, HTML, JUNIT = "json", "markdown", "html", "ci.junit"
#: One of a plugin.
ADDED = "added"
#: Suffixes of a figure or a table.
OF_SECTIONS = (".json", ".html", ".htm")
_BY_SUFFIX = {".json": JSON, ".md": MARKDOWN, ".html": HTML, ".htm": HTML, ".xml": JUNIT}


#: How a report begins, by which one that an earlier run left is told from any other file, and in how many bytes.
_OPENING = re.compile(
    rb'\s*(?:\{\s*"schema": "riskguard-|## riskguard|<\?xml [^>]*>\s*<testsuite name="riskguard"'
    rb"|<!DOCTYPE html>.*?<title>[^<]*riskguard)",
    re.DOTALL,
)
_OPENING_BYTES = 4096
#: Folders in which only the system makes links.
_OF_SYSTEM = (Path("/dev"), Path("/proc"))


def format_of(path: Path) -> str:
    """The format that a file's name asks for; ``UsageError`` if no format has such names."""
    suffix = path.suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    added = plugins.added("riskguard_reports", list(_BY_SUFFIX))
    if suffix in added:
        return ADDED
    *known, last = *_BY_SUFFIX, *added
    raise UsageError(f"the format is chosen by the suffix, expected {', '.join(known)} or {last}")


def check(path: Path) -> None:
    """Check that a report of this name can be written, before there is anything to report.

    ``UsageError`` if the suffix is unknown, a library for the format is not installed, or no file can be made here.
    """
    if format_of(path) == HTML:
        from pytest_riskguard.reports.html import ensure_available

        ensure_available()
    problem = link_problem(path)
    if not path.absolute().parent.is_dir():
        problem = f"there is no folder {path.parent}: make it first"
    elif path.is_dir():
        problem = os.strerror(errno.EISDIR)
    if problem:
        raise UsageError(f"cannot write ({problem})")


def write(path: Path, report: Report) -> None:
    """Write a report, whole or not at all, in the format that its name asks for."""
    from pytest_riskguard.reports.json import dumps, plain

    kind = format_of(path)
    if kind == ADDED:
        write_bytes(path, _of_plugin(path.suffix.lower(), plain(report)))
    elif kind == JSON:
        write_text(path, dumps(report))
    else:
        write_text(path, import_module(f"pytest_riskguard.reports.{kind}").render(report.shown))


def _of_plugin(suffix: str, report: dict[str, Any]) -> bytes:
    """What a file holds whose content the function of a plugin makes of the JSON report."""
    plugin, function = plugins.added("riskguard_reports")[suffix]
    what = f"report {suffix}"
    made = plugins.called(plugin, what, function, report)
    if not isinstance(made, str | bytes):
        raise plugins.PluginError(plugin, f"{what} gave {type(made).__name__}, expected text or bytes")
    return made.encode() if isinstance(made, str) else made


def save(verdict: Verdict, path: Path) -> None:
    """Write a report on one verdict; a ``UsageError`` names the file that cannot be written."""
    from pytest_riskguard.reports.comparisons import Report
    from pytest_riskguard.reports.provenance import dated

    try:
        check(path)
        write(path, dated(Report([verdict]), Path.cwd()))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot write ({error.strerror})") from None


def withdraw(path: Path) -> None:
    """Remove the report that an earlier run left here, before there is another: until then there is no verdict.

    A run that is killed, or that cannot write, then leaves none. Any other file stays until a report replaces it.
    ``OSError`` if the report cannot be removed.
    """
    kept_runs.withdraw(path)
    target = Path(os.path.realpath(path))
    if not target.is_file() or link_problem(path):
        return
    with target.open("rb") as file:
        opening = file.read(_OPENING_BYTES)
    if _OPENING.match(opening):
        target.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8 as ``write_bytes``."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; a device or a pipe is written directly.

    A link to a file in its own folder is kept: the file it points to is replaced. Any other link is refused with an
    ``OSError``, since whoever changes the repository may have made it. An existing file keeps its mode.
    """
    target = Path(os.path.realpath(path))  # which, unlike resolve(), accepts a link to itself
    if problem := link_problem(path):
        raise OSError(errno.ELOOP, problem, str(path))
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def link_problem(path: Path) -> str | None:
    """What is wrong with a link, unless it is the system's own, as ``/dev/stdout``, or leads to a file beside it."""
    folder, target = path.absolute().parent.resolve(), Path(os.path.realpath(path))
    is_beside = target.parent == folder and (target.is_file() or not target.exists())
    if not path.is_symlink() or is_beside or any(folder.is_relative_to(root) for root in _OF_SYSTEM):
        return None
    return "a link that leads out of its folder; delete it, or name the file that it points to"
