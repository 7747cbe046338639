"""Real runs raise no false alarm: stored, rescored and updated, on judgements as they are and honestly changed."""

import gzip
import random
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.judging import Asked
from pytest_riskguard.engine.question import Question, RunFile, Stored
from pytest_riskguard.gates.kinds import POLICY, gate_of
from pytest_riskguard.gates.verdict import Verdict

COLLECTIONS = {"cranfield_runs": "qrels.txt", "web2012_runs": "qrels.adhoc.txt.gz"}
#: Searches that find nothing unless every word, or every third, is in a document.
FIND_NOTHING = ("fts5_and", "fts5_and3")
MEASURE, POOLED = "nDCG@10", 10
Rows = list[list[str]]


def regraded(rows: Rows, draw: random.Random, pool: Mapping[str, list[str]]) -> Rows:
    """A tenth of the relevant documents is a grade higher or lower, and stays relevant."""
    highest = max(int(row[3]) for row in rows)

    def again(grade: int) -> int:
        return min(max(grade + draw.choice((-1, 1)), 1), highest) if grade > 0 and draw.random() < 0.1 else grade

    return [[*row[:3], str(again(int(row[3])))] for row in rows]


def extended(rows: Rows, draw: random.Random, pool: Mapping[str, list[str]]) -> Rows:
    """A third more relevant documents, from the tops of the runs."""
    judged: dict[str, set[str]] = defaultdict(set)
    relevant: Counter[str] = Counter()
    for topic, _, document, grade in rows:
        judged[topic].add(document)
        relevant[topic] += int(grade) > 0
    grades = [grade for *_, grade in rows if int(grade) > 0]
    new = []
    for topic in sorted(judged):
        unjudged = [document for document in pool[topic] if document not in judged[topic]]
        chosen = draw.sample(unjudged, min(len(unjudged), round(relevant[topic] / 3)))
        new += [[topic, "0", document, draw.choice(grades)] for document in chosen]
    return [*rows, *new]


def lines(path: Path) -> Rows:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return [line.split() for line in text.decode().splitlines()]


@pytest.fixture(scope="module", params=["web2012_runs", pytest.param("cranfield_runs", marks=pytest.mark.nightly)])
def collection(request, shared, tmp_path_factory):
    """A folder with judgements, honestly changed ones and a store of all runs, by the name of each."""
    folder, data = tmp_path_factory.mktemp(request.param), shared / "data" / request.param
    runs = {path.name.removesuffix(".run.gz"): path for path in sorted((data / "runs").iterdir())}
    rows, draw = lines(data / COLLECTIONS[request.param]), random.Random(30)
    pool: dict[str, list[str]] = defaultdict(list)
    for run in runs.values():
        taken: Counter[str] = Counter()
        for topic, _, document, *_ in lines(run):
            taken[topic] += 1
            if taken[topic] <= POOLED and document not in pool[topic]:
                pool[topic].append(document)
    changed = {"given": rows, "regraded": regraded(rows, draw, pool), "extended": extended(rows, draw, pool)}
    for name, judgements in changed.items():
        (folder / f"{name}.txt").write_text("".join(f"{' '.join(row)}\n" for row in judgements))
    for name, run in runs.items():
        Store(folder / "store").add(
            name,
            run,
            qrels=folder / "given.txt",
            topics=None,
            measures=[MEASURE],
            allow_unanswered=name in FIND_NOTHING,
        )
    return folder, runs, folder / "store"


class Answers(Engine):
    """An engine that looks for no documents behind its verdicts, which takes most of its time."""

    def _with_documents(self, verdict: Verdict, asked: Asked) -> Verdict:
        return verdict


def incomparable(folder: Path, runs: Mapping[str, Path], judgements: str) -> dict[tuple[str, str, str], str]:
    """What is wrong with each pair of runs that a gate of the default policy could not compare.

    One run has so many equal scores that their order decides some verdicts, on any judgements.
    """
    engine = Answers(qrels=folder / f"{judgements}.txt", store=Store(folder / "store"), measures=[MEASURE])
    found = {}
    for candidate, run in runs.items():
        for baseline in runs:
            if baseline == candidate:
                continue
            for name, kind, options in POLICY:
                gate = gate_of(name, kind=kind, **options)
                verdict = engine.verdict(Question(gate, RunFile(run, candidate), Stored(baseline), MEASURE))
                if verdict.outcome == "incomparable" and verdict.reason != "order_as_written":
                    found[name, candidate, baseline] = str(verdict.problem)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("judgements", ["given", "regraded", "extended"])
def test_stored_runs_stay_comparable(collection, judgements):
    folder, runs, _ = collection
    assert incomparable(folder, runs, judgements) == {}


@pytest.mark.slow
def test_rescored_and_updated_runs_stay_comparable(collection):
    folder, runs, place = collection
    store, on = Store(place), {"qrels": folder / "extended.txt", "topics": None}
    scored = {**on, "measures": [MEASURE]}
    names = sorted(runs)
    for name, other in zip(names, names[1:] + names[:1], strict=True):
        store.rescore(name, **on)
        store.update(name, runs[other], note="other", allow_unanswered=other in FIND_NOTHING, **scored)
        store.update(name, runs[name], note="back", allow_unanswered=name in FIND_NOTHING, **scored)
    assert incomparable(folder, runs, "extended") == {}
