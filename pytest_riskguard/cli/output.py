"""What a command leaves behind: verdicts on the terminal, reports, annotations."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.main import UNWRITABLE, ExitStatus, OutputError, status_of
from pytest_riskguard.cli.options import FILE, Command, flag, grouped
from pytest_riskguard.errors import RiskguardError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.run_context import agent_reads, github_reads
from pytest_riskguard.text import clean, listed, program

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.reports.comparisons import KnownGate, Report
    from pytest_riskguard.reports.parts import Section

#: Characters of the name of a gate or a system, and of a line below the verdicts.
MAX_NAME, MAX_NOTE = 60, 1000
_COLOURS = {"pass": "green", "fail": "red", "incomparable": "red"}
#: A report that a command may write so that its queries can be explained.
SUGGESTED = "riskguard-report.json"
#: What stands for standard output, which then belongs to the JSON and to nothing else.
STDOUT = Path("-")


def output_options(what: str, *suffixes: str) -> Callable[[Command], Command]:
    """``--output``, repeatable, handed over as ``outputs``, an ``Outputs``.

    ``what`` is written, such as "the figures"; ``suffixes`` are its own.
    """
    known = ", ".join((".json", ".html (needs the extra [report])", *suffixes))
    help = f"Write {what} here, in the format of the suffix: {known}; - is JSON on standard output. Repeatable."
    option = click.option("-o", "--output", "paths", type=FILE, multiple=True, metavar="PATH|-", help=help)
    return grouped("outputs", partial(Outputs, of_verdicts=".md" in suffixes, suffixes=suffixes), option)


@frozen
class Outputs:
    """The files that a command was asked to write; ``output_options`` gives it to a command.

    Those ``of_verdicts`` have any format of reports, all others one of a ``Section``.
    """

    paths: tuple[Path, ...] = ()
    of_verdicts: bool = False
    suffixes: tuple[str, ...] = ()

    @property
    def on_stdout(self) -> bool:
        """Whether standard output belongs to the JSON, and to nothing else."""
        return STDOUT in self.paths

    @property
    def files(self) -> tuple[Path, ...]:
        """Those that are no standard output."""
        return tuple(path for path in self.paths if path != STDOUT)

    @property
    def report(self) -> str | None:
        """The first JSON report."""
        return next((str(path) for path in self.files if path.suffix.lower() == ".json"), None)

    @property
    def kept_in(self) -> tuple[Path, ...]:
        """The folders beside JSON reports, for answers that are in no file."""
        from pytest_riskguard.reports.kept_runs import folders

        return folders(self.files)

    def withdraw(self) -> None:
        """Remove those that an earlier run left, first of all: whatever ends this run, none stands for it."""
        from pytest_riskguard.reports import files

        for path in self.files:
            try:
                files.withdraw(path)
            except OSError as error:
                raise unwritable(path, error) from None

    def check(self, *inputs: Path) -> None:
        """Check, before there is anything to write, that all of them can be made, and that none replaces an input."""
        from pytest_riskguard.reports import files

        for path in self.files:
            ensure_apart(path, *inputs)
            try:
                if not self.of_verdicts and path.suffix.lower() not in files.OF_SECTIONS:
                    *known, last = ".json", ".html", *self.suffixes
                    raise UsageError(f"expected {', '.join(known)} or {last}")
                files.check(path)
            except UsageError as error:
                raise UsageError(f"--output {path}: {error}") from None

    def write(self, report: Report) -> None:
        """Write all of them in the formats of a report."""
        from pytest_riskguard.reports import files
        from pytest_riskguard.reports.json import dumps

        self._write(lambda path: files.write(path, report), lambda: dumps(report))

    def finish(self, shown: Section, json: str, *, problem: str = "", page: Section | None = None) -> ExitStatus:
        """Print a report, write what was asked for, return the exit status: 3 with a ``problem``.

        ``page`` is the report of a page, where that has more to show.
        """
        from pytest_riskguard.reports import files

        click.echo(shown.to_text(terminal_width()).rstrip("\n"), err=self.on_stdout)

        def content(path: Path) -> str:
            return json if files.format_of(path) == files.JSON else (page or shown).to_page()

        self._write(lambda path: files.write_text(path, content(path)), lambda: json)
        if not problem:
            return ExitStatus.PASSED
        click.echo(f"Error: {problem}", err=True)
        return ExitStatus.INCOMPARABLE

    def _write(self, to_file: Callable[[Path], None], json: Callable[[], str]) -> None:
        """Write all of them; an ``OutputError`` at the end names those that could not be written."""
        failed = []
        for path in self.files:
            try:
                to_file(path)
            except OSError as error:
                failed.append(f"--output {path}: cannot write ({error.strerror})")
        if self.on_stdout:
            click.echo(json(), nl=False)
        if failed:
            raise OutputError("; ".join(failed))


@frozen
class Detail:
    """How much to print."""

    verbose: bool = False
    quiet: bool = False
    brief: bool = False

    @property
    def is_brief(self) -> bool:
        """Whether standard output gets the short JSON: asked for, or by default where an agent reads it."""
        return not (self.verbose or self.quiet) and (self.brief or agent_reads())


#: Handed over as ``detail``.
detail_options: Callable[[Any], Any] = grouped(
    "detail",
    Detail,
    flag("-v", "--verbose", help="Show the statistics, and more topics."),
    flag("-q", "--quiet", help="One line per gate."),
    flag("--brief", help="Print short JSON, as for agents, which get it by default; -q and -v win."),
)


def ensure_apart(path: Path | None, *inputs: Path) -> None:
    """Check that an output is not a file that the command reads."""
    if path is not None and path.is_file() and any(file.exists() and path.samefile(file) for file in inputs):
        raise UsageError(f"{path} would overwrite the file that this command reads; name another file")


def write_text(text: str, path: Path | None) -> None:
    """Write a text to a file, or to standard output."""
    from pytest_riskguard.reports import files

    if path is None:
        click.echo(text, nl=False)
        return
    try:
        files.write_text(path, text)
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: Path, error: OSError) -> RiskguardError:
    """The error for a file that could not be written: where the path is wrong, that of a wrong option."""
    kind = OutputError if error.errno in UNWRITABLE else UsageError
    return kind(f"{path}: cannot write ({error.strerror})")


def terminal_width() -> int:
    """Columns to print in."""
    return max(shutil.get_terminal_size().columns, 40)


def show(
    verdicts: Sequence[Verdict],
    detail: Detail,
    *,
    to_stderr: bool = False,
    gates: Sequence[KnownGate] = (),
    notes: Sequence[str] = (),
    roles: str | None = None,
    policy_changes: Sequence[str] = (),
) -> None:
    """Print the answer of several gates, the verdicts, the gates without one and ``notes``.

    ``roles`` says before all else what was compared with what. Without every gate there
    is no answer; a quiet one leaves a line for each verdict.
    """
    from pytest_riskguard.reports import comparisons
    from pytest_riskguard.reports.parts import wrapped
    from pytest_riskguard.reports.standings import standings
    from pytest_riskguard.reports.terminal import ages, coded, explain, one_line, remarks, repeats, typed
    from pytest_riskguard.reports.words import unjudged, word
    from pytest_riskguard.run_context import Screen

    screen, verdicts = Screen(terminal_width(), detail.verbose), comparisons.by_service(verdicts, gates)
    say = partial(click.secho, err=to_stderr)
    if not detail.quiet:
        if roles is not None:
            say(roles)
        if len(verdicts) > 1 and not any(gate.became == "deselected" for gate in gates):
            say(comparisons.answer(verdicts, gates).title, bold=True)
        for table in standings(verdicts, gates):
            say("\n".join(table.filled.lines(screen.width)))
    complete = not comparisons.missing(gates)
    failures, same_as = comparisons.failures_before(gates), repeats(verdicts)
    messages = set[object]()  # of the verdicts above
    for place, *others in comparisons.said_once(verdicts):
        verdict = verdicts[place]
        systems = _systems(verdict, *(verdicts[other] for other in others))
        if detail.quiet:
            text = f"{systems}: {one_line(typed(verdict), after_word=True)}"
            new = [warning for warning in verdict.first_warnings if warning.message not in messages]
            lines = [text, *(f"  warning: {said}" for said in coded(new))]
        else:
            explained = explain(
                verdict,
                screen,
                after_word=True,
                said=messages,
                run=verdicts,
                complete=complete,
                same_as=same_as.get(place),
            )
            headline, *rest = explained.splitlines()
            lines = [headline, f"  {systems}", *rest]
        messages |= {ages(verdict), *(warning.message for warning in verdict.warnings)}
        if verdict.commands is not None and verdict.commands.judge_next:
            messages.add((verdict.candidate, unjudged(verdict)))
        styled = click.style(word(verdict).upper(), fg=_COLOURS.get(word(verdict), "yellow"), bold=True)
        say("\n".join([f"{styled}{comparisons.after(failures.get(place))} {lines[0]}", *lines[1:]]))
    for line in comparisons.summary(gates):
        say(line)
    for line in policy_changes:
        say(click.wrap_text(line, screen.width, "", "    "), fg="yellow")
    if not detail.quiet:
        notes = [clean(note, limit=MAX_NOTE) for note in (*remarks(verdicts), *notes)]
        for line in wrapped(notes, width=screen.width):
            say(line)


def _systems(verdict: Verdict, *others: Verdict) -> str:
    """``no-risk, tail: new against prod``; a gate without a name of its own (``compare``) is the systems alone."""
    gates = ", ".join(clean(one.gate, limit=MAX_NAME) for one in (verdict, *others))
    named = "" if gates == verdict.kind else f"{gates}: "
    return f"{named}{clean(verdict.candidate, limit=MAX_NAME)} against {listed(verdict.baselines, most=3)}"


def typed_command() -> str:
    """The command as it was typed."""
    return clean(f"{program()} {shlex.join(click.get_current_context().obj)}", limit=10_000)


def present(
    verdicts: Sequence[Verdict],
    *,
    outputs: Outputs,
    detail: Detail,
    gates: Sequence[KnownGate] = (),
    notes: Sequence[str] = (),
    configs: Sequence[Path] = (),
    roles: str | None = None,
) -> ExitStatus:
    """Show and write the verdicts, and return the exit status.

    ``gates`` are all that could have been judged; ``notes`` and ``roles`` are as ``show`` takes them. ``configs`` are
    the riskguard.yaml that were used: reports name the commit of their checkout, and what this changed about them is
    said.
    """
    from pytest_riskguard.reports import brief as short
    from pytest_riskguard.reports.comparisons import Report

    is_short = not outputs.on_stdout and detail.is_brief
    status = status_of(verdicts)
    changes: tuple[str, ...] = ()
    if configs:
        from pytest_riskguard.config.base_commit import policy_changes

        changes = policy_changes(configs)
    report = Report(verdicts, gates, policy_changes=changes)
    named = report.shown.verdicts
    try:
        if is_short:
            again = typed_command() + ("" if outputs.report else f" -o {SUGGESTED}")
            click.echo(short.brief(report, status, notes=notes, command=again), nl=False)
        else:
            show(named, detail, to_stderr=outputs.on_stdout, notes=notes, roles=roles, policy_changes=changes)
    finally:  # where nobody reads what is shown, as with `head`, reports are still written
        if outputs.paths:
            from pytest_riskguard.reports.provenance import dated

            outputs.write(dated(report, configs[0].parent if configs else Path.cwd()))
    if github_reads():
        from pytest_riskguard.reports.ci import github

        where = {n: (github.place(Path(gate.file)), gate.line) for gate in gates for n in gate.verdicts}
        annotations = [
            github.annotation(verdict, *where.get(n, ())) for n, verdict in enumerate(named) if not verdict.passed
        ]
        for line in github.told(report, annotations):
            click.echo(line, err=outputs.on_stdout or is_short)
    return status
