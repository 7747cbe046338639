"""The ``riskguard`` fixture."""

from tests.plugin import world


def test_a_run_scores_and_a_search_are_judged_from_the_yamls_folder(pytester, project):
    project("good", into="search")
    folder = pytester.path / "search"
    folder.joinpath("scores.csv").write_text("topic,AP\n" + "".join(f"{topic},0.5\n" for topic in world.TOPICS))
    folder.joinpath("test_search.py").write_text(
        """
from pathlib import Path

def test_run(riskguard):
    verdict = riskguard.assert_not_significantly_risky(riskguard.run("candidate.run"), "prod", alpha=1)
    assert (verdict.candidate, verdict.baselines, verdict.measure) == ("candidate", ("prod",), "AP")
    assert verdict.topics.wins == 9

def test_named_run_against_run(riskguard):
    candidate = riskguard.run("candidate.run", name="new")
    verdict = riskguard.check("not_significantly_risky", candidate, riskguard.run("prod.run"), measure="P(rel=1)@5")
    assert (verdict.candidate, verdict.baselines, verdict.measure) == ("new", ("prod",), "P@5")

def test_scores(riskguard):
    verdict = riskguard.assert_not_significantly_risky(riskguard.scores("scores.csv", name="new"), "prod")
    assert (verdict.candidate, verdict.topics.changed) == ("new", 0)

def test_retrieve(riskguard):
    asked = []
    def search(query):
        asked.append(query)
        return iter([("good", 1.0), ("other", 1), ("bad2", 0.5)])
    candidate = riskguard.retrieve(search, depth=2)
    verdict = riskguard.assert_not_significantly_risky(candidate, "prod")
    assert (verdict.candidate, verdict.estimates.candidate_mean) == ("candidate", 1.0)
    assert asked[:30] == [f"query number {number:02d}" for number in range(1, 31)]
    assert asked[30:] == asked[:30:3], "ten queries are sent again"
    riskguard.assert_not_significantly_risky(candidate, "prod", alpha=5)
    assert len(asked) == 40, "gates share the answers"

def test_check_does_not_raise(riskguard):
    def search(query, k):
        return [("bad1", 2.0), ("bad2", 1.0)][: k == 100]
    verdict = riskguard.check("not_significantly_risky", riskguard.retrieve(search), "prod")
    assert (verdict.outcome, verdict.reason, verdict.passed) == ("fail", "loss", False)
"""
    )
    result = pytester.runpytest("--riskguard", "search/test_search.py")
    result.assert_outcomes(passed=5)


def test_the_nearest_riskguard_yaml_wins(pytester, project):
    project("good")
    project("loss", into="sub/inner")
    for folder in (".", "sub", "sub/inner"):
        name = folder.replace("/", "_").replace(".", "root")
        pytester.path.joinpath(folder, f"test_{name}.py").write_text(
            "def test_it(riskguard): riskguard.assert_not_significantly_risky(riskguard.run('candidate.run'), 'prod')"
        )
    result = pytester.runpytest("--riskguard", "--riskguard-no-yaml")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["FAILED sub/inner/test_sub_inner.py::test_it - RiskyError: the mean fell 0.50 -> 0.34; *"]
    )
    result.stdout.no_fnmatch_line("not judged*")
    beyond = pytester.runpytest("--riskguard", "--rootdir=sub", "sub/test_sub.py")
    beyond.stdout.fnmatch_lines(["*no riskguard.yaml beside *"])


def test_mistakes_are_messages_without_frames_of_ours(pytester, project):
    project("good", into="search")
    pytester.path.joinpath("test_none.py").write_text("def test_none(riskguard): pass")
    pytester.path.joinpath("search", "test_search.py").write_text(
        """
def judge(riskguard, run="candidate.run", baseline="prod", **options):
    riskguard.assert_not_significantly_risky(riskguard.run(run), baseline, **options)

def test_measure(riskguard): judge(riskguard, measure="nDGC@10")
def test_baseline(riskguard): judge(riskguard, baseline="prdo")
def test_run(riskguard): judge(riskguard, run="nowhere.run")
def test_search(riskguard):
    riskguard.assert_not_significantly_risky(riskguard.retrieve(lambda query: query[30]), "prod")

def test_risky(riskguard): judge(riskguard, run="prod.run", baseline="prod", tolerance=0.1, level=2)
"""
    )
    result = pytester.runpytest("--riskguard", "--riskguard-no-yaml", "search", "test_none.py")
    result.assert_outcomes(failed=5, errors=1)
    result.stdout.fnmatch_lines_random(
        [
            "*no riskguard.yaml beside *test_none.py or above it up to *; `riskguard init` writes one",
            "E *UsageError: *'nDGC@10'*nDCG@10*",
            "E *Nothing was compared: *no baseline 'prdo' (the store*",
            "E *Nothing was compared: *nowhere.run*",
            "E *Nothing was compared: the search failed for 3 of 30 *",
            "E *OptionError: level: expected a number between 0.000001 and 0.999999 such as 0.95, found the number 2",
        ]
    )
    assert "During handling" not in result.stdout.str()
    assert "pytest_riskguard/plugin" not in result.stdout.str()
    assert "pytest_riskguard/engine" not in result.stdout.str()


WRONG_ARGUMENTS = {
    "riskguard.check('not_significantly_risky', 'candidate.run', 'prod')": (
        "TypeError: candidate: expected riskguard.run(path), riskguard.scores(path), riskguard.retrieve(search), "
        "scores or rankings in memory, found 'candidate.run'"
    ),
    "riskguard.assert_not_significantly_risky(None, 'prod')": "TypeError: candidate: expected riskguard.run(path), *",
    "riskguard.assert_not_significantly_risky(run, None)": "TypeError: baseline: expected the name of a stored *",
    "riskguard.assert_not_significantly_risky(run, 'prod', toleranc=0.1)": (
        "TypeError: unknown option 'toleranc'; did you mean 'tolerance'?"
    ),
    "riskguard.assert_not_significantly_risky(run, 'prod', alpha='1')": (
        "TypeError: alpha: expected a number from 0 to 1e+09, found '1'"
    ),
    "riskguard.assert_not_significantly_risky(run, 'prod', measure=10)": "TypeError: measure: expected text *",
    "riskguard.check('magic', run, 'prod')": "*OptionError: kind: expected not_significantly_risky, *, found 'magic'",
    "riskguard.check('not_significantly_risky', run, ['prod'])": "TypeError: baseline: expected one; a list, *",
    "riskguard.check('georisk_not_worse', run, [])": "TypeError: baseline: expected one; a list, with at least one*",
    "riskguard.check('georisk_not_worse', run, ['prod', 3])": "TypeError: baseline 2: expected the name of *",
    "riskguard.run('candidate.run', ties='best')": "ValueError: ties: expected one of *, found 'best'",
    "riskguard.run(None)": "TypeError: expected a path, found nothing; *",
    "riskguard.retrieve(search=None)": "TypeError: search: expected a function that takes a query, found nothing",
    "riskguard.retrieve(print, workers=0)": "ValueError: workers: expected a whole number, from 1 to 256, *",
    "riskguard.retrieve(print, timeout=0)": "ValueError: timeout: expected a number of seconds above 0, *",
}


def test_wrong_arguments_are_one_line_each_without_frames_of_ours(pytester, project):
    project("good")
    tests = [
        f"def test_{number}(riskguard):\n    run = riskguard.run('candidate.run')\n    {call}\n"
        for number, call in enumerate(WRONG_ARGUMENTS)
    ]
    pytester.makepyfile("\n".join(tests))
    result = pytester.runpytest("--riskguard", "--riskguard-no-yaml", "-vv")
    result.assert_outcomes(failed=len(WRONG_ARGUMENTS))
    text = result.stdout
    for message in WRONG_ARGUMENTS.values():
        text.fnmatch_lines_random([f"E *{message.replace('[', '[[]')}"])
    assert "pytest_riskguard/" not in text.str()
    assert "pytest_riskguard\\" not in text.str()


def test_a_mapping_is_judged_as_the_assertion_judges_it(pytester, project):
    project("good")
    pytester.makepyfile("""
        from pytest_riskguard import score_run

        TOPICS = [f"t{number:02d}" for number in range(1, 31)]

        def test_against_a_stored_baseline(riskguard):
            verdict = riskguard.check("not_significantly_risky", dict.fromkeys(TOPICS, 0.1), "prod")
            assert (verdict.outcome, verdict.candidate, verdict.measure) == ("fail", "candidate", "AP"), verdict

        def test_against_a_mapping(riskguard):
            same = dict.fromkeys(TOPICS, 0.5)
            assert riskguard.assert_not_significantly_risky(same, same).baselines == ("baseline",)

        def test_scores_bring_their_measure(riskguard):
            (scores,) = score_run("candidate.run", "qrels.txt", ["P(rel=1)@5"])
            assert riskguard.check("not_significantly_risky", scores, "prod").measure == "P@5"

        def test_a_column_is_chosen(riskguard):
            rows = [{"topic": topic, "P@5": 0.1, "AP": 0.5} for topic in TOPICS]
            for options, measure in (({}, "AP"), ({"measure": "P@5"}, "P@5")):
                assert riskguard.check("not_significantly_risky", rows, "prod", **options).measure == measure

        def test_ties(riskguard):
            tied = riskguard.run({topic: {"good": 1.0, "other": 1.0} for topic in TOPICS}, ties="as_returned")
            verdict = riskguard.check("not_significantly_risky", tied, "prod")
            assert verdict.estimates.candidate_mean == 1.0, verdict

        def test_no_scores(riskguard):
            verdict = riskguard.check("not_significantly_risky", {"t01": float("nan")}, "prod", measure="AP")
            assert (verdict.outcome, verdict.reason, verdict.measure) == ("incomparable", "bad_scores", "AP")
    """)
    result = pytester.runpytest("--riskguard", "--riskguard-no-yaml")
    result.assert_outcomes(passed=6)
