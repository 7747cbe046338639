"""``riskguard diff``, and what works in a folder without judgements."""

import csv
import json
import re
import shlex

import pytest

TOPICS = [f"q{n:02d}" for n in range(1, 21)]
PROD = {topic: [f"{topic}-d{rank}" for rank in range(12)] for topic in TOPICS}
CANDIDATE = PROD | {
    "q01": ["new", *PROD["q01"]],
    "q02": PROD["q02"][:4],
    "q03": [PROD["q03"][0], *PROD["q03"][:0:-1]],
}
del CANDIDATE["q04"]


@pytest.fixture(autouse=True)
def unjudged(folder):
    """A folder with two runs, topics, and no judgements."""
    for path in ("riskguard.yaml", "qrels.txt"):
        folder.joinpath(path).unlink()
    for name, rankings in {"prod": PROD, "candidate": CANDIDATE, "cut": {t: PROD[t][:3] for t in TOPICS}}.items():
        write(folder / f"{name}.run", rankings)
    rows = [f"{topic}\tquery {topic}\t{'de' if topic < 'q11' else 'en'}\n" for topic in TOPICS]
    folder.joinpath("topics.tsv").write_text("topic\tquery\tlang\n" + "".join(rows))


def write(path, rankings):
    lines = [f"{t} Q0 {d} {n} {100 - n} x" for t, ranked in rankings.items() for n, d in enumerate(ranked, 1)]
    path.write_text("\n".join(lines) + "\n")


DECLARED = """\
collection: {topics: topics.tsv}
candidate: candidate.run
gates:
  - {name: quiet, kind: no_surprise, baseline: prod}
  - {name: english, kind: no_surprise, baseline: prod, slice: lang=en}
"""


@pytest.fixture
def stored(folder, command):
    """A riskguard.yaml without judgements, and a baseline."""
    folder.joinpath("riskguard.yaml").write_text(DECLARED)
    assert command("baseline remove prod").status == 0
    ended = command("baseline add prod prod.run")
    assert (ended.status, "20 topics; stored without judgements" in ended.out) == (0, True)


def commands_in(text):
    """What stands between backticks, as it is typed."""
    return [line.removeprefix("riskguard ") for line in re.findall(r"`(riskguard [^`]+)`", " ".join(text.split()))]


def test_the_first_line_says_that_it_is_change_not_harm_and_the_figures_follow(command):
    ended = command("diff prod.run candidate.run --topics topics.tsv")
    assert ended.status == 0
    first, second, third, *_ = ended.out.splitlines()
    assert first == "This measures change, not harm: candidate against prod, 20 queries, no judgements"
    assert second == "  4 of 20 queries changed in the first 10 results; mean overlap 0.91, mean RBO 0.90."
    assert (
        third == "  1 found nothing any more, 1 found fewer results, 1 got another first result, none got results for"
    )
    assert re.search(r"^  lang=de +10 +0.8", ended.out, re.MULTILINE)
    assert re.search(r"^  q04 +query q04 +0.00 +0.00  empty$", ended.out, re.MULTILINE)
    assert re.search(r"^  1 +q04-d0 \(gone\) +-$", ended.out, re.MULTILINE)


def test_a_cut_run_is_a_change_with_its_cause(command):
    said = command("diff prod.run cut.run").out
    assert "end at rank 3: its run may be cut at k = 3" in " ".join(said.split())
    assert "20 of 20 queries changed in the first 10 results; mean overlap 0.30" in said


def test_equal_scores_are_ranked_by_document_id_as_in_scoring(command, folder):
    folder.joinpath("equal.run").write_text(
        re.sub(r"\d+ x$", "1 x", folder.joinpath("prod.run").read_text(), flags=re.M)
    )
    said = command("diff prod.run equal.run").out
    assert "Equal scores in 20 queries of equal are ranked by document id" in " ".join(said.split())


def test_runs_that_are_equal_have_nothing_to_show(command, folder):
    folder.joinpath("same.run").write_bytes(folder.joinpath("prod.run").read_bytes())
    assert command("diff prod.run same.run").out.splitlines()[1:] == [
        "  No query has another result in the first 10."
    ]


def test_a_slice_leaves_its_queries(command):
    assert ", 10 queries, no" in command("diff prod.run candidate.run --topics topics.tsv --slice lang=en").out
    assert "did you mean 'lang'?" in command("diff prod.run candidate.run --topics topics.tsv --slice lnag=en").err


def test_a_page_and_json_have_all_and_json_on_stdout_is_alone(command, folder):
    ended = command("diff prod.run candidate.run --topics topics.tsv -o diff.html -o -")
    written = json.loads(ended.out)
    assert ended.err.startswith("This measures change")
    assert (written["schema"], written["changed"], len(written["changes"])) == ("riskguard-diff/1", 4, 20)
    assert written["changes"][0] | {"before": None} == {
        "topic": "q04",
        "before": None,
        "after": [],
        "overlap": 0.0,
        "rbo": 0.0,
        "what": ["empty"],
    }
    page = folder.joinpath("diff.html").read_text()
    assert "This measures change, not harm" in page
    assert page.count("(was") > ended.err.count("(was") > 0


def test_what_is_to_be_judged_first_leads_to_a_verdict_by_the_printed_commands(command, folder):
    listing, *_ = commands_in(command("diff prod.run candidate.run").out)
    judging = commands_in(command(listing).out)[-1]
    assert "to-judge.tsv" in judging
    rows = list(csv.reader(folder.joinpath("to-judge.tsv").read_text().splitlines(), delimiter="\t"))
    assert rows[0] == ["topic", "document", "query", "grade"]
    assert [row[1] for row in rows[1:3]] == ["q04-d0", "q04-d1"]
    assert "its column grade is empty" in command(judging).out
    text = "\n".join("\t".join([*row[:3], "grade" if row is rows[0] else "1"]) for row in rows)
    folder.joinpath("to-judge.tsv").write_text(text + "\n")
    assert command(f"{judging} -q").status == 1


def test_compare_without_judgements_names_both_ways_on(command):
    ended = command("compare prod.run candidate.run")
    assert ended.status == 2
    (diff,) = commands_in(ended.err)
    assert diff == "diff prod.run candidate.run"
    assert "--qrels QRELS" in ended.err
    assert command(diff).status == 0


def test_no_surprise_is_judged_without_judgements(command, stored, folder):
    ended = command("check -o report.json -o report.md -o report.xml")
    assert ended.status == 1
    assert "FAIL 1 of 20 queries found nothing any more; none may (RBO@10)" in ended.out
    assert "PASS no surprise; none of 10 queries changed" in ended.out or "PASS identical" in ended.out
    assert "q04  query q04  1.00 -> 0.00 (empty)" in ended.out
    assert "what to judge first: riskguard diff prod candidate.run" in ended.out
    for name in ("report.md", "report.xml"):
        assert "1 of 20 queries found nothing any more" in folder.joinpath(name).read_text()
    assert command("show report.json").out.splitlines()[1:3] == ended.out.splitlines()[1:3]
    assert command("compare prod.run candidate.run --gate no_surprise --set max_empty=1 -q").status == 0


def test_a_baseline_without_judgements_is_scored_once_there_are_some(command, stored, folder):
    folder.joinpath("qrels.txt").write_text("".join(f"{topic} 0 {topic}-d0 1\n" for topic in TOPICS))
    folder.joinpath("riskguard.yaml").write_text(
        "collection: {qrels: qrels.txt}\nmeasures: [AP]\ncandidate: cut.run\ngates:\n"
        "  - {name: risk, kind: not_significantly_risky, baseline: prod}\n"
        "  - {name: quiet, kind: no_surprise, baseline: prod, max_shorter: null, min_overlap: 0.3}\n"
    )
    ended = command("check")
    assert ended.status == 3
    assert "baselines/prod: was stored without judgements" in ended.out
    (rescore,) = set(commands_in(ended.out))
    assert rescore == "baseline rescore prod"
    rescored = command(rescore)
    assert (rescored.status, "20 topics; AP 1.0000" in rescored.out) == (0, True)
    assert command("check").status == 0


def test_accepting_in_place_of_a_baseline_without_judgements_says_nothing_of_scores(command, stored):
    command("check -o report.json")
    said = command("accept report.json --dry-run").out
    assert "would replace prod; nothing was written" in said
    assert "scores" not in said


def test_a_baseline_with_scores_is_not_replaced_by_a_run_without(command, folder):
    folder.joinpath("riskguard.yaml").write_text(DECLARED)
    for line in ("update prod candidate.run --note x", "add prod candidate.run --replicate"):
        ended = command(f"baseline {line}")
        assert (ended.status, "has scores, and this run would have none: give --qrels" in ended.err) == (2, True)


def test_diff_with_a_stored_baseline_says_how_to_score_it(command, stored, folder):
    *_, rescore, compare = commands_in(command("diff prod candidate.run -o to-judge.tsv").out)
    assert (rescore, compare) == (
        "baseline rescore prod --qrels to-judge.tsv",
        "compare prod candidate.run --qrels to-judge.tsv",
    )
    filled = [f"{line}1" for line in folder.joinpath("to-judge.tsv").read_text().splitlines()]
    folder.joinpath("to-judge.tsv").write_text("\n".join(["topic\tdocument\tquery\tgrade", *filled[1:]]) + "\n")
    assert command(rescore).status == 0
    assert command(compare).status == 1


def test_a_live_candidate_is_asked_each_query_of_the_topics_file(command, stored, folder):
    folder.joinpath("shop_search.py").write_text(
        "def search(topic):\n    return [f'{topic.id}-d{n}' for n in range(12)]\n"
    )
    text = DECLARED.replace("candidate.run", '{retrieve: "shop_search:search"}')
    folder.joinpath("riskguard.yaml").write_text(text)
    ended = command("check")
    assert (ended.status, ended.out.count("PASS no surprise")) == (0, 2)


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("diff prod.run", 2, "expected two runs"),
        ("diff prod.run nosuch.run", 3, "nosuch.run: no such file"),
        ("diff prod.run candidate.run -o prod.run", 2, "prod.run would overwrite"),
        ("diff prod.run candidate.run -o list.tsv -o x.md", 2, "expected .json, .html or .tsv"),
        ("diff prod.run candidate.run --slice lang=de", 2, "there is none; give --topics"),
        ("diff prod.run candidate.run --topics topics.tsv --slice lang", 2, "expected TAG=VALUE, found 'lang'"),
        ("baseline add prod prod.run", 2, "no qrels: give --qrels"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(command, line, status, said):
    ended = command(line)
    assert (ended.status, said in ended.err) == (status, True), shlex.quote(ended.err)
