"""Options that several commands have: the systems that a question is about, and the question itself.

What a gate can be asked comes from ``gates.kinds``; an option that is declared there is one of ``compare`` as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from pytest_riskguard.cli.inputs import DEFAULT_MEASURE, Collection, SliceEntries
from pytest_riskguard.cli.parameters import NamedPathsType, NamedPathType, NumberType, file_option, grouped, options
from pytest_riskguard.gates.kinds import COMPUTED, KINDS, MIN_SLICE_TOPICS, MIN_TOPICS, OPTIONS, kinds_with
from pytest_riskguard.gates.option_types import Number, OneOf, Texts, TrueOrFalse

Command = TypeVar("Command", bound=Callable[..., Any])

#: Options of a gate that ``compare`` takes: all but slices, of which it takes several.
ALL_OPTIONS = tuple(name for name in OPTIONS if name != "slice")
#: Those that every gate with an interval has.
INTERVAL_OPTIONS = ("alpha", "level", "method", "tolerance", "missing")


def gate_options(*names: str, several: bool = True) -> Callable[[Command], Command]:
    """Options of a gate, by the names in ``gates.kinds``; ``several`` alphas are handed over as ``alphas``."""
    return options(*(_gate_option(name, several=several) for name in names))


def _gate_option(name: str, *, several: bool) -> Callable[[Any], Any]:
    known = OPTIONS[name]
    check, default = known.check, known.default
    more: dict[str, Any] = {"metavar": known.metavar, "default": default, "show_default": default is not None}
    help_text = known.help
    match check:
        case Number():
            more["type"] = NumberType(check, or_none=check.optional and default is not None)
        case OneOf():
            more["type"] = click.Choice(check.words)
        case TrueOrFalse():
            more |= {"is_flag": True, "show_default": False}
        case Texts():
            more |= {"multiple": True, "show_default": False}
            help_text += " Repeatable."
    parameter = name
    if name == "alpha" and several:
        parameter = "alphas"
        more |= {"multiple": True, "default": [default], "show_default": False}
        help_text += f" Repeatable. [default: {default:g}]"
    if len(only := kinds_with(name)) == 1:
        help_text = f"{only[0]}: {help_text[0].lower()}{help_text[1:]}"
    return click.option(known.flag, parameter, help=help_text, **more)


def gate_kind_option(kinds: Sequence[str] = tuple(KINDS)) -> Callable[[Command], Command]:
    """``--gate``."""
    kind = click.Choice(kinds)
    return click.option(
        "--gate", "kind", type=kind, default=kinds[0], show_default=True, help="The question of the gate."
    )


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
#: What the systems are scored with, handed over as ``collection``.
collection_options = grouped("collection", Collection, *_COLLECTION)
#: The same without ``--scores``, for what needs the runs themselves.
run_options = grouped("collection", Collection, *_COLLECTION[:3], _COLLECTION[4])
#: Parts of the topics, handed over as ``slices``.
slice_options = grouped(
    "slices",
    SliceEntries,
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
#: Baselines that are computed from several systems, and whether the candidate is one of these.
computed_options = options(
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
        "--candidate-inside", is_flag=True, help="Include the candidate among the systems of the computed baselines."
    ),
)
