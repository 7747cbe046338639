"""``riskguard judge-next``: a table of documents to judge, safe to print and to open."""

import pytest

from pytest_riskguard.cli.judge_next import judging_table
from tests.plugin import world

RISK = "judge-next loss.run --baseline ./prod.run --qrels qrels.txt --measure AP"
#: The same about a gate without intervals, which is judged in no time.
ASKED = f"{RISK} --gate no_topic_collapse --set max_loss=0.1 --set allowed=0.1"


@pytest.fixture(autouse=True)
def documents(folder):
    """12 topics lose: the candidate has ``new`` first there, which nobody judged; all else is judged."""
    for name, first in (("prod", "good"), ("loss", "new")):
        rows = [
            f"{topic} Q0 {document} 0 {9 - rank} x\n"
            for number, topic in enumerate(world.TOPICS)
            for rank, document in enumerate([first if number < 12 else "good", "bad1", "good2"])
        ]
        (folder / f"{name}.run").write_text("".join(rows), encoding="utf-8")
    judged = "".join(f"{topic} 0 {name} {grade}\n" for topic in world.TOPICS for name, grade in GRADES.items())
    (folder / "qrels.txt").write_text(judged, encoding="utf-8")


GRADES = {"good": 1, "bad1": 0, "good2": 1}


def test_the_list_is_a_table_and_what_is_said_of_it_goes_to_stderr(command):
    ended = command(f"{ASKED} --topics topics.tsv")
    assert ended.status == 0
    header, *rows = (line.split("\t") for line in ended.out.splitlines())
    assert header == ["topic", "document", "query"]
    assert rows == [[t, "new", world.QUERIES[t]] for t in world.TOPICS[: len(rows)]]
    assert 0 < len(rows) <= 12
    assert ended.err.startswith(f"{len(rows)} documents to judge; the verdict could change.")


def test_the_budget_cuts_the_list_and_out_writes_it(command, folder):
    ended = command(f"{ASKED} --budget 2 -o list.tsv")
    assert (ended.status, ended.out) == (0, "")
    assert (folder / "list.tsv").read_text(encoding="utf-8") == "topic\tdocument\tquery\nt01\tnew\t\nt02\tnew\t\n"
    wanted = len(command(ASKED).out.splitlines()) - 1
    assert ended.err.startswith(f"the first 2 of {wanted} documents to judge")
    assert command(f"{ASKED} --budget {wanted}").err.startswith(f"{wanted} documents to judge")  # none is left out


def test_judging_what_is_listed_settles_the_verdict(command, folder):
    rows = [line.split("\t") for line in command(ASKED).out.splitlines()[1:]]
    with (folder / "qrels.txt").open("a", encoding="utf-8") as file:
        file.writelines(f"{topic} 0 {document} 0\n" for topic, document, _ in rows)
    ended = command(ASKED)
    assert (ended.status, ended.out) == (0, "topic\tdocument\tquery\n")
    assert ended.err.startswith("none of the cases that were tried for the unjudged documents changes a verdict")


def test_several_verdicts_have_one_list(command):
    ended = command(f"{RISK} --alpha 0 --alpha 5 --measure RR")
    rows = ended.out.splitlines()[1:]
    assert len(rows) == len(set(rows)) <= 12
    assert "4 of 4 verdicts could change" in ended.err


def test_a_stored_baseline_is_asked_with_its_run(command, done, refused, folder):
    done("baseline add kept prod.run --qrels qrels.txt --measure AP")
    done("baseline add bare prod.run --qrels qrels.txt --measure AP --no-run")
    asked = ASKED.replace("./prod.run", "{}")
    assert command(asked.format("kept")).out == command(ASKED).out
    refused(asked.format("bare"), "its run was not kept", status=3)
    done("baseline add kept good.run --replicate")
    refused(RISK.replace("./prod.run", "kept"), "kept has replicates")


@pytest.mark.parametrize(
    ("document", "cell"),
    [("d-1", "d-1"), ("-12", "-12"), ("@user", " @user"), ("=1+1", " =1+1"), ("+cmd|'/C'!A0", " +cmd|'/C'!A0")],
)
def test_ids_are_kept_but_for_what_a_spreadsheet_would_run(document, cell):
    text = judging_table([("t", document)], {"t": "\x1b@SUM(A1)\n"})
    assert text.splitlines()[1:] == [f"t\t{cell}\t @SUM(A1)"]


def test_an_id_that_no_line_can_show_is_left_out(command, folder):
    run = folder / "loss.run"
    run.write_text(run.read_text(encoding="utf-8").replace("t01 Q0 new", "t01 Q0 ::new\x1b[2J"), encoding="utf-8")
    ended = command(ASKED)
    assert "\x1b" not in ended.out + ended.err
    assert not ended.out.splitlines()[1].startswith("t01")
    assert "left out 1 document with an id" in ended.err


def test_the_baseline_comes_first(command):
    first = ASKED.replace("loss.run --baseline ./prod.run", "prod.run loss.run")
    assert command(first) == command(ASKED)


GATES = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP]
candidate: loss.run
gates:
  - {name: tail, kind: no_topic_collapse, baseline: prod, max_loss: 0.3, allowed: 0.05}
  - {name: pool, kind: georisk_not_worse, baselines: [prod, prod2]}
"""


def test_a_gate_of_riskguard_yaml_says_what_is_asked(command, folder):
    folder.joinpath("riskguard.yaml").write_text(GATES)
    asked = "judge-next prod loss.run --measure AP --gate no_topic_collapse --set max_loss=0.3 --set allowed=0.05"
    assert command("judge-next --gate tail") == command(asked)
    other = command("judge-next churn.run --gate tail --baseline prod=prod.run")
    assert other.status == 0
    assert other.out != command("judge-next --gate tail").out
