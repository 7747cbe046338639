"""Every format is read to the same verdict, byte for byte, as the TREC form of the same data."""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

from pytest_riskguard.data.formats import FORMATS
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import Kind
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Question, RunFile, ScoreFile
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.json import dumps
from tests.data import written
from tests.data.world import WORLD, Case, World
from tests.data.written.scores import table

CASES: tuple[Case, ...] = tuple(
    case
    for module in iter_modules(written.__path__)
    for case in import_module(f"{written.__name__}.{module.name}").CASES
)
MEASURE = "nDCG@10"
#: The files of the collection and its systems, by what they hold.
TREC = {"judgements": "qrels.txt", "topics": "topics.tsv", "rankings": "candidate.run", "scores": "candidate.scores"}


def write_folder(folder: Path, case: Case | None, world: World) -> dict[str, str]:
    """The collection and two systems in TREC's formats, one of them as the case has it; the names of the files."""
    folder.mkdir()
    (folder / "qrels.txt").write_bytes(world.qrels)
    (folder / "topics.tsv").write_bytes(world.topics)
    (folder / "candidate.run").write_bytes(world.run)
    (folder / "prod.run").write_bytes(world.baseline_run)
    (folder / "candidate.scores").write_bytes(table(world))
    (folder / "prod.csv").write_text("topic,AP\n" + "".join(f"{topic},0.5\n" for topic in world.scores))
    names = dict(TREC)
    if case is not None:
        names[case.kind] = case.name
        (folder / case.file).write_bytes(case.content(WORLD))
    return names


def verdict_of(folder: Path, names: dict[str, str], kind: Kind) -> str:
    """The verdict of the engine, without names and digests of files."""
    files = {held: GivenFile.of(folder / name) for held, name in names.items()}
    engine = Engine(qrels=files["judgements"], topics=files["topics"])
    gate = gate_of("no-risk", "not_significantly_risky", alpha=1.0)
    if kind == "scores":
        question = Question(gate, ScoreFile(files["scores"], "candidate"), ScoreFile(folder / "prod.csv"), "AP")
    else:
        question = Question(gate, RunFile(files["rankings"], "candidate"), RunFile(folder / "prod.run"), MEASURE)
    verdict = replace(engine.verdict(question), documents=None, judgements=None, inputs=None)
    data: dict[str, Any] = {**json.loads(dumps(Report([verdict]))), "provenance": None, "rankings": None}
    for said in data["verdicts"]:
        if said["exhibits"] is not None:  # a further column of topics is a tag, which the TREC form lacks
            said["exhibits"]["tags"].pop("referenceAnswer", None)
    return json.dumps(data)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_file_says_the_same_as_its_trec_form(case: Case, tmp_path):
    for module in case.needs:
        pytest.importorskip(module)
    world = WORLD if case.has_ids else WORLD.named_by_text()
    said = []
    for folder, written_case in ((tmp_path / "trec", None), (tmp_path / "case", case)):
        said.append(verdict_of(folder, write_folder(folder, written_case, world), case.kind))
    assert said[0] == said[1]


def test_every_format_has_a_file_of_each_kind_that_it_can_hold():
    have = {(case.known, case.kind) for case in CASES}
    can_hold = {(known.name, kind) for known in FORMATS if known.name != "irds" for kind in known.reads.split()}
    assert have == can_hold
