"""Options that several commands have, and the values that they take.

What a gate can be asked comes from ``gates.kinds``; an option that is declared there is one of ``compare`` as well.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.core import ParameterSource

from pytest_riskguard.cli.reading import reading_options
from pytest_riskguard.config.load import find_config, load_config
from pytest_riskguard.formats.given_file import TIES, GivenFile, Ties
from pytest_riskguard.formats.known import added_formats, formats_of
from pytest_riskguard.formats.metadata import checked_metadata
from pytest_riskguard.formats.records import Kind
from pytest_riskguard.gates.kinds import (
    COMPUTED,
    KINDS,
    MIN_SLICE_TOPICS,
    MIN_TOPICS,
    OPTIONS,
    kinds_with,
    options_of,
)
from pytest_riskguard.gates.option_types import Number, OneOf, Texts, TrueOrFalse
from pytest_riskguard.text import did_you_mean, document_address

if TYPE_CHECKING:
    from pytest_riskguard.config.collection_settings import Collection as CollectionSettings
    from pytest_riskguard.config.schema import Config

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_MEASURE = "nDCG@10"
#: Where a context keeps what these options name.
_PLACES = "riskguard.places"
_PLACE_OPTIONS = ("--qrels", "--topics", "--store", "--config", "--qrels-format", "--topics-format")
_NAME = re.compile(r"[A-Za-z0-9._-]+\Z")
#: Options of a gate that ``compare`` takes as they are: all but ``slice``, which it takes several times.
ALL_OPTIONS = tuple(name for name in OPTIONS if name != "slice")
#: Options that every gate with an interval has.
INTERVAL_OPTIONS = ("alpha", "level", "method", "tolerance", "missing")
#: A file's path; the gate, not click, checks whether the file exists and can be read.
FILE = click.Path(path_type=Path, readable=False)


@dataclass(frozen=True)
class NamedPath:
    """``NAME=PATH``, ``PATH`` or a stored name."""

    name: str | None
    text: str


def surroundings() -> Config | None:
    """The settings of the riskguard.yaml of ``--config``, else of the nearest one, if there is one."""
    path = config_given() or find_config(Path.cwd())
    return None if path is None else load_config(Path(os.path.normpath(path.absolute())), require_gates=False)


def config_given() -> Path | None:
    """The riskguard.yaml that the command line names."""
    path = click.get_current_context().meta.get(_PLACES, {}).get("--config")
    return None if path is None else Path(path)


def _keep_place(ctx: click.Context, option: click.Parameter, given: Any) -> Any:
    """Remember what an option names, which commands that are printed need as well."""
    if given is not None:
        ctx.meta.setdefault(_PLACES, {})[option.opts[0]] = str(given)
    return given


def place_words(known: Callable[[str], bool] = lambda _: True) -> list[str]:
    """The options that name judgements, topics, store and riskguard.yaml, as far as they are given and ``known``."""
    context = click.get_current_context(silent=True)
    given: dict[str, str] = {} if context is None else context.meta.get(_PLACES, {})
    return [word for option, value in given.items() if known(option) for word in (option, value)]


def belonging(text: str) -> str:
    """The text, whose commands about baselines name the same store and judgements as the command line."""
    from pytest_riskguard.reports.terminal.layout import completed

    def needed(command: str) -> list[str]:
        from pytest_riskguard.cli.baseline import baseline

        known = baseline.commands.get(command)
        options = {name for option in known.params for name in option.opts} if known else set()
        return place_words(options.__contains__)

    return completed(text, needed)


def typed() -> set[str]:
    """The parameters that the command line gives."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT}


def typed_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a gate's options that the command line gives: the others have the default of the gate's kind."""
    return {name: value for name, value in options.items() if name in typed()}


def asked_alphas(kind: str, alphas: tuple[float, ...]) -> tuple[float, ...]:
    """The alphas that the command line gives, else the default of the gate's kind."""
    return alphas if "alphas" in typed() else (options_of(KINDS[kind])["alpha"].default,)


def given_file(path: Path | None, *, format: str | None = None, ties: Ties | None = None) -> GivenFile | None:
    """A path with the options that say how it is read."""
    return None if path is None else replace(GivenFile.of(path), format=format, ties=ties)


@dataclass(frozen=True)
class Reading:
    """How the files of systems are read."""

    format: str | None = None
    ties: Ties | None = None

    def given(self, path: Path) -> GivenFile:
        """A file of a system and how it is read."""
        return replace(GivenFile.of(path), format=self.format, ties=self.ties)


@dataclass(frozen=True)
class GivenCollection:
    """The files of a collection and how they are read."""

    qrels: GivenFile | None
    topics: GivenFile | None

    def or_of(self, settings: CollectionSettings) -> GivenCollection:
        """What the settings name where there is nothing here; their topics belong to their qrels."""
        if self.qrels is not None:
            return self
        topics = settings.given_topics if self.topics is None else replace(self.topics, strata=settings.strata)
        return GivenCollection(settings.given_qrels, topics)


@dataclass(frozen=True)
class Collection:
    """What a command line says about the collection; with ``scores`` the systems are tables of per-topic scores."""

    qrels: Path | None
    topics: Path | None
    store: Path | None
    measures: tuple[str, ...]
    qrels_format: str | None = None
    topics_format: str | None = None
    format: str | None = None
    run_format: str | None = None
    ties: Ties | None = None
    scores: bool = False
    documents: Path | None = None
    document_url: str | None = None

    @property
    def given(self) -> GivenCollection:
        """The files and how they are read."""
        return GivenCollection(
            given_file(self.qrels, format=self.qrels_format), given_file(self.topics, format=self.topics_format)
        )

    def system(self, path: Path) -> GivenFile:
        """The file of a system and how it is read."""
        return replace(GivenFile.of(path), format=self.format or self.run_format, ties=self.ties)


@dataclass(frozen=True)
class SliceEntries:
    """What a command line says about slices: ``TAG=VALUE`` or ``TAG``, and how many topics each value needs."""

    slices: tuple[str, ...]
    smallest_slice: int | None


class NumberType(click.ParamType[float]):
    """A number in a range; with ``or_none`` also the word ``none``, for no limit."""

    def __init__(self, check: Number, *, or_none: bool = False) -> None:
        self.check, self.or_none = check, or_none
        self.name = "number|none" if or_none else "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse and check the range."""
        if value == "none" and self.or_none:
            return None
        with suppress(ValueError):  # the check refuses text that is not a number
            value = float(value)
        try:
            return self.check(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class FormatType(click.ParamType[str]):
    """The name of one of some formats; there are too many for ``--help`` to repeat them as choices."""

    name = "format"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse other names."""
        if value not in self.names and value not in added_formats():
            hint = did_you_mean(value, self.names)
            self.fail(f"{value!r} is not one of these formats{hint}: {', '.join(self.names)}", param, ctx)
        return str(value)


def named_path(text: str) -> NamedPath:
    """``[NAME=]PATH``; the first ``=`` splits only after a valid name, so that paths may hold one."""
    name, equals, path = text.partition("=")
    if not (equals and _NAME.match(name)):
        return NamedPath(None, text)
    if not path:
        raise click.BadParameter(f"{text!r} has no run after the '='")
    return NamedPath(name, path)


def named_paths(text: str) -> tuple[NamedPath, ...]:
    """Several ``[NAME=]PATH`` with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise click.BadParameter(f"{text!r}: expected names or paths with commas between them, such as prod,bm25")
    return tuple(map(named_path, parts))


def named_run(text: str) -> NamedPath:
    """A positional ``[NAME=]RUN``: a file whose own name holds a ``=`` needs no other."""
    return NamedPath(None, text) if os.path.exists(text) else named_path(text)  # noqa: PTH110


def file_option(*names: str, **attributes: Any) -> Callable[[Command], Command]:
    """An option that takes a file's path."""
    if names[0] in _PLACE_OPTIONS:
        attributes = {"callback": _keep_place, **attributes}
    return click.option(*names, type=FILE, **attributes)


def config_option(*, expose: bool = False) -> Callable[[Command], Command]:
    """``--config``, which ``surroundings`` reads; the function has it as ``config`` if it is to be exposed."""
    return file_option("--config", help="The riskguard.yaml. [default: the nearest]", expose_value=expose)


def output_option(what: str) -> Callable[[Command], Command]:
    """``-o``, ``--output`` of a command that prints one thing."""
    return file_option("-o", "--output", metavar="PATH", help=f"Write the {what} here instead of to standard output.")


def metadata_option(name: str, *, help: str) -> Callable[[Command], Command]:
    """An option that takes ``KEY=VALUE`` several times, handed over as ``metadata``."""
    more: dict[str, Any] = {"multiple": True, "metavar": "KEY=VALUE", "callback": _metadata}
    return click.option(name, "metadata", help=f"{help} Repeatable.", **more)


def _metadata(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Texts by key; each key once."""
    pairs = [text.partition("=") for text in given]
    try:
        for text, (key, equals, _) in zip(given, pairs, strict=True):
            if not (key and equals):
                raise ValueError(f"expected KEY=VALUE, such as index=v7, found {text!r:.60}")
        keys = [key for key, _, _ in pairs]
        if repeated := [key for key in keys if keys.count(key) > 1]:
            raise ValueError(f"key {repeated[0]!r:.60} given twice")
        return checked_metadata({key: value for key, _, value in pairs})
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _address(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    try:
        return None if given is None else document_address(given)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def options(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Several decorators as one; the first is the first option that ``--help`` shows."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def grouped(name: str, make: Callable[..., Any], *decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Several options as one decorator; ``make`` turns their values into one parameter of the command, ``name``."""
    parts = tuple(inspect.signature(make).parameters)

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def called(**given: Any) -> Any:
            given[name] = make(**{part: given.pop(part) for part in parts if part in given})
            return command(**given)

        return options(*decorators)(cast(Command, called))

    return decorate


def gate_options(*names: str, several: bool = True, kinds: Sequence[str] = ()) -> Callable[[Command], Command]:
    """Options of a gate, by the names in ``gates.kinds``; ``several`` alphas are handed over as ``alphas``.

    ``kinds`` are those that ``--gate`` offers: ``--help`` names those whose default is another one.
    """
    return options(*(_gate_option(name, several=several, kinds=kinds) for name in names))


def _gate_option(name: str, *, several: bool, kinds: Sequence[str]) -> Callable[[Any], Any]:
    known = OPTIONS[name]
    check, default = known.check, known.default
    shown = _default_text(name, kinds)
    more: dict[str, Any] = {"metavar": known.metavar, "default": default, "show_default": False}
    help_text = known.help
    match check:
        case Number():
            more["type"] = NumberType(check, or_none=check.optional and default is not None)
        case OneOf():
            more["type"] = click.Choice(check.words)
        case TrueOrFalse():
            more["is_flag"], shown = True, ""
        case Texts():
            more["multiple"], shown = True, ""
            help_text += " Repeatable."
    parameter = name
    if name == "alpha" and several:
        parameter = "alphas"
        more |= {"multiple": True, "default": [default]}
        help_text += " Repeatable."
    help_text += shown
    if len(only := kinds_with(name)) == 1:
        help_text = f"{only[0]}: {help_text[0].lower()}{help_text[1:]}"
    return click.option(known.flag, parameter, help=help_text, **more)


def _default_text(name: str, kinds: Sequence[str]) -> str:
    """The default as ``--help`` shows it, with those of the kinds that have another one; empty if there is none."""
    usual = OPTIONS[name].default
    if usual is None:
        return ""
    others = dict[Any, list[str]]()
    for kind in kinds:
        own = options_of(KINDS[kind]).get(name)
        if own is not None and own.default != usual:
            others.setdefault(own.default, []).append(kind)
    words = [f"{_plain(default)} for {', '.join(of)}" for default, of in others.items()]
    return f" [default: {'; '.join([_plain(usual), *words])}]"


def _plain(default: Any) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)


def runs_argument(*, required: bool = True) -> Callable[[Command], Command]:
    """The runs of a command that compares, handed over as ``runs``; see ``in_roles``."""
    return click.argument("runs", nargs=-1, type=named_run, required=required, metavar="[BASELINE] CANDIDATE...")


def in_roles(
    runs: tuple[NamedPath, ...], baselines: tuple[NamedPath, ...], *, others: bool = False
) -> tuple[tuple[NamedPath, ...], tuple[NamedPath, ...]]:
    """Which runs of a command line are baselines, and which are candidates: the first of several is the baseline.

    Where options name the baselines (``others``: computed ones too), every run is a candidate.
    """
    if baselines or others or len(runs) < 2:
        return baselines, runs
    return runs[:1], runs[1:]


def baseline_option(*, required: bool = False) -> Callable[[Command], Command]:
    """``--baseline``, repeatable."""
    return click.option(
        "--baseline",
        "baselines",
        type=named_path,
        multiple=True,
        required=required,
        metavar="[NAME=]RUN",
        help="A run file, or the name of a stored baseline. Repeatable.",
    )


def _measure_option(default: str) -> Callable[[Command], Command]:
    help_text = f"A measure. Repeatable. [default: {default}]"
    return click.option("--measure", "measures", multiple=True, metavar="MEASURE", help=help_text)


def _format_option(name: str, *kinds: Kind, what: str) -> Callable[[Any], Any]:
    names = sorted({known.name for kind in kinds for known in formats_of(kind)})
    text = f"The format of {what}: {', '.join(names)}. [default: detected from the content]"
    keep = {"callback": _keep_place} if name in _PLACE_OPTIONS else {}
    return click.option(name, type=FormatType(names), metavar="NAME", help=text, **keep)  # type: ignore[arg-type]


#: How the files of the collection are read.
collection_format_options: tuple[Any, ...] = (
    _format_option("--qrels-format", "judgements", what="the judgements"),
    _format_option("--topics-format", "topics", what="the topics file"),
)
#: Which order of ties counts in the files of systems.
_ties_option = click.option(
    "--ties",
    type=click.Choice(TIES),
    help="The order of documents with equal scores: as the file lists them, or by docid as trec_eval does. "
    "[default: as_returned for lists without scores, docid for others]",
)
#: How the files of systems are read.
run_format_options: tuple[Any, ...] = (
    _format_option("--format", "rankings", "scores", what="the files of all systems"),
    _ties_option,
)
_FILES: tuple[Any, ...] = (
    file_option("--qrels", help="Qrels file (judgements). [default: riskguard.yaml's]"),
    file_option(
        "--topics",
        help="Query texts, tags and weights of topics. [default: riskguard.yaml's, unless --qrels is given]",
    ),
    file_option("--store", help="Folder of stored baselines. [default: riskguard.yaml's]"),
    config_option(),
    *collection_format_options,
    *reading_options,
)
_SCORED = (
    click.option("--scores", is_flag=True, help="The systems are files of per-topic scores, not runs."),
    _measure_option(f"{DEFAULT_MEASURE}; with --scores, every column of the first table"),
)
#: What the systems are scored with, handed over as ``collection``.
collection_options = grouped("collection", Collection, *_FILES, *run_format_options, *_SCORED)
#: The same with what reports say of documents.
reported_options = grouped(
    "collection",
    Collection,
    *_FILES,
    *run_format_options,
    file_option(
        "--documents",
        help="Titles and addresses of documents for reports: JSON Lines with id, title, url, a tab-separated table, "
        "or Parquet. [default: riskguard.yaml's, unless --qrels is given]",
    ),
    click.option(
        "--document-url",
        metavar="URL",
        callback=_address,
        help="The address of a document for reports, with {id} for its id. "
        "[default: riskguard.yaml's, unless --qrels is given]",
    ),
    *_SCORED,
)
#: The same without ``--scores``, for commands that need the runs themselves.
run_options = grouped(
    "collection",
    Collection,
    *_FILES,
    _format_option("--run-format", "rankings", what="the runs"),
    _ties_option,
    _measure_option(DEFAULT_MEASURE),
)
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
        help=f"With --slice TAG: the minimum number of judged topics of a value. [default: {MIN_SLICE_TOPICS}]",
    ),
)
#: Baselines that are computed from several systems, and whether the candidate is one of these.
computed_options = options(
    *(
        click.option(
            f"--baseline-{kind}",
            type=named_paths,
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
