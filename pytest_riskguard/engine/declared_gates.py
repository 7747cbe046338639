"""The gates of a riskguard.yaml as questions to one engine: what pytest and ``riskguard check`` judge.

Runs are scored once and live systems queried once, however many gates are about them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.config.candidate_settings import DescribedScores, file_of, key_of
from pytest_riskguard.config.items import GateItem, families
from pytest_riskguard.config.schema import Config, GateSettings
from pytest_riskguard.config.setting_types import Queried
from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.engine.advice import Reader, advised
from pytest_riskguard.engine.judging import Engine
from pytest_riskguard.engine.question import LiveRun, Question, RunFile, ScoreFile, Stored
from pytest_riskguard.errors import ConfigError, RiskguardError, UsageError, nearby
from pytest_riskguard.gates.kinds import KINDS
from pytest_riskguard.gates.verdict import Verdict


def engine_of(settings: Config, **more: Any) -> Engine:
    """The engine over the collection and the store of a riskguard.yaml; ``more`` is what ``Engine`` takes besides."""
    collection = settings.collection
    return Engine(
        qrels=collection.given_qrels,
        topics=collection.given_topics,
        store=Store(settings.store),
        measures=settings.all_measures,
        on_changed_inputs=settings.on_changed_inputs,
        titles=DocumentTitles(collection.documents.path, collection.documents.url),
        folder=settings.path.parent,
        **more,
    )


class DeclaredGates:
    """The gates of a riskguard.yaml, and what each of them is asked about.

    ``settings`` are those of ``load_gates``. ``live`` makes a candidate of what the file says about a live system, in
    this line. ``candidate`` replaces every candidate of the file, ``runs`` stored baselines, by name.
    """

    def __init__(
        self,
        settings: Config,
        engine: Engine,
        live: Callable[[Queried, int], LiveRun],
        *,
        candidate: RunFile | None = None,
        runs: Mapping[str, RunFile] | None = None,
    ) -> None:
        self.settings, self._engine, self._live = settings, engine, live
        self._candidate, self._runs = candidate, runs or {}
        self._queried: dict[Queried, LiveRun] = {}
        self._of_families: dict[str, Verdict] = {}
        self._families = families(settings)

    def verdict(self, item: GateItem) -> Verdict:
        """The verdict on one item; its family is judged whole, once, even if only some items are asked for.

        ``ConfigError`` if the question cannot be asked.
        """
        if item.id in self._of_families:
            return self._of_families[item.id]
        family = next(one for one in self._families if any(member.id == item.id for member in one.items))
        try:
            questions = [self._question(member) for member in family.items]
            verdicts = self._engine.verdicts(questions, correction=family.correction)
        except ConfigError:
            raise
        except UsageError as error:
            gate = item.settings
            problem = f"gate {gate.name!r}: {error}"
            raise ConfigError(self.settings.path, self.settings.line_of(gate), problem) from None
        found = {member.id: verdict for member, verdict in zip(family.items, verdicts, strict=True)}
        if len(found) > 1:
            self._of_families |= found
        return found[item.id]

    def question(self, item: GateItem) -> Question:
        """What one item asks, at the level that the correction leaves it; raises as ``verdict`` does."""
        family, question = self.verdict(item).family, self._question(item)
        return question if family is None else replace(question, gate=replace(question.gate, level=family.level))

    def advised(self, verdict: Verdict, item: GateItem, reader: Reader, *, accept: str = "") -> Verdict:
        """The verdict with what its reader can type, and the setting that names the file at fault.

        ``accept`` is as ``advice.advised`` takes it.
        """
        gate, question = item.settings, self._question(item)
        given = [] if self._candidate is None else [reader.path(self._candidate)]
        runs = list[str | None]()
        for name, run in self._runs.items():
            path = reader.path(run)
            runs += ["--baseline", path and f"{name}={path}"]
        words = [*given, "--gate", None if item.id in KINDS else item.id, *runs]
        explain = [*(word for path in given for word in ("--candidate", path)), *runs]
        # the store would keep what the candidate of the whole file answers
        keeps = not isinstance(question.candidate, LiveRun) or gate.candidate is None
        named = named_in(self.settings, verdict.error, *reader.folders, gate=gate)
        return advised(
            verdict,
            question,
            reader,
            judge_next=words,
            explain=explain,
            keeps=keeps,
            accept=item.id if gate.candidate and self._candidate is None else accept,
            named=named,
        )

    def _question(self, item: GateItem) -> Question:
        first, *pool = (baseline_source(baseline, self._runs) for baseline in item.baselines)
        candidate = self._candidate or self._candidate_of(item)
        return Question(item.gate, candidate, first, item.measure, pool=tuple(pool))

    def _candidate_of(self, item: GateItem) -> RunFile | ScoreFile | LiveRun:
        own, shared = item.settings.candidate, self.settings.candidate
        candidate = own or shared
        if candidate is None:
            raise UsageError("expected `candidate: RUN` in the file, or `riskguard check --candidate RUN`")
        if not isinstance(candidate, Queried):
            kind = ScoreFile if isinstance(candidate, DescribedScores) else RunFile
            return kind(candidate.given)
        if candidate not in self._queried:
            where = ("candidate", key_of(candidate))
            line = self.settings.line_of(item.settings, *where) if own else self.settings.line(*where)
            self._queried[candidate] = self._live(candidate, line)
        return self._queried[candidate]


def named_in(
    settings: Config | None, error: RiskguardError | None, *folders: Path, gate: GateSettings | None = None
) -> str:
    """Where a riskguard.yaml names the file that an error is about, as a person in the first of the folders types it.

    Empty where it does not. The candidate is that of the gate if it has one of its own.
    """
    if settings is None or error is None:
        return ""
    collection, own = settings.collection, gate and gate.candidate
    line = settings.line_of(gate, "candidate") if gate and own else settings.line("candidate")
    at = settings.line("collection")
    for what, given, named_at in (
        ("qrels", collection.qrels, at),
        ("topics", collection.topics, at),
        ("candidate", file_of(own or settings.candidate), line),
    ):
        if given is not None and given.path == error.where:
            file = nearby(settings.path, *folders) or settings.path
            return f" (the {what} named in {file}:{named_at})"
    return ""


def baseline_source(baseline: str, runs: Mapping[str, RunFile]) -> RunFile | Stored:
    """What a gate names as a baseline, perhaps as ``NAME/RUN``; ``runs`` replace stored baselines, by name."""
    name, _, earlier = baseline.partition("/")
    return runs.get(name) or Stored(name, earlier or None)
