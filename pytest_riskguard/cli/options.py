"""Options that several commands have: the systems that a question is about, and the question itself.

What a gate can be asked comes from ``gates.kinds``; an option that is declared there is one of ``compare`` as well.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from pytest_riskguard.cli.inputs import DEFAULT_MEASURE, Collection, SliceEntries
from pytest_riskguard.cli.parameters import NamedPathsType, NamedPathType, NumberType, file_option
from pytest_riskguard.gates.kinds import COMPUTED, KINDS, MIN_SLICE_TOPICS, MIN_TOPICS, OPTIONS, kinds_with
from pytest_riskguard.gates.options import Number, OneOf, Texts, TrueOrFalse

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]

#: Options of a gate that ``compare`` takes: all but slices, of which it takes several.
ALL_OPTIONS = tuple(name for name in OPTIONS if name != "slice")
#: Those that every gate with an interval has.
INTERVAL_OPTIONS = ("alpha", "level", "method", "tolerance", "missing")


def gate_options(*names: str, several: bool = True) -> Callable[[Command], Command]:
    """Options of a gate, by the names in ``gates.kinds``; ``several`` alphas are handed over as ``alphas``."""
    return lambda command: _with(command, [_gate_option(name, several=several) for name in names])


def gate_kind_option(kinds: Sequence[str] = tuple(KINDS)) -> Callable[[Command], Command]:
    """``--gate``."""
    kind = click.Choice(kinds)
    return click.option(
        "--gate", "kind", type=kind, default=kinds[0], show_default=True, help="The question of the gate."
    )


def collection_options(command: Command) -> Command:
    """``--qrels``, ``--topics``, ``--store``, ``--scores`` and ``--measure``, handed over as ``collection``."""
    return _with(_with_collection(command), _COLLECTION)


def run_options(command: Command) -> Command:
    """The same without ``--scores``, for what needs the runs themselves."""
    return _with(_with_collection(command), (*_COLLECTION[:3], _COLLECTION[4]))


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
    """``--slice`` and ``--smallest-slice``, handed over as ``slices``."""

    @functools.wraps(command)
    def with_slices(*, slices: tuple[str, ...], smallest_slice: int | None, **given: Any) -> Any:
        return command(slices=SliceEntries(slices, smallest_slice), **given)

    decorated: Any = with_slices
    with_options: Command = _with(decorated, _SLICES)
    return with_options


def computed_options(command: Command) -> Command:
    """``--baseline-mean``, ``--baseline-median`` and ``--baseline-max``, and whether they count the candidate."""
    return _with(command, _COMPUTED)


def _gate_option(name: str, *, several: bool) -> Option[Any]:
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


def _with_collection(command: Command) -> Command:
    @functools.wraps(command)
    def with_collection(
        *,
        qrels: Path | None,
        topics: Path | None,
        store: Path | None,
        measures: tuple[str, ...],
        scores: bool = False,
        **given: Any,
    ) -> Any:
        return command(collection=Collection(qrels, topics, store, measures, scores), **given)

    decorated: Any = with_collection
    wrapped: Command = decorated
    return wrapped


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
