"""What ``compare`` and ``check`` do with verdicts: show them, write reports, tell GitHub, end with their status."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.exit_status import ExitStatus, status_of
from pytest_riskguard.cli.output import Reports, deliver, show, tell_github
from pytest_riskguard.reports.internal_errors import caught
from pytest_riskguard.text import clean

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.reports.comparisons import KnownGate
    from pytest_riskguard.reports.provenance import Provenance


def typed_command() -> str:
    """The command as it was typed."""
    words = [w if w.isprintable() else clean(w, limit=10_000) for w in click.get_current_context().obj]
    return f"riskguard {shlex.join(words)}"


def _reproduces() -> bool:
    """Whether the command can be printed so that it judges again what was typed, and not what a pipe held."""
    words = click.get_current_context().obj
    return all(clean(word, limit=len(word)) == word and not word.startswith(("/dev/", "/proc/")) for word in words)


def present(
    verdicts: Sequence[Verdict],
    *,
    reports: Reports,
    verbose: bool,
    quiet: bool,
    no_github: bool,
    folder: Path,
    gates: Sequence[KnownGate] = (),
    places: Sequence[tuple[Path, int]] = (),
    problems: Sequence[str | None] = (),
    notes: Sequence[str] = (),
    roles: str | None = None,
    config: Path | None = None,
) -> ExitStatus:
    """Show and write the verdicts, and return the exit status.

    ``folder`` is in the checkout that reports name; ``gates`` are all that could have been judged. ``places`` and
    ``problems`` say for each verdict its file and line, and why nothing can be compared. ``notes`` follow them all;
    ``roles`` stand before. ``config`` is the riskguard.yaml that was used: what the judged commit changed about it is
    said.
    """
    reproduce = None if quiet or not _reproduces() else f"  reproduce: {typed_command()}"
    to_stderr = reports.on_stdout
    changes = None
    if config is not None:
        from pytest_riskguard.engine.base_commit import policy_changes

        with caught("finding what the commit changed about how it is judged"):
            changes = policy_changes([config])
    deliver(
        lambda: show(
            verdicts,
            verbose=verbose,
            quiet=quiet,
            to_stderr=to_stderr,
            reproduce=reproduce,
            problems=problems,
            notes=() if quiet else notes,
            roles=roles,
            complete=all(gate.became == "judged" for gate in gates),
            policy_changes=changes,
        ),
        lambda: reports.write(verdicts, gates, _provenance(verdicts, folder) if reports.any else None, changes),
        lambda: (
            None
            if no_github
            else tell_github(verdicts, to_stderr=to_stderr, gates=gates, places=places, policy_changes=changes)
        ),
    )
    return status_of(verdicts)


def _provenance(verdicts: Sequence[Verdict], folder: Path) -> Provenance:
    from pytest_riskguard.baselines.build import report_date, this_build
    from pytest_riskguard.reports.provenance import provenance_of

    return provenance_of(verdicts, this_build(folder), report_date())
