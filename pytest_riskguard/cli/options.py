"""Options that several commands have, and the values that they take.

What a gate can be asked comes from ``gates.kinds``. The options that are asked for often have a flag; all others are
given with ``--set``, by their names in riskguard.yaml.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from pytest_riskguard import run_context
from pytest_riskguard.config.load import find_config, load_config
from pytest_riskguard.data.formats import added_formats, formats_of
from pytest_riskguard.data.given_file import TIES, GivenFile
from pytest_riskguard.data.records import checked_metadata
from pytest_riskguard.errors import UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import (
    COMPUTED,
    CORRECTIONS,
    KINDS,
    MIN_SLICE_TOPICS,
    OPTIONS,
    RESPONSES,
    kinds_with,
    options_of,
)
from pytest_riskguard.gates.option_types import Number, OneOf, Texts, TrueOrFalse
from pytest_riskguard.text import did_you_mean

if TYPE_CHECKING:
    from pytest_riskguard.cli.inputs import Inputs
    from pytest_riskguard.config.schema import Config

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_MEASURE = "nDCG@10"
#: Where baselines are stored where no riskguard.yaml says otherwise.
DEFAULT_STORE = Path("baselines")
#: A file's path; the gate, not click, checks whether the file exists and can be read.
FILE = click.Path(path_type=Path, readable=False)
_NAME = re.compile(r"[A-Za-z0-9._-]+\Z")
_COMPUTED = re.compile(rf"({'|'.join(COMPUTED)})\((.*)\)\Z", re.DOTALL)


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


def flag(*names: str, help: str, **attributes: Any) -> Callable[[Command], Command]:
    """An option without a value."""
    return click.option(*names, is_flag=True, help=help, **attributes)


def repeated(*names: str, help: str, **attributes: Any) -> Callable[[Command], Command]:
    """An option that may be given several times."""
    return click.option(*names, multiple=True, help=f"{help} Repeatable.", **attributes)


# Where judgements, topics and riskguard.yaml are; what is printed names the same.


#: Where a context keeps what these options name.
_PLACES = "riskguard.places"


def _keep_place(ctx: click.Context, option: click.Parameter, given: Any) -> Any:
    if given is not None:
        ctx.meta.setdefault(_PLACES, {})[option.opts[0]] = str(given)
    return given


def place_option(name: str, help: str, **attributes: Any) -> Callable[[Command], Command]:
    """An option that says where something is, which commands that are printed need as well."""
    return click.option(name, type=FILE, callback=_keep_place, help=help, **attributes)


def config_option(*, expose: bool = False) -> Callable[[Command], Command]:
    """``--config``, which ``surroundings`` reads; the function has it as ``config`` if it is to be exposed."""
    return place_option("--config", "The riskguard.yaml. [default: the nearest]", expose_value=expose)


def place_words(known: Callable[[str], bool] = lambda _: True) -> list[str]:
    """The options of places, as far as they are given and ``known``."""
    context = click.get_current_context(silent=True)
    given: dict[str, str] = {} if context is None else context.meta.get(_PLACES, {})
    return [word for option, value in given.items() if known(option) for word in (option, value)]


def words_of_baseline(name: str) -> list[str]:
    """The words with which a command of ``riskguard baseline`` finds what this command line finds."""
    from pytest_riskguard.cli.baseline import baseline

    known = {option for parameter in baseline.commands[name].params for option in parameter.opts}
    return place_words(known.__contains__)


def config_given() -> Path | None:
    """The riskguard.yaml that the command line names."""
    path = click.get_current_context().meta.get(_PLACES, {}).get("--config")
    return None if path is None else Path(path)


def surroundings() -> Config | None:
    """The settings of the riskguard.yaml of ``--config``, else of the nearest one, if there is one."""
    path = config_given() or find_config(Path.cwd())
    return None if path is None else load_config(Path(os.path.normpath(path.absolute())), require_gates=False)


def import_measures_from(folder: Path, measures: Sequence[str]) -> None:
    """If one of the measures is a function, modules of this folder can be imported, as with ``python -m``."""
    if any(":" in measure for measure in measures) and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


# Systems: runs, stored baselines, tables of scores.


@frozen
class NamedPath:
    """``NAME=PATH``, ``PATH`` or a stored name; or the kind and the systems of a computed baseline."""

    name: str | None
    text: str
    computed: str | None = None
    systems: tuple[NamedPath, ...] = ()


def named_path(text: str) -> NamedPath:
    """``[NAME=]PATH``; the first ``=`` splits only after a valid name, so that paths may hold one."""
    name, equals, path = text.partition("=")
    if not (equals and _NAME.match(name)):
        return NamedPath(None, text)
    if not path:
        raise click.BadParameter(f"{text!r} has no run after the '='")
    return NamedPath(name, path)


def named_run(text: str) -> NamedPath:
    """``[NAME=]PATH``, or ``mean(A, B)`` for a baseline that is computed from several; any file by its own name."""
    if os.path.exists(text):  # noqa: PTH110 - Path.exists raises if a name is too long
        return NamedPath(None, text)
    if (match := _COMPUTED.match(text)) is None:
        return named_path(text)
    parts = [part.strip() for part in match[2].split(",")]
    if not all(parts):
        raise click.BadParameter(f"{text!r}: expected names or paths with commas between, as in {match[1]}(a, b)")
    return NamedPath(None, text, match[1], tuple(map(named_path, parts)))


def runs_argument(metavar: str, *, required: bool = False) -> Callable[[Command], Command]:
    """The runs of a command that compares, handed over as ``runs``; see ``in_roles``."""
    return click.argument("runs", nargs=-1, type=named_run, required=required, metavar=metavar)


def in_roles(
    runs: tuple[NamedPath, ...], baselines: tuple[NamedPath, ...]
) -> tuple[tuple[NamedPath, ...], tuple[NamedPath, ...]]:
    """Which runs of a command line are baselines, and which are candidates: the first of several is the baseline.

    Where ``--baseline`` names them, every run is a candidate.
    """
    if not baselines and len(runs) > 1:
        baselines, runs = runs[:1], runs[1:]
    if computed := [run.text for run in runs if run.computed]:
        raise UsageError(f"{computed[0]} is a computed baseline; a candidate is a run")
    return baselines, runs


def baseline_option(help: str = "A run file, or the name of a stored baseline.") -> Callable[[Command], Command]:
    """``--baseline``, repeatable."""
    return repeated("--baseline", "baselines", type=named_run, metavar="[NAME=]RUN", help=help)


@frozen
class Files:
    """The files of a collection and how they are read."""

    qrels: GivenFile | None
    topics: GivenFile | None

    @classmethod
    def of(cls, qrels: Path | None, topics: Path | None, config: Config | None) -> Files:
        """Those at these paths, else those of riskguard.yaml, whose topics belong to its qrels."""
        given = cls(*(None if path is None else GivenFile.of(path) for path in (qrels, topics)))
        if config is None or qrels is not None:
            return given
        settings = config.collection
        own = settings.given_topics if given.topics is None else replace(given.topics, strata=settings.strata)
        return cls(settings.given_qrels, own)


@frozen
class Collection:
    """What a command line says about the collection; with ``scores`` the systems are tables of per-topic scores.

    ``settings`` are those of ``--set``, checked, by their names.
    """

    qrels: Path | None
    topics: Path | None = None
    measures: tuple[str, ...] = ()
    scores: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """Those of the settings that are options of a gate."""
        return {name: value for name, value in self.settings.items() if name in OPTIONS and name != "slice"}


def file_of(path: str | Path, settings: Mapping[str, Any]) -> GivenFile:
    """The file of a system, with its format and the order of its ties as ``--set`` says."""
    return replace(GivenFile.of(path), format=settings.get("format"), ties=settings.get("ties"))


def measure_option(help: str) -> Callable[[Command], Command]:
    """``--measure``, handed over as ``measures``."""
    return click.option("--measure", "measures", multiple=True, metavar="MEASURE", help=help)


def collection_options(*settings: str, scores: bool = True) -> Callable[[Command], Command]:
    """What the systems are scored with, handed over as ``collection``; with the ``settings`` that ``--set`` takes."""
    default = f"{DEFAULT_MEASURE}; with --scores, every column of the first table" if scores else DEFAULT_MEASURE
    tables = [flag("--scores", help="The systems are files of per-topic scores, not runs.")]
    return grouped(
        "collection",
        Collection,
        place_option("--qrels", "Qrels file (judgements). [default: riskguard.yaml's]"),
        place_option(
            "--topics",
            "Query texts, tags and weights of topics. [default: riskguard.yaml's, unless --qrels is given]",
        ),
        config_option(),
        *(tables if scores else ()),
        measure_option(f"A measure. Repeatable. [default: {default}]"),
        set_option(*settings, *_OF_RUNS),
    )


def _without_cache(ctx: click.Context, _: click.Parameter, given: bool) -> None:
    if given:
        ctx.with_resource(run_context.changed(cached=False))


no_cache_option: Callable[[Any], Any] = flag(
    "--no-cache", expose_value=False, callback=_without_cache, help="Read every run, and keep nothing on disk."
)
#: One part of the topics or several.
slice_option: Callable[[Any], Any] = repeated(
    "--slice",
    "slices",
    metavar="TAG=VALUE|TAG",
    help="Judge only the topics with this tag. TAG alone judges each of its values that has enough topics "
    f"({MIN_SLICE_TOPICS}). Needs a topics file.",
)


# Options of gates, and ``KEY=VALUE``.


class NumberType(click.ParamType[float]):
    """A number in a range."""

    name = "number"

    def __init__(self, check: Number) -> None:
        self.check = check

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse and check the range."""
        try:
            return self.check(_number(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _number(text: Any) -> Any:
    with suppress(ValueError):  # the check refuses text that is not a number
        return float(text)
    return text


def gate_options(*names: str) -> Callable[[Command], Command]:
    """Flags of a gate's options, by their names in ``gates.kinds``: None, or no alpha, where nothing is given."""
    return options(*map(_gate_option, names))


def _gate_option(name: str, default: str = "") -> Callable[[Command], Command]:
    known = OPTIONS[name]
    default = default or f" [default: {_default_text(name)}]"
    more: dict[str, Any] = {"metavar": known.metavar, "type": None}
    if isinstance(known.check, Number):
        more["type"] = NumberType(known.check)
    elif isinstance(known.check, OneOf):
        more["type"] = click.Choice(known.check.words)
    if name == "alpha":
        return click.option(known.flag, "alphas", multiple=True, help=f"{known.help} Repeatable.{default}", **more)
    return click.option(known.flag, name, help=f"{known.help}{default}", **more)


def _default_text(name: str) -> str:
    """The default, with those of the kinds that have another one: ``0.005; 0 for not_inferior, equivalent``."""
    kinds: dict[str, list[str]] = {}
    for kind in kinds_with(name):
        kinds.setdefault(_plain(options_of(KINDS[kind])[name].default), []).append(kind)
    usual = _plain(OPTIONS[name].default)
    return "; ".join([usual, *(f"{own} for {', '.join(of)}" for own, of in kinds.items() if own != usual)])


def _plain(default: Any) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)


def asked_alphas(kind: str, alphas: tuple[float, ...]) -> tuple[float, ...]:
    """The alphas that the command line gives, else the default of the gate's kind."""
    return alphas or (options_of(KINDS[kind]).get("alpha", OPTIONS["alpha"]).default,)


def _pairs(given: Sequence[str], example: str) -> list[tuple[str, str]]:
    """``KEY=VALUE`` each; ``ValueError`` for anything else."""
    pairs = [(key, value) for key, _, value in (text.partition("=") for text in given)]
    for text, (key, _) in zip(given, pairs, strict=True):
        if not key or "=" not in text:
            raise ValueError(f"expected KEY=VALUE, such as {example}, found {text!r:.60}")
    return pairs


def metadata_option(help: str) -> Callable[[Command], Command]:
    """``--meta KEY=VALUE`` several times, handed over as ``metadata``."""
    return repeated("--meta", "metadata", metavar="KEY=VALUE", callback=_metadata, help=help)


def _metadata(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    try:
        pairs = _pairs(given, "index=v7")
        keys = [key for key, _ in pairs]
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise ValueError(f"key {twice[0]!r:.60} given twice")
        return checked_metadata(dict(pairs))
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _format(name: str) -> str:
    """The name of a format of rankings or of scores, of our own or of a plugin."""
    known = {known.name for kind in ("rankings", "scores") for known in formats_of(kind)}
    return name if name in added_formats() else OneOf(tuple(sorted(known)))(name)


#: What ``--set`` takes besides the options of gates: about runs, and about all gates together.
_OF_RUNS: Mapping[str, Any] = {"format": _format, "ties": OneOf(TIES)}
_OF_ALL: Mapping[str, Any] = {"family": OneOf(CORRECTIONS), "on_changed_inputs": OneOf(RESPONSES)}


def set_option(*names: str) -> Callable[[Command], Command]:
    """``--set KEY=VALUE``, handed over as ``settings``: options of gates, and settings of files, by their names."""
    return repeated(
        "--set",
        "settings",
        metavar="KEY=VALUE",
        callback=functools.partial(_settings, names),
        help=f"A setting by its name in riskguard.yaml: {', '.join(names)}.",
    )


def _settings(
    names: tuple[str, ...], ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> dict[str, Any]:
    values: dict[str, list[str]] = {}
    try:
        for name, value in _pairs(given, f"{names[0]}=VALUE"):
            if name not in names:
                flags = {flag.strip("-").replace("-", "_") for known in ctx.command.params for flag in known.opts}
                hint = f"; it has an option of its own, --{name.replace('_', '-')}" if name in flags else ""
                hint = hint or did_you_mean(name, names) or f"; there are {', '.join(names)}"
                raise ValueError(f"{name!r:.60} cannot be set here{hint}")
            values.setdefault(name, []).append(value)
        return {name: _setting(name, texts) for name, texts in values.items()}
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _setting(name: str, texts: list[str]) -> Any:
    """The value of a setting as a gate or a file has it, of what was typed; ``ValueError`` if it cannot be that."""
    if name == "slice":
        return tuple(texts)
    check = {**_OF_RUNS, **_OF_ALL}.get(name) or OPTIONS[name].check
    value: Any = texts[0]
    if isinstance(check, Texts):
        value = tuple(texts)
    elif len(texts) > 1:
        raise ValueError(f"{name} given twice")
    elif isinstance(check, TrueOrFalse):
        value = {"true": True, "false": False}.get(value, value)
    elif value == "none" and getattr(check, "optional", False):
        value = None
    elif isinstance(check, Number):
        value = _number(value)
    try:
        checked: Any = check(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return checked


def system_options(
    argument: str,
    *settings: str,
    kind: str = "",
    baseline: str = "",
    required: bool = False,
    whole: bool = False,
    alphas: tuple[float, ...] = (),
) -> Callable[[Command], Command]:
    """The argument and the options of a command about systems, handed over as ``inputs``, of the class ``Inputs``.

    Parameters
    ----------
    argument : str
        What the systems are called in the command's help, such as ``RUN``.
    settings : str
        Names that ``--set`` takes, as options of gates have them in riskguard.yaml.
    kind : str
        A kind of gates: all their options can be set, and riskguard.yaml supplies what is not given.
    baseline : str
        What ``--baseline`` is for; without it there is no such option.
    required, whole : bool
        Whether the argument must name a system; whether it means all stored baselines if it names none.
    alphas : tuple of float
        The default of ``--alpha``; without it, that of the gates.
    """
    if kind:
        own = (name for name in options_of(KINDS[kind]) if name not in ("alpha", "slice"))
        settings = (*own, "family", *settings)
    default = alphas

    def make(
        systems: tuple[NamedPath, ...],
        collection: Collection,
        alphas: tuple[float, ...],
        baselines: tuple[NamedPath, ...] = (),
    ) -> Inputs:
        from pytest_riskguard.cli.inputs import Inputs

        more: dict[str, Any] = {"argument": argument, "whole": whole, "kind": kind}
        return Inputs(collection, systems, baselines, alphas=alphas or default, **more)

    metavar = f"[NAME=]{argument}..." if required else f"[[NAME=]{argument}]..."
    return grouped(
        "inputs",
        make,
        click.argument("systems", nargs=-1, type=named_path, required=required, metavar=metavar),
        *([baseline_option(baseline)] if baseline else []),
        collection_options(*settings),
        _gate_option("alpha", f" [default: {', '.join(map(_plain, alphas))}]" if alphas else ""),
    )
