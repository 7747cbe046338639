"""The entry point: commands put together, every way to end mapped to its exit status."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard import __version__
from pytest_riskguard.errors import ConfigError, DataError, RiskguardError
from pytest_riskguard.text import clean, program

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: Errors of the system when output cannot be stored (a full disk) or nobody reads it.
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)


class OutputError(RiskguardError):
    """What a command found out could not be written, such as to a full disk; its exit status is 3."""


class ExitStatus(IntEnum):
    """How a command ended; with several gates INCOMPARABLE wins over FAILED, and FAILED over PASSED."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    INCOMPARABLE = 3
    INTERNAL = 70
    INTERRUPTED = 130


#: What each one means, as ``riskguard --help`` says it.
MEANINGS = {
    ExitStatus.PASSED: "every gate passed",
    ExitStatus.FAILED: "a gate failed or is inconclusive",
    ExitStatus.USAGE: "wrong usage or configuration",
    ExitStatus.INCOMPARABLE: "data that cannot be compared, or output that cannot be written",
    ExitStatus.INTERNAL: "internal error",
    ExitStatus.INTERRUPTED: "interrupted",
}


def status_of(verdicts: Iterable[Verdict]) -> ExitStatus:
    """The status of a command that gave these verdicts."""
    verdicts = list(verdicts)
    if any(verdict.outcome == "incomparable" for verdict in verdicts):
        return ExitStatus.INCOMPARABLE
    return ExitStatus.PASSED if all(verdict.passed for verdict in verdicts) else ExitStatus.FAILED


#: Characters of a line of an error.
MAX_LINE = 10_000
#: Options as others call them, and their names here.
CALLED = {
    **dict.fromkeys(("--metric", "--metrics"), "--measure"),
    **dict.fromkeys(("--judgements", "--judgments", "--ratings", "--labels"), "--qrels"),
    "--queries": "--topics",
}
#: Commands that need numpy whatever they are asked.
COMPUTING = ("accept", "check", "compare", "diff", "judge-next", "power")


class LazyCommand(click.Command):
    """Stands for a command until it is called: its name, where its function is, and its first line of help."""

    def __init__(self, name: str, place: str, help: str) -> None:
        super().__init__(name, help=help)
        self._place = place

    def loaded(self) -> click.Command:
        """The command itself."""
        module, _, attribute = self._place.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


class LazyGroup(click.Group):
    """A group that lists its commands without loading them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, those of plugins among them, sorted."""
        return sorted([*super().list_commands(ctx), *_of_plugins()])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """A command by its name; plugins are loaded for names that are not our own."""
        return super().get_command(ctx, name) or _of_plugins().get(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Load the command that is called."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in COMPUTING:
            _load_numpy()
        return name, command.loaded() if isinstance(command, LazyCommand) else command, rest

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an error says where riskguard.yaml names its file, its commands where baselines are."""
        try:
            return super().invoke(ctx)
        except RiskguardError as error:
            from pytest_riskguard.cli.options import named_here, place_words

            if isinstance(error, DataError):
                error.fault += named_here(error)
            if error.remedy is not None:
                error.remedy = error.remedy.here(place_words)
            raise


def _load_numpy() -> None:
    """Load numpy without the threads of its linear algebra, which are half of the time that it takes to load."""
    name = "OPENBLAS_NUM_THREADS"
    if name not in os.environ:
        os.environ[name] = "1"
        import_module("numpy")
        del os.environ[name]  # the programs that a command starts decide for themselves


def _of_plugins() -> dict[str, click.Command]:
    """The commands of all plugins, by their names."""
    from pytest_riskguard import plugins

    return {name: command for name, (_, command) in plugins.added("riskguard_commands", cli.commands).items()}


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Judge whether a ranking change is significantly risky.\n\n"
    f"Exit status: {'; '.join(f'{status:d} {meaning}' for status, meaning in MEANINGS.items())}.",
)
@click.version_option(__version__, prog_name="riskguard")
def cli() -> None:
    """The group of all commands."""


for name, place, about in (
    ("accept", "accept:accept", "Make what a JSON report judged the new baseline."),
    ("baseline", "baseline:baseline", "Store and manage baselines, the runs to judge against."),
    ("check", "check:check", "Judge the gates of riskguard.yaml, as pytest does."),
    ("comment", "report:comment", "Write the comment on a pull request, as Markdown."),
    ("compare", "compare:compare", "Judge runs against baselines."),
    ("diff", "diff:diff", "Show what changed between two runs, without judgements."),
    ("explain", "explain:explain", "Say everything that is known about one query."),
    ("init", "init:init", "Write a first riskguard.yaml."),
    ("judge-next", "judge_next:judge_next", "List the documents whose judgement would settle a verdict."),
    ("power", "power:power", "Plan how many topics a gate needs."),
    ("report", "report:report", "Write the verdicts of a JSON report in other formats."),
    ("retrieve", "retrieve:retrieve", "Write the answers of the live candidate to RUN."),
    ("show", "report:show", "Print the verdicts of a JSON report."),
):
    cli.add_command(LazyCommand(name, f"pytest_riskguard.cli.{place}", about))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A console that cannot show a character of a query must not hide the verdict.
            stream.reconfigure(errors="backslashreplace")
    gc.set_threshold(10**6)  # what a command reads stays; looking for cycles in it would find none
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its status instead of exiting."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        Path.cwd()
    except OSError:
        return _say(ExitStatus.USAGE, "Error: the working folder is gone; go to a folder that is there")
    try:
        status = cli.main(args=arguments, prog_name=program(), standalone_mode=False, obj=arguments)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _say(ExitStatus.INTERRUPTED, "interrupted")
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and (name := CALLED.get(error.option_name)):
            error = click.UsageError(f"{error.message} It is called {name}.", error.ctx)
        shown = io.StringIO()
        error.show(file=shown)
        message = error.format_message()
        text = shown.getvalue().replace(message, clean(message, limit=MAX_LINE))
        return _say(ExitStatus.USAGE, *text.splitlines())
    except ConfigError as error:  # all errors of the file, one a line, whatever the file is called
        return _say(ExitStatus.USAGE, *f"Error: {error}".split("\n"))
    except RiskguardError as error:
        is_of_data = isinstance(error, DataError | OutputError)
        return _say(ExitStatus.INCOMPARABLE if is_of_data else ExitStatus.USAGE, f"Error: {error}")
    except SystemExit:  # click exits where the program that reads the output has ended
        return _output_lost(errno.EPIPE)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in UNWRITABLE:
            return _output_lost(error.errno)
        if os.environ.get("RISKGUARD_TRACEBACK"):
            raise
        if isinstance(error, OSError):
            where = "" if error.filename is None else f"{error.filename}: "
            return _say(ExitStatus.INCOMPARABLE, f"Error: {where}{error.strerror}")
        return _say(
            ExitStatus.INTERNAL,
            f"Internal error: {type(error).__name__}: {error}",
            "This is a bug in riskguard. Please report it with the traceback that RISKGUARD_TRACEBACK=1 shows.",
        )
    return int(status or 0)


def _output_lost(number: int) -> int:
    """End where nothing can be printed: to ``head``, which has ended, nobody wants to hear of it."""
    with suppress(OSError, AttributeError):  # without a file behind it
        # The interpreter would report the error again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    lines = [] if number == errno.EPIPE else [f"Error: cannot write the output: {os.strerror(number)}"]
    return _say(ExitStatus.INCOMPARABLE, *lines)


def _say(status: int, *lines: str) -> int:
    """Print why a command ends, and return its status."""
    with suppress(OSError):  # the status says it too
        for line in lines:  # a file name in it must not begin a line or move the cursor
            click.echo(clean(line, limit=MAX_LINE), err=True)
    return status
