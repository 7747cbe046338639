"""What the live candidate of riskguard.yaml answers now, to be stored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.cli.judging.live import code_from, live_systems
from pytest_riskguard.cli.parameters import surroundings
from pytest_riskguard.errors import UsageError

if TYPE_CHECKING:
    from pytest_riskguard.evaluation.runs.rankings import Rankings
    from pytest_riskguard.formats.given_file import GivenFile


def live_answers(sources: Mapping[str, Path | GivenFile | None]) -> tuple[Rankings, dict[str, str]]:
    """The candidate's answers for the judged topics of a collection, and its metadata.

    ``UsageError`` without a live candidate, ``DataError`` if it fails.
    """
    from pytest_riskguard.config.candidate_settings import key_of
    from pytest_riskguard.config.queried_settings import Queried
    from pytest_riskguard.engine import Engine

    settings = surroundings()
    candidate = None if settings is None else settings.candidate
    if settings is None or not isinstance(candidate, Queried):
        raise UsageError("--live: riskguard.yaml names no system to query; add one, such as `candidate: {http: ...}`")
    engine = Engine(qrels=sources["qrels"], topics=sources["topics"])
    line = settings.line("candidate", key_of(candidate))
    live = live_systems(settings, engine)(candidate, line)
    with code_from(settings.path.parent):
        return live.retrieve(), dict(live.metadata)
