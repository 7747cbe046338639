"""The entry point: commands put together, every way to end mapped to its exit status."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from pytest_riskguard import run_context
from pytest_riskguard._version import __version__
from pytest_riskguard.cli.baseline import baseline
from pytest_riskguard.cli.ci import badge, comment
from pytest_riskguard.cli.convert import convert
from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.init import init, schema
from pytest_riskguard.cli.judge_next import judge_next
from pytest_riskguard.cli.judging.check import check
from pytest_riskguard.cli.judging.compare import compare
from pytest_riskguard.cli.judging.retrieve import retrieve
from pytest_riskguard.cli.output import output_failed
from pytest_riskguard.cli.pieces import merge, score
from pytest_riskguard.cli.pool import pool
from pytest_riskguard.cli.power import power
from pytest_riskguard.cli.reading import ProgressLine
from pytest_riskguard.cli.reports import report, show
from pytest_riskguard.cli.trend import trend
from pytest_riskguard.errors import ConfigError, DataError, RiskguardError
from pytest_riskguard.text import clean

MAX_LINE = 10_000


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Judge whether a ranking change is significantly risky.\n\n"
    f"Exit status: {'; '.join(f'{status:d} {status.meaning}' for status in ExitStatus)}.",
)
@click.version_option(__version__, prog_name="riskguard")
def cli() -> None:
    """The group of all commands."""


for command in (
    check,
    compare,
    baseline,
    convert,
    init,
    schema,
    judge_next,
    power,
    retrieve,
    pool,
    show,
    report,
    trend,
    comment,
    badge,
    score,
    merge,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its status."""
    _keep_standard_streams_free()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A console that cannot show a character of a query must not hide the verdict.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its status instead of exiting."""
    failures: list[str] = []
    with run_context.changed(failure_listeners=(failures.append,), workers=None, progress=ProgressLine()):
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
    if not failures:
        return status
    return _say(max(status, ExitStatus.INCOMPARABLE), *dict.fromkeys(failures))


def _run(arguments: list[str]) -> int:
    try:
        status = cli.main(args=arguments, prog_name="riskguard", standalone_mode=False, obj=arguments)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _say(ExitStatus.INTERRUPTED, "interrupted")
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(file=shown)
        message = error.format_message()
        text = shown.getvalue().replace(message, clean(message, limit=MAX_LINE))
        return _say(ExitStatus.USAGE, *text.splitlines())
    except DataError as error:
        return _say(ExitStatus.INCOMPARABLE, f"Error: {error}")
    except ConfigError as error:  # all errors of the file, one a line, whatever the file is called
        lines = str(error).replace(str(error.path), clean(str(error.path), limit=MAX_LINE))
        return _say(ExitStatus.USAGE, *f"Error: {lines}".split("\n"))
    except RiskguardError as error:
        return _say(ExitStatus.USAGE, f"Error: {error}")
    except SystemExit:  # click exits where the program that reads the output has ended
        output_failed(BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)))
        return ExitStatus.INCOMPARABLE
    except Exception as error:
        if output_failed(error):
            return ExitStatus.INCOMPARABLE
        if os.environ.get("RISKGUARD_TRACEBACK"):
            raise
        return _say(
            ExitStatus.INTERNAL,
            f"Internal error: {type(error).__name__}: {error}",
            "This is a bug in riskguard. Please report it with the traceback that RISKGUARD_TRACEBACK=1 shows.",
        )
    return int(status or 0)


def _say(status: int, *lines: str) -> int:
    with suppress(OSError):  # the status says it too
        for line in lines:  # a file name in it must not begin a line or move the cursor
            click.echo(clean(line, limit=MAX_LINE), err=True)
    return status


def _keep_standard_streams_free() -> None:
    """Where a standard stream is closed, keep files that are opened later from taking its place."""
    while (descriptor := os.open(os.devnull, os.O_RDONLY)) <= 2:
        if descriptor == 1:  # writing to it fails, and says so
            sys.stdout = open(descriptor, "w", closefd=False)  # noqa: SIM115
    os.close(descriptor)
