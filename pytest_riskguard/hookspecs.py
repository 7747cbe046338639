"""What another package can add: commands, formats, measures and reports, and a function that receives every verdict.

A module with functions of these names, each marked with ``hookimpl``, is a plugin. Its package names it under the
entry point group ``riskguard`` in its pyproject.toml. See docs/how-to/extend.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    import click

    from pytest_riskguard.gates.verdict import Verdict

__all__ = ["hookimpl"]

hookspec = pluggy.HookspecMarker("riskguard")
hookimpl = pluggy.HookimplMarker("riskguard")


@hookspec
def riskguard_commands() -> Iterable[click.Command]:  # type: ignore[empty-body]
    """Commands, or groups of commands, of ``riskguard``."""


@hookspec
def riskguard_formats() -> Mapping[str, Mapping[str, Callable[[bytes], Any]]]:  # type: ignore[empty-body]
    """Readers of files, by the name of the format and by what it holds: ``rankings``, ``judgements`` or ``scores``.

    A reader gets the content of a file and returns, by topic, documents with their scores, documents with their
    grades, or the topic's score. It raises ``ValueError`` where the content is not of its format. A format is used
    where its name is given: ``format: NAME`` in riskguard.yaml, ``--set format=NAME`` on the command line.
    """


@hookspec
def riskguard_measures() -> Mapping[str, Callable[[Sequence[str], Mapping[str, float]], float]]:  # type: ignore[empty-body]
    """Measures by their names.

    Each is a function from a query's documents, best first, and its grades to a score from 0 to 1.
    """


@hookspec
def riskguard_reports() -> Mapping[str, Callable[[Mapping[str, Any]], str | bytes]]:  # type: ignore[empty-body]
    """Reports by the suffix of their files, such as ``.csv``: functions from the JSON report to what a file holds."""


@hookspec
def riskguard_verdict(verdict: Verdict) -> None:
    """Receive a verdict when it has been reached; what it does cannot change the verdict."""
