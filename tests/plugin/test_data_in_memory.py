"""The ``riskguard`` fixture takes data in memory where it takes files."""

import pytest

pytest.importorskip("pandas")

TEST = """
import pandas as pd
import pytest

FRAME = pd.read_csv("candidate.run", sep=" ", names=["qid", "Q0", "docno", "rank", "score", "name"])
RUN = {topic: dict(zip(rows["docno"], rows["score"])) for topic, rows in FRAME.groupby("qid")}

def comparable(verdict):
    return {**verdict.to_dict(), "gate": "", "inputs": ""}  # the file has another digest than its canonical form

@pytest.fixture
def expected(riskguard):
    return comparable(riskguard.check("not_significantly_risky", riskguard.run("candidate.run"), "prod", alpha=1))

def test_a_frame(riskguard, expected):
    assert comparable(riskguard.check("not_significantly_risky", FRAME, "prod", alpha=1)) == expected

def test_a_mapping_with_a_name(riskguard, expected):
    given = riskguard.run(RUN, name="candidate", metadata={"index": "v8"})
    assert comparable(riskguard.check("not_significantly_risky", given, "prod", alpha=1)) == expected
    named = riskguard.run(RUN, name="v8")
    assert riskguard.assert_not_significantly_risky(named, "prod").candidate == "v8"

def test_both_sides_and_pools(riskguard):
    verdict = riskguard.assert_not_significantly_risky(RUN, RUN)
    assert (verdict.candidate, verdict.baselines, verdict.topics.changed) == ("candidate", ("baseline",), 0)
    pool = riskguard.assert_georisk_not_worse(RUN, ["prod", FRAME])
    assert pool.baselines == ("prod", "baseline 2")

def test_scores(riskguard):
    series = pd.Series(0.5, index=list(RUN))
    assert riskguard.assert_not_significantly_risky(series, "prod").topics.changed == 0
    wide = pd.DataFrame({"AP": 0.5, "RR": 0.1}, index=list(RUN)).rename_axis("topic")
    verdict = riskguard.assert_not_significantly_risky(wide, "prod")
    assert (verdict.measure, verdict.topics.changed) == ("AP", 0)
    with pytest.raises(TypeError, match="give scores in memory to the assertion itself"):
        riskguard.scores(series)

def test_the_order_of_ties_is_said_for_data_and_files(riskguard):
    equal = {topic: dict.fromkeys(["bad2", "good", "bad1"], 1.0) for topic in RUN}
    rows = [f"{topic},{document},1" for topic, documents in equal.items() for document in documents]
    riskguard.folder.joinpath("equal.csv").write_text("qid,docid,score\\n" + "\\n".join(rows))
    for given in (equal, "equal.csv"):
        for ties, mean in ((None, 1.0), ("docid", 1.0), ("as_returned", 0.5)):
            verdict = riskguard.check("not_significantly_risky", riskguard.run(given, ties=ties), "prod")
            assert verdict.estimates.candidate_mean == mean
        with pytest.raises(ValueError, match="ties: expected one of as_returned, docid, found 'rank'"):
            riskguard.run(given, ties="rank")
    tsv = riskguard.run("equal.csv", format="trec")
    assert riskguard.check("not_significantly_risky", tsv, "prod").reason == "bad_run"

def test_bad_data_are_incomparable_and_other_objects_are_refused(riskguard):
    verdict = riskguard.check("not_significantly_risky", FRAME.drop(columns="docno"), "prod")
    assert (verdict.outcome, verdict.reason) == ("incomparable", "bad_run")
    with pytest.raises(TypeError, match="scores or rankings in memory, found int 7"):
        riskguard.check("not_significantly_risky", 7, "prod")
    with pytest.raises(TypeError, match="expected a path, found int 7"):
        riskguard.run(7)
    with pytest.raises(TypeError, match="expected a path, found bytes"):
        riskguard.run(b"candidate.run")
"""


@pytest.mark.slow
def test_data_in_memory_are_judged_as_their_files_are(pytester, project):
    project("good")
    pytester.makepyfile(TEST)
    result = pytester.runpytest("--riskguard", "-W", "ignore")
    result.assert_outcomes(passed=7)
