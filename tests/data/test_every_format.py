"""Every format is read in every way to the same verdict, byte for byte, as the TREC form of the same data."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

from pytest_riskguard.cli.main import run as riskguard
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
#: The files of the collection and its systems as the riskguard command names them, by what they hold.
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


def by_python(folder: Path, names: dict[str, str], kind: Kind) -> bytes:
    """The verdict of the engine, without documents and judgements, which are in the report of a command."""
    files = {held: GivenFile.of(folder / name) for held, name in names.items()}
    engine = Engine(qrels=files["judgements"], topics=files["topics"])
    gate = gate_of("no-risk", "not_significantly_risky", alpha=1.0)
    if kind == "scores":
        question = Question(gate, ScoreFile(files["scores"], "candidate"), ScoreFile(folder / "prod.csv"), "AP")
    else:
        question = Question(gate, RunFile(files["rankings"], "candidate"), RunFile(folder / "prod.run"), MEASURE)
    report = json.loads(dumps(Report([replace(engine.verdict(question), documents=None, judgements=None)])))
    return without_provenance(json.dumps({**report, "rankings": []}))


def by_compare(folder: Path, names: dict[str, str], kind: Kind) -> bytes:
    """The report of ``riskguard compare``."""
    line = ["compare", "-o", "report.json", "--quiet"]
    if kind == "scores":
        line += [names["scores"], "--scores", "--baseline", "prod.csv", "--measure", "AP"]
    else:
        line += [names["rankings"], "--baseline", "prod.run", "--measure", MEASURE]
        line += ["--qrels", names["judgements"], "--topics", names["topics"]]
    assert riskguard(line) in (0, 1)
    return without_provenance((folder / "report.json").read_text())


def without_provenance(report: str) -> bytes:
    """A report without the names of systems, and where they come from."""
    data: dict[str, Any] = json.loads(report)
    data.pop("provenance", None)
    for verdict in data["verdicts"]:
        verdict["inputs"] = None  # digests: of the text in TREC's format, of the content in others
        if verdict["exhibits"] is not None:  # a further column of topics is a tag, which the TREC form lacks
            verdict["exhibits"]["tags"].pop("referenceAnswer", None)
    (name,) = {verdict["candidate"] for verdict in data["verdicts"]}
    return json.dumps(data, indent=1).replace(name, "candidate").encode()


WAYS = (by_python, pytest.param(by_compare, marks=pytest.mark.slow))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_file_says_the_same_as_its_trec_form(case: Case, way, tmp_path, monkeypatch):
    for module in case.needs:
        pytest.importorskip(module)
    world = WORLD if case.has_ids else WORLD.named_by_text()
    said = []
    for folder, written_case in ((tmp_path / "trec", None), (tmp_path / "case", case)):
        names = write_folder(folder, written_case, world)
        monkeypatch.chdir(folder)
        said.append(way(folder, names, case.kind))
    assert said[0] == said[1]


def test_every_format_has_a_file_of_each_kind_that_it_can_hold():
    have = {(case.known, case.kind) for case in CASES}
    can_hold = {(known.name, kind) for known in FORMATS if known.name != "irds" for kind in known.reads.split()}
    assert have == can_hold
