"""``riskguard explain``: one query, by its id or text, from a report or by judging anew."""

import pytest

from tests.plugin import world

SAID = ["AP", "0.5000 -> 0.0500 (-0.4500)", "no-risk", "FAIL", "Rankings, prod -> candidate", "2 -> 20   -0.4500"]


@pytest.fixture(autouse=True)
def failing(folder):
    world.write_run(folder / "candidate.run", world.LOSS)
    texts = [f"{topic}\t{query}\t{'ab'[topic > 't07']}" for topic, query in world.QUERIES.items()]
    folder.joinpath("topics.tsv").write_text("\n".join(["topic\tquery\tkind", *texts, ""]), encoding="utf-8")
    return folder


@pytest.mark.parametrize("asked", ["t07", "'query number 07'", "'NUMBER 07'"])
def test_a_query_is_found_by_its_id_its_text_or_a_part_of_it(done, asked):
    out = done(f"explain {asked}")
    assert out.startswith("t07: query number 07\n  Tags: kind=a.\n")
    assert [said for said in SAID if said not in out] == []


def test_a_text_is_no_part_of_another_where_it_is_one(done, failing):
    world.edit(failing / "topics.tsv", "t08\tquery number 08", "t08\tquery number 07 b")
    done("baseline rescore prod")
    assert done("explain 'query number 07'").startswith("t07: query number 07\n")


def test_a_report_says_the_same_wherever_it_is_read(command, failing, monkeypatch, tmp_path):
    anew = command("explain t07").out
    command("check -o report.json")
    monkeypatch.chdir(tmp_path)
    assert command("explain t07 project/report.json").out == anew
    assert command("explain t07 --config project/riskguard.yaml").out == anew


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("'number 1'", "'number 1' is part of 10 queries: t10 (query number 10), t11"),
        ("t07 report.json --candidate loss.run", "--candidate and --baseline are for judging anew"),
        ("t070", "no query 't070' among the 30 that the verdicts name; did you mean 't07'?"),
    ],
)
def test_a_query_that_is_not_one_is_told_with_the_likely_ones(refused, asked, said):
    refused(f"explain {asked}", said)


def test_another_candidate_and_a_query_without_an_answer(command, failing):
    world.write_run(failing / "less.run", world.LOSS, topics=world.TOPICS[1:])
    out = command("explain t01 --candidate less.run --baseline prod=prod.run").out
    assert "less against prod, AP\n  0.5000 -> 0.0000 (-0.5000)\n  The candidate returned nothing." in out


def test_data_that_cannot_be_compared_are_told_as_such(refused, failing):
    failing.joinpath("candidate.run").unlink()
    refused("explain t01", "candidate.run", status=3)
