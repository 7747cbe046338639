"""A gate on a slice answers as the same gate on files that hold no other topics."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Question, RunFile, Stored
from pytest_riskguard.gates.kinds import Gate, gate_of
from tests.verdicts import altered

TOPICS = tuple(f"q{i:02d}" for i in range(60))
CODE = TOPICS[::2]
DEPTH = 9
GATES = {
    "risk": gate_of("g", alpha=5),
    "weighted": gate_of("g", alpha=1, weighted=True),
    "non-inferior": gate_of("g", kind="not_inferior", alpha=0, tolerance=0.2),
    "collapse": gate_of("g", kind="no_topic_collapse", max_loss=0.3),
    "pool": gate_of("g", kind="georisk_not_worse", alpha=1),
}


def write_run(path: Path, shift: int, topics: tuple[str, ...] = TOPICS) -> None:
    """The relevant document at a rank that depends on topic and run; codes fare worse in runs of high ``shift``."""
    rows = []
    for topic in topics:
        number = int(topic[1:])
        rank = 1 + (number * 7 + shift * (3 if topic in CODE else 1)) % DEPTH
        for place in range(1, DEPTH + 1):
            document = "good" if place == rank else f"bad{place}"
            rows.append(f"{topic} Q0 {document} {place} {100 - place} x\n")
    path.write_text("".join(rows))


def write_collection(folder: Path, topics: tuple[str, ...]) -> None:
    folder.mkdir()
    header = "topic\tquery\tkind\tweight\n"
    rows = [f"{t}\twords\t{'code' if t in CODE else 'words'}\t{1 + int(t[1:]) % 5}\n" for t in topics]
    (folder / "topics.tsv").write_text(header + "".join(rows))
    (folder / "qrels.txt").write_text("".join(f"{t} 0 good 1\n" for t in topics))
    for name, shift in {"new": 4, "old": 0, "other": 2, "again": 5}.items():
        write_run(folder / f"{name}.run", shift, topics)


@pytest.fixture(scope="module")
def collections(tmp_path_factory):
    """All topics, and the slice alone."""
    root = tmp_path_factory.mktemp("slices")
    write_collection(root / "all", TOPICS)
    write_collection(root / "code", CODE)
    return root / "all", root / "code"


def engine(folder: Path, **options: object) -> Engine:
    return Engine(qrels=folder / "qrels.txt", topics=folder / "topics.tsv", **options)  # type: ignore[arg-type]


def question(folder: Path, gate: Gate, kind: str) -> Question:
    new, old, other = (RunFile(folder / f"{name}.run") for name in ("new", "old", "other"))
    if kind == "pool":
        return Question(gate, new, old, "AP", pool=(other,))
    return Question(gate, new, old, "AP")


def comparable(verdict):
    """All of a verdict but what tells the files apart, and its line, which names the slice."""
    summary = verdict.summary.partition(". ")[2].replace(" kind=code", "")
    return altered(verdict, slice=None, inputs=None, summary=summary)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind in ("risk", "weighted", "collapse") else [pytest.mark.slow])
        for kind in GATES
    ],
)
def test_a_slice_is_judged_as_if_there_were_no_other_topics(collections, kind):
    whole, alone = collections
    asked = question(whole, replace(GATES[kind], slice="kind=code"), kind)
    judge = engine(whole, report=True)
    everything = judge.verdict(question(whole, GATES[kind], kind))
    found = judge.verdict(asked)
    expected = engine(alone, report=True).verdict(question(alone, GATES[kind], kind))
    assert (found.slice, found.topics.count) == ("kind=code", len(CODE))
    assert comparable(found) == comparable(expected)
    assert (everything.slice, everything.topics.count) == (None, len(TOPICS))


def test_auto_says_what_it_used_and_gates_keep_their_level(collections):
    whole, _ = collections
    questions = [
        replace(question(whole, gate_of(f"g{alpha:g}", alpha=alpha), "risk"), candidate=RunFile(whole / "again.run"))
        for alpha in (0.0, 1.0, 2.0)
    ]
    found = engine(whole).verdicts(questions, correction="auto")
    assert {(one.family.correction, one.family.level) for one in found} == {("joint_flips", 0.95)}
    assert {one.decisive_interval.level for one in found} == {0.95}
    slices = [question(whole, gate_of("g", slice=f"kind={value}"), "risk") for value in ("code", "words")]
    assert {one.family.correction for one in engine(whole).verdicts(slices, correction="auto")} == {"holm"}


def test_replicates_and_earlier_runs_are_those_of_the_slice(collections, tmp_path):
    verdicts = []
    for folder, gate in zip(collections, (gate_of("g", slice="kind=code"), gate_of("g")), strict=True):
        store = Store(tmp_path / folder.name)
        given = {"qrels": folder / "qrels.txt", "topics": folder / "topics.tsv", "measures": ["AP"]}
        store.add("prod", folder / "other.run", **given)
        store.update("prod", folder / "old.run", **given)
        judge = engine(folder, store=store)
        chained = judge.verdict(Question(gate, RunFile(folder / "new.run"), Stored("prod"), "AP"))
        store.add_replicate("prod", folder / "again.run", **given)
        noisy = engine(folder, store=store).verdict(Question(gate, RunFile(folder / "new.run"), Stored("prod"), "AP"))
        verdicts.append((chained, noisy))
    (chained, noisy), (chained_alone, noisy_alone) = verdicts
    assert chained.lineage.accepted == 1
    assert chained.lineage == chained_alone.lineage
    assert noisy.replicates == 1
    assert noisy.estimates == noisy_alone.estimates


def test_topics_that_are_not_as_they_should_be_are_those_of_the_slice(tmp_path):
    folder = tmp_path / "gaps"
    write_collection(folder, TOPICS)
    write_run(folder / "new.run", 4, TOPICS[2:])  # q00 (code) and q01 (words) are unanswered
    with (folder / "qrels.txt").open("a") as file:
        file.write("n0 0 good 0\nn1 0 good 0\n")
    with (folder / "topics.tsv").open("a") as file:
        file.write("n0\twords\tcode\t1\nn1\twords\twords\t1\n")
    verdict = engine(folder).verdict(question(folder, gate_of("g", slice="kind=code"), "risk"))
    assert verdict.topics.missing_in_candidate == ("q00",)
