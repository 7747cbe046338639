"""The entry point: commands put together, every way to end mapped to its exit status."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click

from pytest_riskguard._version import __version__
from pytest_riskguard.cli.baseline import baseline
from pytest_riskguard.cli.compare import compare
from pytest_riskguard.cli.init import init
from pytest_riskguard.cli.status import ExitStatus
from pytest_riskguard.errors import DataError, RiskguardError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="riskguard")
def cli() -> None:
    """Judge whether a ranking change is significantly risky.

    Exit status: 0 every gate passed; 1 a gate failed or is inconclusive; 2 usage or configuration; 3 data that cannot
    be compared; 70 internal error; 130 interrupted.
    """


cli.add_command(compare)
cli.add_command(baseline)
cli.add_command(init)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A console that has no letter for a query text is no reason to hide a verdict.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its status instead of an exit."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = cli.main(args=arguments, prog_name="riskguard", standalone_mode=False, obj=arguments)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.Abort:
        return _say("interrupted", ExitStatus.INTERRUPTED)
    except KeyboardInterrupt:
        return _say("interrupted", ExitStatus.INTERRUPTED)
    except click.ClickException as error:
        error.show(file=sys.stderr)
        return ExitStatus.USAGE
    except DataError as error:
        return _say(f"Error: {error}", ExitStatus.INCOMPARABLE)
    except RiskguardError as error:
        return _say(f"Error: {error}", ExitStatus.USAGE)
    except BrokenPipeError:
        # Whoever read our output has left; pointing stdout at nothing keeps the interpreter from saying so again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.FAILED
    except Exception as error:
        if os.environ.get("RISKGUARD_TRACEBACK"):
            raise
        return _say(
            f"Internal error: {type(error).__name__}: {error}\nThis is a fault of riskguard. Please report it with "
            "the traceback that RISKGUARD_TRACEBACK=1 shows.",
            ExitStatus.INTERNAL,
        )
    return int(status or 0)


def _say(message: str, status: ExitStatus) -> int:
    click.echo(message, err=True)
    return status
