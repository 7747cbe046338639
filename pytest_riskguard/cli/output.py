"""What a command leaves behind: verdicts on the terminal, reports, annotations."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.exit_status import UNWRITABLE, ExitStatus, OutputError, status_of
from pytest_riskguard.cli.options import FILE, Command, flag, grouped, options
from pytest_riskguard.errors import RiskguardError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.run_context import github_reads
from pytest_riskguard.text import clean, listed

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.reports.comparisons import KnownGate
    from pytest_riskguard.reports.files import Format
    from pytest_riskguard.reports.parts import Section
    from pytest_riskguard.reports.provenance import Provenance

#: Characters of the name of a gate or a system, and of a line below the verdicts.
MAX_NAME, MAX_NOTE = 60, 1000
_COLOURS = {"pass": "green", "fail": "red", "incomparable": "red"}
#: How ``--help`` describes the files that are no JSON.
_FORMATS = {
    "html": "an HTML page here. Needs the extra [report].",
    "markdown": "Markdown here.",
    "junit": "JUnit XML here, one test case for each verdict.",
}


def output_options(what: str, *formats: str, json: bool = True) -> Callable[[Command], Command]:
    """``--json``, and options for other ``formats`` (html, markdown), handed over as ``outputs``, an ``Outputs``.

    ``what`` says in ``--help`` what is written, such as "the figures".
    """
    as_json = click.option("--json", metavar="PATH|-", help=f"Write {what} here as JSON; - is standard output.")
    files = [click.option(f"--{name}", type=FILE, help=f"Write {what} as {_FORMATS[name]}") for name in formats]
    return grouped("outputs", Outputs, *([as_json] if json else []), *files)


@frozen
class Outputs:
    """The files that a command was asked to write; ``output_options`` gives it to a command."""

    json: str | None = None
    html: Path | None = None
    markdown: Path | None = None
    charts: bool = False
    junit: Path | None = None

    @property
    def on_stdout(self) -> bool:
        """Whether standard output belongs to the JSON report, and to nothing else."""
        return self.json == "-"

    @property
    def any(self) -> bool:
        """Whether any report was asked for."""
        return any((self.json, self.html, self.markdown, self.junit))

    def _files(self) -> Iterator[tuple[Format, str, Path]]:
        """The files to write: format, option and path of each."""
        from pytest_riskguard.reports import files

        kinds = {"json": files.JSON, "html": files.HTML, "markdown": files.MARKDOWN, "junit": files.JUNIT}
        for name, kind in kinds.items():
            path = getattr(self, name)
            if path is not None and path != "-":
                yield kind, f"--{name}", Path(path)

    def withdraw(self) -> None:
        """Remove those that an earlier run left, first of all: whatever ends this run, none stands for it."""
        from pytest_riskguard.reports import files

        for _, option, path in self._files():
            try:
                files.withdraw(path)
            except OSError as error:
                raise unwritable(f"{option} {path}", error) from None

    def check(self, *inputs: Path) -> None:
        """Check, before there is anything to write, that all of them can be made, and that none replaces an input."""
        from pytest_riskguard.reports import files
        from pytest_riskguard.reports.html import ensure_available

        written: dict[str, str] = {}
        for kind, option, path in self._files():
            ensure_apart(option, path, *inputs)
            other = written.setdefault(os.path.realpath(path), option)
            if other != option and (path.is_file() or not path.exists()):  # a device may be shared
                raise UsageError(f"{option} {path} would overwrite the file that {other} writes; name another file")
            try:
                if kind is files.HTML:
                    ensure_available()
                problem = files.problem(path)
            except UsageError as error:
                problem = str(error)
            if problem:
                raise UsageError(f"{option} {path}: cannot write ({problem})")
        if self.charts and self.markdown is None:
            raise UsageError("--charts needs --markdown")

    def write(
        self,
        verdicts: Sequence[Verdict],
        gates: Sequence[KnownGate] = (),
        provenance: Provenance | None = None,
        policy_changes: Sequence[str] = (),
    ) -> None:
        """Write all of them; an ``OutputError`` at the end names those that could not be written."""
        from pytest_riskguard.reports import files
        from pytest_riskguard.reports.json import dumps

        about: dict[str, Any] = {"gates": gates, "provenance": provenance, "policy_changes": policy_changes}
        failed = []
        for kind, option, path in self._files():
            try:
                files.write(path, verdicts, **about, kind=kind, charts=self.charts)
            except OSError as error:
                failed.append(f"{option} {path}: cannot write ({error.strerror})")
        if self.on_stdout:
            click.echo(dumps(verdicts, **about), nl=False)
        if failed:
            raise OutputError("; ".join(failed))

    def finish(self, shown: Section, json: str, *, note: str = "", problem: str = "") -> ExitStatus:
        """Print a report and a ``note``, write what was asked for, and return the exit status: 3 with a ``problem``.

        Standard output belongs to the JSON where that goes there.
        """
        from pytest_riskguard.reports import files

        click.echo(f"{shown.to_text(terminal_width())}\n{note}".rstrip("\n"), err=self.on_stdout)
        if self.on_stdout:
            click.echo(json, nl=False)
        for kind, option, path in self._files():
            text = json
            if kind is files.MARKDOWN:
                text = shown.to_markdown()
            elif kind is files.HTML:
                text = shown.to_page()
            write_text(text, path, option=option)
        if not problem:
            return ExitStatus.PASSED
        click.echo(f"Error: {problem}", err=True)
        return ExitStatus.INCOMPARABLE


#: The reports of a command that judges.
report_options = output_options("the report", "html", "markdown", "junit")
#: How much to print.
detail_options = options(
    flag("-v", "--verbose", help="Show the statistics, and all topics."),
    flag("-q", "--quiet", help="One line per gate."),
)


def ensure_apart(option: str, path: Path | None, *inputs: Path) -> None:
    """Check that an output is not a file that the command reads."""
    if path is not None and path.is_file() and any(file.exists() and path.samefile(file) for file in inputs):
        raise UsageError(f"{option} {path} would overwrite the file that this command reads; name another file")


def write_text(text: str, path: Path | None, *, option: str) -> None:
    """Write a text to the file that an option names, or to standard output."""
    from pytest_riskguard.reports import files

    if path is None:
        click.echo(text, nl=False)
        return
    try:
        files.write_text(path, text)
    except OSError as error:
        raise unwritable(f"{option} {path}", error) from None


def unwritable(where: str, error: OSError) -> RiskguardError:
    """The error for a file that could not be written: where the path is wrong, that of a wrong option."""
    kind = OutputError if error.errno in UNWRITABLE else UsageError
    return kind(f"{where}: cannot write ({error.strerror})")


def terminal_width() -> int:
    """Columns to print in."""
    return max(shutil.get_terminal_size().columns, 40)


def show(
    verdicts: Sequence[Verdict],
    *,
    verbose: bool,
    quiet: bool,
    to_stderr: bool,
    gates: Sequence[KnownGate] = (),
    notes: Sequence[str] = (),
    complete: bool = True,
    roles: str | None = None,
    policy_changes: Sequence[str] = (),
) -> None:
    """Print the answer of several gates, the verdicts, the gates without one and ``notes``.

    ``roles`` says before all else what was compared with what. Where not every gate was asked for, the run is not
    ``complete``, and has no answer.
    """
    from pytest_riskguard.reports import comparisons
    from pytest_riskguard.reports.terminal.failure import (
        explain,
        first_warnings,
        most_topics,
        one_line,
        remarks,
        repeats,
        typed,
    )
    from pytest_riskguard.reports.terminal.layout import wrapped
    from pytest_riskguard.reports.words import word
    from pytest_riskguard.run_context import Detail, Screen

    screen = Screen(Detail.EVERYTHING if verbose else Detail.BRIEF, terminal_width())
    say = partial(click.secho, err=to_stderr)
    if not quiet:
        if roles is not None:
            say(roles)
        if len(verdicts) > 1 and complete:
            say(comparisons.answer(verdicts, gates).title, bold=True)
        notes = [*remarks(verdicts), *notes]
    judged = complete and not comparisons.missing(gates)
    failures, same_as = comparisons.failures_before(gates), repeats(verdicts, most=most_topics(screen))
    before, messages = set[str | None](), set[str]()
    for place, verdict in enumerate(verdicts):
        if quiet:
            text = f"{_systems(verdict)}: {one_line(typed(verdict), after_word=True)}"
            lines = [text, *first_warnings(verdict, screen, messages)]
        else:
            first = verdicts[same_as[place]].gate if place in same_as else None
            context: dict[str, Any] = {"said": messages, "run": verdicts, "complete": judged, "same_as": first}
            headline, *rest = explain(verdict, screen, after_word=True, **context).splitlines()
            is_again = verdict.problem is not None and verdict.problem in before
            lines = [headline, f"  {_systems(verdict)}", *([] if is_again else rest)]
        before.add(verdict.problem)
        messages |= {warning.message for warning in verdict.warnings}
        styled = click.style(word(verdict).upper(), fg=_COLOURS.get(word(verdict), "yellow"), bold=True)
        say("\n".join([f"{styled}{comparisons.after(failures.get(place))} {lines[0]}", *lines[1:]]))
    for line in comparisons.summary(gates):
        say(line)
    for line in policy_changes:
        say(click.wrap_text(line, screen.width, "", "    "), fg="yellow")
    for line in wrapped([clean(note, limit=MAX_NOTE) for note in notes], width=screen.width):
        say(line)


def _systems(verdict: Verdict) -> str:
    """``no-risk: new against prod``; a gate without a name of its own (``compare``) is the systems alone."""
    named = "" if verdict.gate == verdict.kind else f"{clean(verdict.gate, limit=MAX_NAME)}: "
    return f"{named}{clean(verdict.candidate, limit=MAX_NAME)} against {listed(verdict.baselines, most=3)}"


def typed_command() -> str:
    """The command as it was typed."""
    words = [w if w.isprintable() else clean(w, limit=10_000) for w in click.get_current_context().obj]
    return f"riskguard {shlex.join(words)}"


def present(
    verdicts: Sequence[Verdict],
    *,
    outputs: Outputs,
    folder: Path,
    gates: Sequence[KnownGate] = (),
    places: Sequence[tuple[Path, int]] = (),
    notes: Sequence[str] = (),
    config: Path | None = None,
    **shown: Any,
) -> ExitStatus:
    """Show and write the verdicts, and return the exit status.

    ``folder`` is in the checkout that reports name; ``gates`` are all that could have been judged; ``places`` the
    file and line of each verdict; ``notes`` follow them; what else there is, ``show`` takes. ``config`` is the
    riskguard.yaml that was used: what the judged commit changed about it is said.
    """
    changes = None
    if config is not None:
        from pytest_riskguard.engine.base_commit import policy_changes

        changes = policy_changes([config])
    said = () if changes is None else changes.lines
    try:
        show(
            verdicts,
            to_stderr=outputs.on_stdout,
            notes=() if shown["quiet"] else notes,
            complete=all(gate.became == "judged" for gate in gates),
            policy_changes=said,
            **shown,
        )
    finally:  # where nobody reads what is shown, as with `head`, reports are still written
        if outputs.any:
            from pytest_riskguard.build import report_date, this_build
            from pytest_riskguard.reports.provenance import provenance_of

            outputs.write(verdicts, gates, provenance_of(verdicts, this_build(folder), report_date()), said)
    if github_reads():
        from pytest_riskguard.reports.ci import github

        located: list[tuple[str | None, int | None]] = [(github.place(file), line) for file, line in places]
        located = located or [(None, None)] * len(verdicts)
        annotations = [
            github.annotation(verdict, file=file, line=line)
            for verdict, (file, line) in zip(verdicts, located, strict=True)
            if not verdict.passed
        ]
        for line in github.told(verdicts, annotations, gates=gates, policy=changes):
            click.echo(line, err=outputs.on_stdout)
    return status_of(verdicts)
