"""Verdicts from the cache where it has them; otherwise the gate is judged, and its verdict is kept.

An entry repeats its name, which is the digest of its key, and has a digest of its text: one that is damaged, or of
something else, is as good as none. The key itself, with paths and variables, is not written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pytest_riskguard import run_context
from pytest_riskguard.engine.kept_verdicts.asked import AskedGates, NoKeyError, Run, name_of
from pytest_riskguard.engine.kept_verdicts.asked_file import AskedFile
from pytest_riskguard.engine.kept_verdicts.exact_values import ExactError, read, written
from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder, cache_folder

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

_KIND = "verdicts"
_FORMAT = "riskguard-verdict/2"
#: Answers about data; what is wrong with data is found anew each time.
_KEPT = ("pass", "fail", "inconclusive")


class KeptVerdicts:
    """The verdicts of the gates of a riskguard.yaml; the parameters are those of ``AskedGates``."""

    def __init__(
        self, asked: AskedFile, *, report: bool, candidate: Run | None = None, runs: Mapping[str, Run] | None = None
    ) -> None:
        self._asked, self._report = AskedGates(asked, report=report, candidate=candidate, runs=runs), report

    def verdict(self, item: str, judge: Callable[[], Verdict]) -> Verdict:
        """The verdict on the item with this id: the one that is kept, or what ``judge`` answers, which may raise."""
        self._asked.look(item)
        folder = cache_folder()
        name = None if folder is None else self._name(item, folder)
        if folder is None or name is None:
            return judge()
        verdict = _kept(folder, name)
        if verdict is not None:
            return verdict
        failures: list[str] = []
        listeners = (*run_context.current().failure_listeners, failures.append)
        with run_context.changed(failure_listeners=listeners):
            verdict = judge()
            text = self._text(verdict)
        if text is not None and not failures and self._name(item, folder) == name:
            _keep(folder, name, text)
        return verdict

    def _name(self, item: str, folder: CacheFolder) -> str | None:
        try:
            return name_of(self._asked.key(item, folder))
        except (NoKeyError, ValueError):  # ValueError: a number of more digits than Python writes
            return None

    def _text(self, verdict: Verdict) -> str | None:
        """A verdict as text, with all its findings; None if it is not to be kept, or one cannot be computed."""
        if verdict.outcome not in _KEPT:
            return None
        try:
            return written(verdict if self._report else verdict.without_diagnostics())
        except Exception:  # whoever reads the finding that raises says what is wrong
            return None


def _kept(folder: CacheFolder, name: str) -> Verdict | None:
    content = folder.read(_KIND, name)
    if content is None:
        return None
    try:
        head, text = content.decode("ascii").split("\n", 1)
        return read(text) if head == _head(name, text) else None
    except (ExactError, ValueError):
        return None


def _keep(folder: CacheFolder, name: str, text: str) -> None:
    folder.write(_KIND, name, f"{_head(name, text)}\n{text}".encode("ascii"))
    folder.trim()


def _head(name: str, text: str) -> str:
    return f"{_FORMAT} {name} {hashlib.sha256(text.encode('ascii')).hexdigest()}"
