"""Where baselines are stored and what they are scored with, as options say, with the defaults of riskguard.yaml."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.parameters import (
    DEFAULT_MEASURE,
    DEFAULT_STORE,
    Command,
    GivenCollection,
    config_option,
    file_option,
    grouped,
    import_measures_from,
    metadata_option,
    options,
    set_option,
    surroundings,
)
from pytest_riskguard.errors import UsageError
from pytest_riskguard.frozen import frozen

if TYPE_CHECKING:
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.data.given_file import GivenFile


def opened(path: Path | None = None) -> Store:
    """The store at a path, or the one of riskguard.yaml."""
    from pytest_riskguard.baselines.store import Store

    if path is None:
        settings = surroundings()
        path = settings.store if settings is not None else DEFAULT_STORE
    return Store(path)


@frozen
class Place:
    """Where to store and what to score with, the measures of the options, and those of riskguard.yaml."""

    store: Store
    sources: dict[str, Path | GivenFile | None]
    measures: tuple[str, ...]
    default_measures: tuple[str, ...]

    def scoring(self, measures: Sequence[str]) -> dict[str, Any]:
        """Arguments of the store's methods that score a run; ``UsageError`` without judgements."""
        if self.sources["qrels"] is None:
            raise UsageError("no qrels: give --qrels, or name them in riskguard.yaml (riskguard init writes one)")
        return {**self.sources, "measures": measures}

    def storing(self, *, scores: bool) -> dict[str, Any]:
        """Arguments of the store's methods that store a run, or scores: with all measures, unless some are given."""
        if scores:
            return {**self.sources, "measures": self.measures, "scores": True}
        return self.scoring(self.measures or self.default_measures or (DEFAULT_MEASURE,))


def _given_place(qrels: Path | None, topics: Path | None, measures: tuple[str, ...]) -> Place:
    """What the options say, with the defaults of riskguard.yaml."""
    from pytest_riskguard.baselines.store import Store

    given = GivenCollection.of(qrels, topics)
    settings = surroundings()
    store, defaults, folder = DEFAULT_STORE, tuple[str, ...](), Path.cwd()
    if settings is not None:
        given, store, defaults = given.or_of(settings.collection), settings.store, settings.all_measures
        folder = settings.path.parent
    import_measures_from(folder, (*measures, *defaults))
    return Place(Store(store), {"qrels": given.qrels, "topics": given.topics}, measures, defaults)


DEFAULT_MEASURES = f"riskguard.yaml's, else {DEFAULT_MEASURE}"


def scoring_options(measures: str) -> Callable[[Command], Command]:
    """Options of a command that scores runs, handed over as ``place``; ``measures`` is what ``--help`` says."""
    return grouped(
        "place",
        _given_place,
        file_option("--qrels", help="Qrels file to score with. [default: riskguard.yaml's]"),
        file_option("--topics", help="Topics file; its digest is kept. [default: riskguard.yaml's]"),
        click.option(
            "--measure",
            "measures",
            multiple=True,
            metavar="MEASURE",
            help=f"A measure to score with. Repeatable. [default: {measures}]",
        ),
        config_option(),
    )


scores_option = click.option(
    "--scores", is_flag=True, help="RUN is a file of per-topic scores; no run is kept. Measures: all, unless given."
)


allow_unanswered_option = click.option(
    "--allow-unanswered", is_flag=True, help="Topics without an answer have no result: they count as 0."
)


def storing_options(measures: str, *more: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Options of a command that stores a run."""
    return options(
        scoring_options(measures),
        set_option("format", "ties"),
        click.option(
            "--note",
            default="",
            help="Why this run is trusted; kept in the manifest. `update` and `promote` need it.",
        ),
        metadata_option("What is known of the system, such as index=v7; kept in the manifest."),
        *more,
        allow_unanswered_option,
    )


no_run_option = click.option(
    "--no-run",
    "keep_run",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Do not keep the run itself; without it nothing can be scored again.",
)
