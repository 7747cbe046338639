"""The settings of riskguard.yaml, found and read."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.errors import ConfigError
from pytest_riskguard.gates.kinds import MIN_SLICE_TOPICS, TESTED, Correction, Gate

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import ConfigModel, GateKeys, RetrieveModel
    from pytest_riskguard.config.yaml_lines import Document

CONFIG_NAME = "riskguard.yaml"


@dataclass(frozen=True)
class Collection:
    """The judgements, and the query texts where there are any; absolute paths. ``line`` counts from 1."""

    qrels: Path
    topics: Path | None = None
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class CandidateFile:
    """The candidate is a run file; an absolute path, and the line of the file that names it."""

    path: Path
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class CandidateRetrieve:
    """The candidate is a function, ``package.module:function``; it is asked as ``Asking`` says."""

    target: str
    depth: int = 100
    workers: int = 1
    timeout: float | None = None
    retries: int = 0


Candidate = CandidateFile | CandidateRetrieve


@dataclass(frozen=True)
class ComputedBaseline:
    """A baseline computed topic by topic from stored ones: their ``mean``, ``median`` or ``max``."""

    kind: str
    systems: tuple[str, ...]
    candidate_inside: bool = False


@dataclass(frozen=True)
class DeclaredSlice:
    """``TAG=VALUE``, or ``TAG`` for each of its values, and the line of the file."""

    text: str
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class GateSettings:
    """One entry of ``gates``; each measure is judged with each of the ``questions``, which differ in alpha.

    ``baselines`` are a pool, or asked about one by one. Without a ``candidate`` that of the file is judged.
    ``declared`` are parts of the topics as written (empty: all topics), ``slices`` the ``TAG=VALUE`` that
    ``items.with_slices`` found them to be; for ``TAG`` alone, those with at least ``smallest_slice`` judged topics.
    """

    name: str
    line: int
    baselines: tuple[str | ComputedBaseline, ...]
    measures: tuple[str, ...]
    candidate: Candidate | None
    questions: tuple[Gate, ...]
    declared: tuple[DeclaredSlice, ...] = ()
    smallest_slice: int = MIN_SLICE_TOPICS
    slices: tuple[str, ...] = ()

    @property
    def asked_of(self) -> tuple[tuple[str | ComputedBaseline, ...], ...]:
        """The baselines of each question: all of a pool, or one of the others."""
        return (self.baselines,) if self.questions[0].is_pool else tuple((one,) for one in self.baselines)

    @property
    def alphas(self) -> tuple[float, ...]:
        """Every alpha of the gate."""
        return tuple(question.alpha for question in self.questions)


@dataclass(frozen=True)
class FamilySettings:
    """The gates that are judged together, by name, and how their levels are corrected for being several."""

    correction: Correction
    gates: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """A whole riskguard.yaml, with absolute paths; the store need not exist.

    ``measures`` and ``candidate`` are those of every gate that names none. Without ``family`` every gate is judged at
    its own level.
    """

    path: Path
    collection: Collection
    store: Path
    measures: tuple[str, ...]
    candidate: Candidate | None
    family: FamilySettings | None
    gates: tuple[GateSettings, ...]

    @property
    def all_measures(self) -> tuple[str, ...]:
        """All that a baseline must be scored with: ``measures``, then those that only single gates name."""
        named = [*self.measures, *(measure for gate in self.gates for measure in gate.measures)]
        return tuple(dict.fromkeys(named))


def find_config(start: Path, *, stop: Path | None = None) -> Path | None:
    """The nearest riskguard.yaml: beside the file or in the folder ``start``, or in a folder above up to ``stop``."""
    start = Path(os.path.normpath(start.absolute()))
    last = None if stop is None else Path(os.path.normpath(stop.absolute()))
    for folder in (start, *start.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
        if folder == last:
            return None
    return None


def load_config(path: Path, *, require_gates: bool = True) -> Config:
    """Read a riskguard.yaml; nothing that it names is opened, and its relative paths start from its folder.

    The ``ConfigError`` is the first error of the file by line; its ``errors`` are all of them.
    """
    from pytest_riskguard.config import yaml_lines
    from pytest_riskguard.config.problems import check

    try:
        with path.open("rb") as file:
            content = file.read(yaml_lines.MAX_BYTES + 1)
        document = yaml_lines.parse(yaml_lines.decode(content))
    except OSError as error:
        raise ConfigError(path, 1, f"cannot be read: {error.strerror or error}") from None
    except yaml_lines.YamlError as error:
        raise ConfigError(path, error.line, error.problem) from None
    model, problems = check(document, require_gates=require_gates)
    if model is None or problems:
        raise ConfigError.of([ConfigError(path, p.line, p.text, gate=p.gate) for p in problems])
    return _settings(model, document, path.absolute())


def _settings(model: ConfigModel, document: Document, path: Path) -> Config:
    folder, topics = path.parent, model.collection.topics
    topics_path = None if topics is None else _beside(folder, topics)
    qrels_path = _beside(folder, model.collection.qrels)
    return Config(
        path=path,
        collection=Collection(qrels_path, topics_path, document.line(("collection",))),
        store=_beside(folder, model.store),
        measures=tuple(model.measures or ()),
        candidate=_candidate(folder, model.candidate, document.line(("candidate",))),
        family=_family(model),
        gates=tuple(_gate(model, index, folder, document) for index in range(len(model.gates))),
    )


def _family(model: ConfigModel) -> FamilySettings | None:
    match model.family:
        case None | "none":
            return None
        case str() as correction:
            return FamilySettings(correction, tuple(gate.name for gate in model.gates if gate.kind in TESTED))
        case family:
            return None if family.correction == "none" else FamilySettings(family.correction, tuple(family.gates))


def _gate(whole: ConfigModel, index: int, folder: Path, document: Document) -> GateSettings:
    model, place = whole.gates[index], ("gates", index)
    entries = enumerate(model.slice or [])
    return GateSettings(
        name=model.name,
        line=document.line(place),
        baselines=_baselines(model),
        measures=tuple(model.measure or whole.measures or ()),
        candidate=_candidate(folder, model.candidate, document.line((*place, "candidate"))),
        questions=tuple(model.gate(alpha=alpha, convention=whole.convention) for alpha in model.alpha),
        declared=tuple(DeclaredSlice(text, document.line((*place, "slice", i))) for i, text in entries),
        smallest_slice=model.smallest_slice,
    )


def _baselines(model: GateKeys) -> tuple[str | ComputedBaseline, ...]:
    if model.baselines is not None:
        return tuple(model.baselines)
    if isinstance(model.baseline, str):
        return (model.baseline,)
    if model.baseline is None:  # reported by config.problems already
        return ()
    kind, systems = model.baseline.given[0]
    return (ComputedBaseline(kind, systems, model.baseline.candidate_inside),)


def _candidate(folder: Path, value: str | RetrieveModel | None, line: int) -> Candidate | None:
    if isinstance(value, str):
        return CandidateFile(_beside(folder, value), line)
    if value is None:
        return None
    return CandidateRetrieve(value.retrieve, value.depth, value.workers, value.timeout, value.retries)


def _beside(folder: Path, text: str) -> Path:
    """An absolute path without ``..``; symbolic links stay, since a run is named by its file."""
    return Path(os.path.normpath(folder / text))
