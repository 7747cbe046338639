"""Finds and reads riskguard.yaml."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.config.settings import (
    Candidate,
    CandidateFile,
    CandidateRetrieve,
    Collection,
    ComputedBaseline,
    Config,
    DeclaredSlice,
    FamilySettings,
    GateSettings,
)
from pytest_riskguard.errors import ConfigError
from pytest_riskguard.gates.kinds import TESTED

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import ConfigModel, GateKeys, RetrieveModel
    from pytest_riskguard.config.yaml_lines import Document

CONFIG_NAME = "riskguard.yaml"


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
    """Read a riskguard.yaml; nothing that it names is opened.

    Its relative paths start from its folder. The fixture and ``riskguard baseline`` do not ``require_gates``.

    Raises
    ------
    ConfigError
        The first error of the file by line; its ``errors`` are all of them, and its message says each.
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
    folder = path.parent
    topics = model.collection.topics
    return Config(
        path=path,
        collection=Collection(
            _beside(folder, model.collection.qrels),
            None if topics is None else _beside(folder, topics),
            document.line(("collection",)),
        ),
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
    kind, systems = model.baseline.asked()
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
