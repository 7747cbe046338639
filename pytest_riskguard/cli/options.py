"""Options that several commands have: the systems that a question is about, and the question itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from pytest_riskguard.cli.inputs import DEFAULT_MEASURE
from pytest_riskguard.cli.parameters import FiniteFloat, NamedPathsType, NamedPathType, file_option
from pytest_riskguard.gates.kinds import (
    COMPUTED,
    MAX_ALPHA,
    MAX_LEVEL,
    METHODS,
    MIN_LEVEL,
    MIN_SLICE_TOPICS,
    MIN_TOPICS,
    MISSING,
    RESPONSES,
)

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]


def collection_options(command: Command) -> Command:
    """``--qrels``, ``--topics``, ``--store``, ``--scores`` and ``--measure``."""
    return _with(command, _COLLECTION)


def run_options(command: Command) -> Command:
    """The same without ``--scores``, for what needs the runs themselves."""
    return _with(command, (*_COLLECTION[:3], _COLLECTION[4]))


def pool_options(command: Command) -> Command:
    """``--alpha`` and ``--missing``."""
    return _with(command, (_QUESTION[0], _QUESTION[-1]))


def question_options(command: Command) -> Command:
    """``--alpha``, ``--level``, ``--method``, ``--tolerance`` and ``--missing``."""
    return _with(command, _QUESTION)


def baseline_option(*, required: bool) -> Callable[[Command], Command]:
    """``--baseline``, repeatable."""
    return click.option(
        "--baseline",
        "baselines",
        type=NamedPathType(),
        multiple=True,
        required=required,
        metavar="[NAME=]RUN",
        help="A run file, or the name of a stored baseline. Repeatable.",
    )


def slice_options(command: Command) -> Command:
    """``--slice`` and ``--smallest-slice``."""
    return _with(command, _SLICES)


def computed_options(command: Command) -> Command:
    """``--baseline-mean``, ``--baseline-median`` and ``--baseline-max``, and whether they count the candidate."""
    return _with(command, _COMPUTED)


def leniency_options(command: Command) -> Command:
    """``--on-churn`` and ``--max-mde``."""
    return _with(command, _LENIENCY)


def _with(command: Command, options: Sequence[Option[Command]]) -> Command:
    for option in reversed(options):  # as decorators the last is applied first
        command = option(command)
    return command


_COLLECTION: tuple[Any, ...] = (
    file_option("--qrels", help="Judgements. [default: riskguard.yaml's]"),
    file_option(
        "--topics",
        help="Query texts, tags and weights of topics. [default: riskguard.yaml's, unless --qrels is given]",
    ),
    file_option("--store", help="Folder of stored baselines. [default: riskguard.yaml's]"),
    click.option("--scores", is_flag=True, help="The systems are tables of per-topic scores (CSV, TSV), not runs."),
    click.option(
        "--measure",
        "measures",
        multiple=True,
        metavar="MEASURE",
        help=f"A measure. Repeatable. [default: {DEFAULT_MEASURE}; with --scores, every column of the first table]",
    ),
)
_COMPUTED: tuple[Any, ...] = (
    *(
        click.option(
            f"--baseline-{kind}",
            type=NamedPathsType(),
            multiple=True,
            metavar="A,B,...",
            help=f"A baseline computed topic by topic: the {word} of these runs or stored baselines. "
            "Repeatable. Not for georisk_not_worse.",
        )
        for kind, word in zip(COMPUTED, ("mean", "median", "best"), strict=True)
    ),
    click.option(
        "--candidate-inside",
        is_flag=True,
        help="Include the candidate among the systems of the computed baselines.",
    ),
)
_SLICES: tuple[Any, ...] = (
    click.option(
        "--slice",
        "slices",
        multiple=True,
        metavar="TAG=VALUE|TAG",
        help="Judge only the topics with this tag. TAG alone judges each of its values that has enough topics. "
        "Needs a topics file. Repeatable.",
    ),
    click.option(
        "--smallest-slice",
        type=click.IntRange(min=MIN_TOPICS),
        metavar="N",
        help=f"With --slice TAG: the fewest judged topics of a value. [default: {MIN_SLICE_TOPICS}]",
    ),
)
_QUESTION: tuple[Any, ...] = (
    click.option(
        "--alpha",
        "alphas",
        type=FiniteFloat(0, MAX_ALPHA),
        multiple=True,
        default=[1.0],
        help="A loss counts 1 + ALPHA times; ALPHA is at least 0. Repeatable. [default: 1]",
    ),
    click.option(
        "--level",
        type=FiniteFloat(MIN_LEVEL, MAX_LEVEL),
        default=0.95,
        show_default=True,
        help=f"Confidence of the two-sided interval, from {MIN_LEVEL:f} to {MAX_LEVEL:f}.",
    ),
    click.option(
        "--method",
        type=click.Choice(METHODS),
        default="auto",
        show_default=True,
        help="The interval that decides. auto is BCa; below 25 topics Student-t must pass too.",
    ),
    click.option(
        "--tolerance",
        type=FiniteFloat(0),
        default=0.0,
        show_default=True,
        help="How far below 0 URisk may lie, in units of the measure (GeoRisk: in units of GeoRisk). At least 0.",
    ),
    click.option(
        "--missing",
        type=click.Choice(MISSING),
        default="refuse",
        show_default=True,
        help="A topic that only one side's scores have: refuse the comparison, or count zero for it.",
    ),
)
_LENIENCY: tuple[Any, ...] = (
    click.option(
        "--on-churn",
        type=click.Choice(RESPONSES),
        default="fail",
        show_default=True,
        help="What happens when the gate fails only because losses weigh more.",
    ),
    click.option(
        "--max-mde",
        type=FiniteFloat(0),
        help="The gate is inconclusive unless it could have seen a loss of this size with 80 % power.",
    ),
)
