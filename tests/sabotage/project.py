"""The project that every case breaks: a small collection, stored baselines, four gates and a planted regression.

60 topics, 50 documents each, 10 of them judged. The baselines ``prod``, ``bm25`` and ``old`` are stored by
riskguard's own command. In the candidate of ``PLANTED``, 45 topics lose their relevant documents to lower ranks and
three lose all of them, so that each of the gates in riskguard.yaml, and the test with the fixture, fails. The
candidate of ``IMPROVED`` is better than ``prod`` in 20 topics and changes nothing else, so that each of them passes.
"""

import random
from collections.abc import Sequence
from pathlib import Path

from pytest_riskguard.baselines.store import Store

PLANTED, IMPROVED = "planted", "improved"
TOPICS = tuple(f"t{number:02d}" for number in range(1, 61))
BASELINES = ("prod", "bm25", "old")
DEPTH = 50
JUDGED = 10

YAML = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [nDCG@10]
candidate: runs/candidate.run
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod, alpha: 1}
  - {name: pool, kind: georisk_not_worse, baselines: [prod, bm25, old], reference: prod, alpha: 5}
  - {name: not-worse, kind: not_inferior, baseline: prod, tolerance: 0.02, alpha: 0}
  - {name: no-collapse, kind: no_topic_collapse, baseline: prod, max_loss: 0.5}
"""

TEST = """\
def test_ranking(riskguard):
    candidate = riskguard.run("runs/candidate.run")
    riskguard.assert_not_significantly_risky(candidate, "prod", measure="nDCG@10", alpha=1)
"""

#: A search for live cases (``candidate: {retrieve: "search:retrieve"}``), which answers as the candidate's run does.
SEARCH = """\
from pathlib import Path

RANKINGS = {}
QUERIES = {}
here = Path(__file__).parent
for line in (here / "topics.tsv").read_text(encoding="utf-8").splitlines()[1:]:
    topic, query, _ = line.split("\\t")
    QUERIES[query] = topic
for line in (here / "runs" / "candidate.run").read_text(encoding="utf-8").splitlines():
    topic, _, document, _, score, _ = line.split()
    RANKINGS.setdefault(topic, []).append((document, float(score)))


def retrieve(query):
    return RANKINGS[QUERIES[query]]
"""


def write(folder: Path) -> None:
    """Both projects, in the folders ``planted`` and ``improved`` of a folder."""
    for name in (PLANTED, IMPROVED):
        _write_project(folder / name, is_planted=name == PLANTED)


def documents(topic: str) -> list[str]:
    """The documents of a topic; the first ``JUDGED`` are judged, five of them relevant."""
    return [f"doc-{topic}-{number:02d}" for number in range(1, DEPTH + 1)]


def grade(number: int) -> int:
    """The grade of a topic's judged document, by its number from 0: 2, 2, 1, 1, 1, then 0."""
    return (2, 2, 1, 1, 1)[number] if number < 5 else 0


def _write_project(folder: Path, *, is_planted: bool) -> None:
    (folder / "runs").mkdir(parents=True)
    lines = [f"{t} 0 {doc} {grade(i)}\n" for t in TOPICS for i, doc in enumerate(documents(t)[:JUDGED])]
    _text(folder / "qrels.txt", lines)
    kinds = ("browse", "buy", "help")
    queries = [f"{t}\tquery about subject {t[1:]}\t{kinds[i % 3]}\n" for i, t in enumerate(TOPICS)]
    _text(folder / "topics.tsv", ["topic\tquery\tintent\n", *queries])
    baselines = {name: _rankings(name) for name in BASELINES}
    for name, rankings in baselines.items():
        write_run(folder / "runs" / f"{name}.run", rankings, tag=name)
    changed = _regression(baselines["prod"]) if is_planted else _improvement(baselines["prod"])
    write_run(folder / "runs" / "candidate.run", changed, tag="candidate")
    for name, text in (("riskguard.yaml", YAML), ("test_ranking.py", TEST), ("search.py", SEARCH)):
        _text(folder / name, [text])
    _text(folder / "pytest.ini", ["[pytest]\n"])
    store = Store(folder / "baselines")
    for name in BASELINES:
        store.add(
            name,
            folder / "runs" / f"{name}.run",
            qrels=folder / "qrels.txt",
            topics=folder / "topics.tsv",
            measures=["nDCG@10"],
        )
    for name in BASELINES:
        (folder / "runs" / f"{name}.run").unlink()


def write_run(path: Path, rankings: dict[str, list[str]], *, tag: str) -> None:
    """Run as a run of TREC's format; scores fall by one from rank to rank."""
    lines = [
        f"{topic} Q0 {document} {rank} {DEPTH + 1 - rank}.5 {tag}\n"
        for topic, ranking in rankings.items()
        for rank, document in enumerate(ranking, start=1)
    ]
    _text(path, lines)


def _rankings(system: str) -> dict[str, list[str]]:
    """Relevant documents near the top, in an order that each system has of its own."""
    rng = random.Random(f"rankings of {system}")
    rankings = {}
    for topic in TOPICS:
        ranking = documents(topic)
        places = {document: i + rng.uniform(0, 12 if i < JUDGED else 4) for i, document in enumerate(ranking)}
        rankings[topic] = sorted(ranking, key=places.__getitem__)
    return rankings


def _regression(rankings: dict[str, list[str]]) -> dict[str, list[str]]:
    changed = {}
    for number, (topic, ranking) in enumerate(rankings.items()):
        relevant = documents(topic)[:5]
        if number < 3:  # nothing relevant is left
            changed[topic] = [document for document in ranking if document not in relevant]
        elif number < 45:  # what is relevant falls by five ranks
            changed[topic] = sorted(ranking, key=lambda d: ranking.index(d) + 5.5 * (d in relevant))
        else:
            changed[topic] = ranking
    return changed


def _improvement(rankings: dict[str, list[str]]) -> dict[str, list[str]]:
    changed = dict(rankings)
    for topic in TOPICS[:20]:
        best = documents(topic)[0]
        changed[topic] = [best, *(document for document in rankings[topic] if document != best)]
    return changed


def _text(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
