"""Live systems as candidates: imported, and queried for every judged topic; shows progress and reports failures."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import pytest

from pytest_riskguard.config.asking import Asking
from pytest_riskguard.config.load import repository_of
from pytest_riskguard.config.schema import ASKING, Retrieve
from pytest_riskguard.engine import Engine
from pytest_riskguard.errors import ConfigError, ScoringError
from pytest_riskguard.evaluation.runs import Rankings, rankings_as_run
from pytest_riskguard.formats.metadata import checked_metadata
from pytest_riskguard.gates.option_types import shown
from pytest_riskguard.plugin.live_systems.failures import MAX_QUERY, failure, imported
from pytest_riskguard.plugin.live_systems.isolation import retrieve_isolated
from pytest_riskguard.plugin.live_systems.retrieval import Retrieved, Search, retrieve
from pytest_riskguard.plugin.live_systems.search_import import RefusedSearchError
from pytest_riskguard.plugin.live_systems.time_limit import GRACE
from pytest_riskguard.sources import LiveRun
from pytest_riskguard.text import clean

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config

#: Environment variables of CI systems, as pytest knows them.
_CI = ("CI", "BUILD_NUMBER")
#: Capture methods that keep output of the search off the terminal.
_CAPTURES = ("fd", "sys")
#: Seconds between two changes of the line.
_EVERY = 0.1


def live_run(
    config: pytest.Config,
    engine: Engine,
    search: Search,
    *,
    name: str = "candidate",
    metadata: Mapping[str, str] | None = None,
    **asking: Any,
) -> LiveRun:
    """A run made by calling ``search`` with the query of each judged topic of the collection.

    Raises ``TypeError`` if ``search`` cannot be called, ``ValueError`` for a wrong field of ``Asking`` or metadata.
    """
    if not callable(search):
        raise TypeError(f"search: expected a function that takes a query, found {shown(search)}")
    checked = {}
    for option, check in ASKING.items():
        try:
            checked[option] = check(asking[option])
        except ValueError as error:
            raise ValueError(f"{option}: {error}") from None
    try:
        about = checked_metadata(metadata or {})
    except ValueError as error:
        raise ValueError(f"metadata: {error}") from None
    return LiveRun(lambda: _retrieved(config, engine, search, Asking(**checked)), name, about)


def live_candidate(
    config: pytest.Config, engine: Engine, candidate: Retrieve, *, settings: Config, line: int
) -> LiveRun:
    """The candidate that a riskguard.yaml names, in this line; its function is imported when it is first queried."""
    asking = Asking(**{option: getattr(candidate, option) for option in ASKING})
    target, root, listed = candidate.retrieve, project_of(config, settings), settings.retrieve_from or ()

    def retrieved() -> Rankings:
        try:
            if candidate.isolate:
                wanted = _wanted(engine)
                with shown_progress(config) as progress:
                    answers = retrieve_isolated(target, wanted, asking, root=root, listed=listed, progress=progress)
                return _as_run(answers)
            return _retrieved(config, engine, imported(target, root, listed), asking)
        except RefusedSearchError as error:
            raise ConfigError(settings.path, line, f"candidate.retrieve: {error}") from None

    return LiveRun(retrieved, metadata=dict(candidate.metadata))


def project_of(config: pytest.Config, settings: Config) -> Path:
    """The folder that the project of a riskguard.yaml is in: its repository, else pytest's rootdir."""
    folder = settings.path.parent
    if (root := repository_of(folder)) is not None:
        return root
    return config.rootpath if folder.is_relative_to(config.rootpath) else folder


def _wanted(engine: Engine) -> dict[str, str]:
    """The query of each judged topic."""
    queries, judged = engine.queries, engine.qrels.topics
    missing = [topic for topic in judged if topic not in queries]
    if missing:
        raise ScoringError(
            f"no query text for {len(missing)} judged topics ({', '.join(missing[:5])}): name a topics file "
            "that has them in riskguard.yaml (collection: topics)",
            reason="missing_input",
        )
    return {topic: queries[topic] for topic in judged}


def _retrieved(config: pytest.Config, engine: Engine, search: Search, asking: Asking) -> Rankings:
    wanted = _wanted(engine)
    with shown_progress(config) as progress:
        retrieved = retrieve(search, wanted, asking, progress=progress, stuck=lambda: _end_stuck_run(config, asking))
    if retrieved.failed:
        raise failure(retrieved, len(wanted))
    return _as_run(retrieved)


def _as_run(retrieved: Retrieved) -> Rankings:
    run = replace(rankings_as_run(retrieved.answers, as_returned=True), seconds=retrieved.seconds)
    if not retrieved.again:
        return run
    again = rankings_as_run(retrieved.again, as_returned=True)
    return replace(run, again=again, asked_again=tuple(sorted(retrieved.again)))


def _end_stuck_run(config: pytest.Config, asking: Asking) -> None:
    """End the process: a call that cannot be interrupted would block it forever."""
    capture = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
    test = (os.environ.get("PYTEST_CURRENT_TEST") or "a test").rpartition(" (")[0]
    with suppress(OSError, ValueError):
        print(
            f"\npytest-riskguard: {clean(test, limit=MAX_QUERY)}: a search gave no answer in {asking.timeout:g} s, "
            f"and could not be interrupted for {GRACE:g} s more; the run ends here. Set a time limit in its client.",
            file=sys.stderr,
            flush=True,
        )
    os._exit(pytest.ExitCode.INTERNAL_ERROR)


@contextmanager
def shown_progress(config: pytest.Config) -> Iterator[Callable[[int, int], None] | None]:
    """A function to call with the number of topics done and their total, or None if no one would see it.

    rich can draw such a line too, but needs the streams that pytest has already replaced.
    With ``-s`` the search itself may print into the same line.
    """
    capture = config.pluginmanager.get_plugin("capturemanager")
    writer = config.get_terminal_writer()
    # Not writer.write(), which would count erased characters when it computes the column.
    file: TextIO | None = getattr(writer, "_file", None)
    if capture is None or file is None or not _watched(config):
        yield None
        return
    room = writer.fullwidth - writer.width_of_current_line - 1
    line = Line(file, room=room, outside=capture.global_and_fixture_disabled)
    try:
        yield line.show
    finally:
        line.erase()


def _watched(config: pytest.Config) -> bool:
    """Whether a person is likely to see what the terminal reporter of this process writes."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    # The stream itself is a file while pytest captures, so ask the reporter.
    if not getattr(reporter, "isatty", False) or hasattr(config, "workerinput") or config.get_verbosity() < 0:
        return False
    return config.getoption("capture", "no") in _CAPTURES and not any(os.environ.get(name) for name in _CI)


class Line:
    """Text in the ``room`` after the cursor, overwritten and finally erased, so that the rest of the line stays.

    What is written in the context of ``outside`` reaches the terminal; ``clock`` gives seconds.
    """

    def __init__(
        self,
        file: TextIO,
        *,
        room: int,
        outside: Callable[[], AbstractContextManager[object]] = nullcontext,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file, self._room, self._outside, self._clock = file, room, outside, clock
        self._shown, self._next = "", float("-inf")

    def show(self, done: int, total: int) -> None:
        """Show progress, not more often than a person can read."""
        if (now := self._clock()) < self._next:
            return
        self._next = now + _EVERY
        texts = (f"retrieving {done}/{total} topics", f"{done}/{total}", "")
        self._write(next(text for text in texts if len(text) <= self._room or not text))

    def erase(self) -> None:
        """Leave the line as it was."""
        self._write("")

    def _write(self, text: str) -> None:
        if text == self._shown:
            return
        back = "\b" * len(self._shown)
        left = max(len(self._shown) - len(text), 0)
        with self._outside():
            self._file.write(back + text + " " * left + "\b" * left)
            self._file.flush()
        self._shown = text
