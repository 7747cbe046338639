"""Options that several commands have, and the values that they take.

What a gate can be asked comes from ``gates.kinds``: ``--alpha`` and ``--slice`` have a flag, all else is given with
``--set``, by its name in riskguard.yaml.
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

from pytest_riskguard.config.load import find_config, inner_configs, load_config, not_found
from pytest_riskguard.data.given_file import TIES, GivenFile
from pytest_riskguard.errors import RiskguardError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import CORRECTIONS, MIN_SLICE_TOPICS, OPTIONS, RESPONSES
from pytest_riskguard.gates.option_types import Check, Number, OneOf, Text, Texts, TrueOrFalse
from pytest_riskguard.text import Names, did_you_mean, listed

if TYPE_CHECKING:
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.engine.advice import Reader

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_MEASURE = "nDCG@10"
#: Where baselines are stored where no riskguard.yaml says otherwise.
DEFAULT_STORE = Path("baselines")
#: A file's path; the gate, not click, checks whether the file exists and can be read.
FILE = click.Path(path_type=Path, readable=False)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def grouped(name: str, make: Callable[..., Any], *decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Several options as one decorator; ``make`` turns their values into one parameter of the command, ``name``."""
    parts = tuple(inspect.signature(make).parameters)

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def called(**given: Any) -> Any:
            given[name] = make(**{part: given.pop(part) for part in parts if part in given})
            return command(**given)

        decorated: Any = called
        for decorator in reversed(decorators):  # the first is the first option that --help shows
            decorated = decorator(decorated)
        return cast(Command, decorated)

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


def _place_option(name: str, help: str, **attributes: Any) -> Callable[[Command], Command]:
    def keep(ctx: click.Context, option: click.Parameter, given: Any) -> Any:
        if given is not None:
            ctx.meta.setdefault(_PLACES, {})[option.opts[0]] = str(given)
        return given

    return click.option(name, type=FILE, callback=keep, help=help, **attributes)


config_option: Callable[[Any], Any] = _place_option(
    "--config", "The riskguard.yaml. [default: the nearest]", expose_value=False
)


def _places() -> dict[str, str]:
    context = click.get_current_context(silent=True)
    return {} if context is None else context.meta.get(_PLACES, {})


#: ``accept``, ``explain``, and commands of ``riskguard baseline``, that take neither judgements nor topics.
_OF_STORE = ("accept", "explain", "list", "remove", "show", "verify")


def place_words(command: str) -> list[str]:
    """The options of places that are given, as far as a command, perhaps of ``riskguard baseline``, knows them."""
    known = {"--config"} if command in _OF_STORE else {"--config", "--topics"} if command == "diff" else _places()
    return [word for option, value in _places().items() if option in known for word in (option, value)]


def reader_here(report: str | None = None) -> Reader:
    """Who reads what this command prints, and where that person can type the commands in it.

    ``report`` is a JSON report that it leaves.
    """
    from pytest_riskguard.engine.advice import Reader

    return Reader((Path.cwd(),), place_words, report)


def is_config_given() -> bool:
    """Whether the command line names a riskguard.yaml."""
    return "--config" in _places()


def config_path() -> Path | None:
    """The riskguard.yaml of ``--config``, else the nearest one, if there is one."""
    path = _places().get("--config") or find_config(Path.cwd())
    return None if path is None else Path(os.path.abspath(path))  # noqa: PTH100 - links stay


def the_config() -> Path:
    """The same where a command needs one."""
    path = config_path()
    if path is None:
        raise UsageError(not_found_here())
    return path


def not_found_here() -> str:
    """That there is no riskguard.yaml, and those of folders below, or the command that writes one."""
    problem, below = not_found(Path.cwd()), inner_configs(Path.cwd())
    if "; rename " in problem:
        return problem
    if not below:
        return f"{problem}; `riskguard init` writes one"
    return f"{problem}; found {listed(below, most=3)}: name one with --config"


def surroundings() -> Config | None:
    """The settings of the riskguard.yaml, if there is one."""
    path = config_path()
    return None if path is None else load_config(path, require_gates=False)


def named_here(error: RiskguardError) -> str:
    """Where the riskguard.yaml names the file at fault; empty where it does not."""
    from pytest_riskguard.engine.declared_gates import named_in

    with suppress(RiskguardError):
        return named_in(surroundings(), error, Path.cwd())
    return ""


def store_of(config: Config | None) -> Store:
    """The store that a riskguard.yaml names, else the usual one."""
    from pytest_riskguard.baselines.store import Store

    return Store(DEFAULT_STORE if config is None else config.store)


def import_measures_from(folder: Path, measures: Sequence[str]) -> None:
    """If one of the measures is a function, import modules as for a riskguard.yaml in this folder."""
    if any(":" in measure for measure in measures):
        from pytest_riskguard.live.importing import code_folders

        sys.path[:0] = [path for path in map(str, code_folders(folder)) if path not in sys.path]


# Storing a run as a baseline.


#: For commands that replace a stored baseline, which ask ``refuse_unseen`` first.
in_ci_option = flag("--in-ci", help="Replace it in CI too, as a workflow does that opens a pull request.")


def refuse_unseen(in_ci: bool, note: str) -> None:
    """``UsageError`` where a baseline would be replaced without a note, or in CI unless that is allowed."""
    from pytest_riskguard.build import ci_variable

    if not in_ci and (variable := ci_variable()) is not None:
        raise UsageError(
            f"this is CI ({variable} is set), where nobody sees that a baseline is replaced",
            remedy="run this on your machine and commit the store, or, in a job whose change somebody reviews, add "
            "--in-ci",
        )
    if not note.strip():
        raise UsageError("a new run of a baseline needs --note: say why it is trusted, for the reviewer")


# Systems: runs, stored baselines, tables of scores.


@frozen
class NamedPath:
    """``NAME=PATH``, ``PATH`` or a stored name."""

    name: str | None
    text: str


def system(text: str) -> NamedPath:
    """``[NAME=]PATH``; any file by its own name.

    The first ``=`` splits only after a valid name, so that paths may hold one.
    """
    if os.path.exists(text):  # noqa: PTH110 - Path.exists raises if a name is too long
        return NamedPath(None, text)
    name, equals, path = text.partition("=")
    if not (equals and _NAME.fullmatch(name)):
        name, path = "", text
    if not path:
        raise click.BadParameter(f"{text!r}: expected the name or path of a run")
    return NamedPath(name or None, path)


@frozen
class Collection:
    """What a command line says about the collection; with ``scores`` the systems are tables of per-topic scores.

    ``settings`` are those of ``--set``, checked, by their names.
    """

    qrels: Path | None = None
    topics: Path | None = None
    measures: Names = ()
    scores: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def files(self, config: Config | None) -> tuple[GivenFile | None, GivenFile | None]:
        """Judgements and topics at these paths, else those of riskguard.yaml, whose topics belong to its qrels."""
        qrels, topics = (None if path is None else GivenFile.of(path) for path in (self.qrels, self.topics))
        if config is None or qrels is not None:
            return qrels, topics
        return config.collection.given_qrels, topics or config.collection.given_topics

    def file(self, path: str | Path) -> GivenFile:
        """The file of a system, with its format and the order of its ties as ``--set`` says."""
        return replace(GivenFile.of(path), format=self.settings.get("format"), ties=self.settings.get("ties"))


def collection_options(*settings: str, scores: bool = True, judged: bool = True) -> Callable[[Command], Command]:
    """What the systems are scored with, handed over as ``collection``; with the ``settings`` that ``--set`` takes.

    Those that are not ``judged`` need neither judgements nor measures.
    """
    default = f"{DEFAULT_MEASURE}; with --scores, every column of the first table" if scores else DEFAULT_MEASURE
    tables = [flag("--scores", help="The systems are files of per-topic scores, not runs.")]
    names = tuple(dict.fromkeys((*settings, "format", "ties")))
    set_options = [
        repeated(
            "--set",
            "settings",
            metavar="KEY=VALUE",
            callback=functools.partial(_settings, names),
            help=f"A setting by its name in riskguard.yaml: {', '.join(names)}.",
        )
    ]
    scoring = (
        _place_option("--qrels", "Qrels file (judgements). [default: riskguard.yaml's]"),
        repeated(
            "--measure", "measures", metavar="MEASURE", help=f"A measure. [default: riskguard.yaml's, else {default}]"
        ),
    )
    return grouped(
        "collection",
        Collection,
        *(scoring if judged else ()),
        _place_option(
            "--topics",
            "Query texts, tags and weights of topics. [default: riskguard.yaml's"
            + (", unless --qrels is given]" if judged else "]"),
        ),
        config_option,
        *(tables if scores else ()),
        *(set_options if settings else ()),
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


def number_type(check: Check) -> Callable[[str], Any]:
    """The type of an option that is a number in a range."""

    def number(text: str) -> Any:
        try:
            return check(_number(text))
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return number


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:  # the check refuses text that is not a number
        return text


#: What ``--set`` takes besides the options of gates.
_OTHERS: Mapping[str, Any] = {
    "format": Text("the name of a format"),
    "ties": OneOf(TIES),
    "family": OneOf(CORRECTIONS),
    "on_changed_inputs": OneOf(RESPONSES),
}


def _settings(names: Names, ctx: click.Context, param: click.Parameter, given: Names) -> dict[str, Any]:
    values: dict[str, list[str]] = {}
    try:
        for text in given:
            name, equals, value = text.partition("=")
            if not (name and equals):
                raise ValueError(f"expected KEY=VALUE, such as {names[0]}=VALUE, found {text!r:.60}")
            if name not in names:
                hint = did_you_mean(name, names) or f"; there are {', '.join(names)}"
                raise ValueError(f"{name!r:.60} cannot be set here{hint}")
            values.setdefault(name, []).append(value)
        return {name: _setting(name, texts) for name, texts in values.items()}
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _setting(name: str, texts: list[str]) -> Any:
    """The value of a setting as a gate or a file has it, of what was typed; ``ValueError`` if it cannot be that."""
    check = _OTHERS.get(name) or OPTIONS[name].check
    value: Any = texts[0]
    if isinstance(check, Texts):
        value = texts
    elif len(texts) > 1:
        raise ValueError(f"{name} given twice")
    elif isinstance(check, TrueOrFalse):
        value = {"true": True, "false": False}.get(value, value)
    elif value == "none" and getattr(check, "optional", False):
        value = None
    elif isinstance(check, Number):
        value = _number(value)
    try:
        return check(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


#: The options of gates that ``--set`` takes.
SETTINGS = tuple(name for name in OPTIONS if name not in ("alpha", "slice"))
