"""``riskguard budget``: what is left of the budget of looks at a collection, and the ledger that records them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.options import FILE, config_option, the_config
from pytest_riskguard.cli.output import unwritable
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.looks import BOUNDED_LOOKS, expected_false_alarms
from pytest_riskguard.text import clean, counted, percent

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.gates.looks import Looks


@click.command()
@config_option
@click.option(
    "--record",
    "reports",
    type=FILE,
    multiple=True,
    metavar="REPORT",
    help="Add the looks of this JSON report to the ledger; those that it has cost nothing. Repeatable.",
)
def budget(reports: tuple[Path, ...]) -> int:
    """Show what is left of the budget of looks at the collection.

    Judging only reads the ledger that riskguard.yaml names, so the same candidate gets the same verdict again. With
    --record the looks of reports are added to it; commit it.
    """
    from pytest_riskguard.config.load import load_config
    from pytest_riskguard.engine.budget import append, collection_of, looks_of, read_ledger
    from pytest_riskguard.reports.json import read

    settings = load_config(the_config(), require_gates=False)
    if settings.budget is None:
        raise UsageError(f"{settings.path}: has no budget; add `budget: 50`")
    made = [look for report in reports for look in looks_of(read(report).verdicts)]
    if reports:
        try:
            added = append(settings.ledger, made)
        except OSError as error:
            raise unwritable(settings.ledger, error) from None
        click.echo(f"recorded {counted(added, 'look')}; {counted(len(made) - added, 'look')} known already")
    recorded = read_ledger(settings.ledger)
    for line in _lines(settings, settings.budget, recorded, collection_of(settings)):
        click.echo(line)
    return ExitStatus.PASSED


def _lines(settings: Config, expected: int, recorded: Looks, collection: str) -> Sequence[str]:
    """What is spent and left, and what is promised."""
    looks, promise = recorded.at(collection), _promise(expected)
    if not looks:
        return [f"{settings.ledger.name}: no look at this collection yet; about {expected} are expected", promise]
    left = 1 - recorded.spent(collection)
    share = recorded.next(collection, (), "", looks=expected).share
    passed = sum(not look.failed for look in looks)
    lines = [
        f"{counted(len(looks), 'look')}, {passed} without a failure, of about {expected}; {percent(left, 1)} of "
        f"the budget is left, of which the next look may spend {percent(share, 3)}"
    ]
    for gates, number in Counter(look.gates for look in looks).items():
        lines.append(f"  {', '.join(map(clean, gates))}: {counted(number, 'look')}")
    return [*lines, promise]


def _promise(looks: int) -> str:
    """What a budget for so many looks promises."""
    expected = expected_false_alarms(looks)
    if looks <= BOUNDED_LOOKS:
        return f"{looks} harmless looks raise a false alarm in at most {percent(expected, 1)} of cases (simulated)"
    return (
        f"beyond {BOUNDED_LOOKS} looks nothing bounds false alarms: {looks} harmless looks raise at most "
        f"{expected:.2f} on average (simulated)"
    )
