"""Per-topic scores as a stored baseline: everything that needs no run works, everything else says so."""

import pytest

from tests.strict import STRICT_LINE

TOPICS = [f"q{number:02d}" for number in range(30)]


@pytest.fixture(autouse=True)
def files(folder):
    """Scores of two systems as trec_eval prints them, and of one of them as a table."""
    (folder / "riskguard.yaml").unlink()
    for name, level in (("old", 0.5), ("new", 0.4)):
        rows = (f"map\t{topic}\t{level + place / 1000}\n" for place, topic in enumerate(TOPICS))
        (folder / f"{name}.eval").write_text("".join(rows) + f"map\tall\t{level}\n")
    table = "".join(f"{topic}\t{0.5 + place / 1000!r}\n" for place, topic in enumerate(TOPICS))
    (folder / "old.tsv").write_text(f"topic\tAP\n{table}")
    return folder


def report(command, line):
    ended = command(f"{line} {STRICT_LINE} -o -")
    (verdict,) = ended.verdicts
    return ended.status, {**verdict, "baselines": [], "inputs": {**verdict["inputs"], "baselines": {}}}, verdict


def test_a_stored_table_of_scores_gives_the_verdict_of_its_file(command, done, files):
    out = done("baseline add old --scores old.eval --note why")
    assert out.startswith("stored old: 30 topics; AP 0.5145; scores alone; ")
    by_name = report(command, "compare new.eval --scores --baseline old")
    by_file = report(command, "compare new.eval --scores --baseline old=old.tsv")
    assert by_name[0] == by_file[0] == 1
    assert by_name[1]["reason"] == "loss"
    assert {**by_name[2], "inputs": None} == {**by_file[2], "inputs": None}  # digests of two files


@pytest.mark.parametrize(
    ("line", "status", "problem"),
    [
        ("baseline rescore old --qrels qrels.txt", 3, "its run was not kept, or it was stored from scores"),
        (
            "judge-next good.run --baseline old --qrels qrels.txt --measure AP",
            3,
            "its run was not kept, or it was stored from scores",
        ),
        ("baseline add old good.run --replicate --qrels qrels.txt", 2, "was stored from scores"),
        ("baseline add new new.eval --scores --replicate", 2, "--scores does not belong to it"),
        ("baseline add new new.eval --scores --measure nDCG@10", 3, "expected a measure 'nDCG@10'"),
        ("baseline add new good.run", 2, "no qrels: give --qrels"),
        ("compare new.eval --scores --baseline old --measure nDCG@10", 3, "a measure 'nDCG@10'"),
    ],
)
def test_what_needs_a_run_says_so(command, done, files, line, status, problem):
    done("baseline add old old.eval --scores")
    ended = command(line)
    assert ended.status == status
    assert problem in " ".join((ended.out + ended.err).split())


def test_gates_of_a_file_compare_with_stored_scores(command, done, files):
    (files / "topics.tsv").write_text("".join(f"{topic}\tshoes {topic}\n" for topic in TOPICS))
    qrels = "".join(f"{topic} 0 d1 1\n" for topic in TOPICS)
    (files / "qrels.txt").write_text(qrels)
    (files / "riskguard.yaml").write_text(
        "collection: {qrels: qrels.txt, topics: topics.tsv}\nstore: kept\ncandidate: {scores: new.eval}\n"
        "measures: [AP]\ngates: [{name: no-risk, kind: not_significantly_risky, baseline: old}]\n"
    )
    done("baseline add old --scores old.eval")
    ended = command("check -q")
    assert (ended.status, "the mean fell" in ended.out) == (1, True)
    (files / "topics.tsv").write_text("".join(f"{topic}\tboots {topic}\n" for topic in TOPICS))
    ended = command("check -v")
    assert ended.status == 3
    assert f"topics.tsv: another query text in {len(TOPICS)} topics" in " ".join(ended.out.split())
    assert "baseline rescore" not in ended.out
