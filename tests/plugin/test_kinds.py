"""Gates of every kind in a riskguard.yaml, families, weights and the fixture's assertions."""

import pytest

from pytest_riskguard.baselines.store import Store
from tests.plugin import world


@pytest.fixture
def judged(pytester, project):
    """The verdicts of gates in a project whose topics have the tag ``kind`` and a weight, by gate."""

    def judged(name, *gates, head="", arguments=()):
        project(name)
        rows = ["topic\tquery\tkind\tweight"]
        for number, topic in enumerate(world.TOPICS, start=1):
            kind, weight = "brand" if number == 3 else "other", 1 if number <= 15 else 9
            rows.append(f"{topic}\t{world.QUERIES[topic]}\t{kind}\t{weight}")
        pytester.path.joinpath("topics.tsv").write_text("\n".join(rows) + "\n")
        files = {"qrels": pytester.path / "qrels.txt", "topics": pytester.path / "topics.tsv"}
        Store(pytester.path / "baselines").rescore("prod", **files)
        against = [f"{gate}, baseline: prod" for gate in gates]
        return world.judge(pytester, against, head=head, arguments=arguments)

    return judged


def test_each_kind_is_an_item_that_passes_or_fails(judged):
    result, verdicts = judged(
        "loss",
        "name: risk, kind: not_significantly_risky",
        "name: shown, kind: not_inferior, alpha: 0, tolerance: 0.3",
        "name: unshown, kind: not_inferior, alpha: 0, tolerance: 0.1",
        "name: collapse, kind: no_topic_collapse, max_loss: 0.42",
        'name: brand, kind: no_topic_collapse, protected: ["kind=brand"]',
        "name: quiet, kind: no_topic_collapse",
    )
    result.assert_outcomes(passed=2, failed=4)
    assert {name: (v["outcome"], v["reason"]) for name, v in verdicts.items()} == {
        "risk": ("fail", "loss"),
        "shown": ("pass", None),
        "unshown": ("fail", "not_shown"),
        "collapse": ("fail", "collapse"),
        "brand": ("fail", "collapse"),
        "quiet": ("pass", None),
    }
    result.stdout.fnmatch_lines(
        [
            "not shown to be good enough; a loss of 0.24 cannot be excluded, 0.1 is allowed",
            "query t07 lost 0.45; 0.50 -> 0.05, none may (AP)",
            "query t03 lost 0.40; 0.50 -> 0.10, none may (AP)",
            "FAIL not_shown *URisk -0.162 [[]-0.240, -0.095[]] *riskguard.yaml::unshown",
        ]
    )
    result.stdout.fnmatch_lines(["PASS *largest loss 0.45 *riskguard.yaml::quiet"])


def test_weights_come_from_the_topics_file(judged):
    """The 15 topics that fall have nine times the weight of those that rise."""
    _, verdicts = judged(
        "churn",
        "name: plain, kind: not_significantly_risky, alpha: 0",
        "name: weighted, kind: not_significantly_risky, alpha: 0, weighted: true",
    )
    assert verdicts["plain"]["outcome"] == "pass"
    assert (verdicts["weighted"]["outcome"], verdicts["weighted"]["reason"]) == ("fail", "loss")


RISKS = [f"name: g{alpha}, kind: not_significantly_risky, alpha: {alpha}" for alpha in (0, 1, 5)]


@pytest.mark.parametrize("arguments", [(), ("riskguard.yaml::g1",), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_a_family_is_judged_whole_whatever_is_selected_and_wherever_it_runs(judged, arguments):
    _, verdicts = judged("loss", *RISKS, head="family: auto\n", arguments=arguments)
    family = verdicts["g1"]["family"]
    assert (family["correction"], family["size"]) == ("holm", 3)
    assert family["adjusted_p_value"] >= verdicts["g1"]["estimates"]["decision_p_value"]
    assert verdicts["g1"]["level"] == 0.95
    assert {interval["level"] for interval in verdicts["g1"]["intervals"]} == {family["level"]}
    assert all(verdict["family"]["size"] == 3 for verdict in verdicts.values())


def test_the_fixture_asks_all_questions(pytester, project):
    project("loss")
    pytester.makepyfile(
        """
        import pytest
        from pytest_riskguard import RiskyError

        def test_all(riskguard):
            run = riskguard.run("candidate.run")
            with pytest.raises(RiskyError, match="not shown to be good enough"):
                riskguard.assert_not_inferior(run, "prod", tolerance=0.05)
            riskguard.assert_not_inferior(run, "prod", tolerance=0.3, alpha=0)
            riskguard.assert_no_topic_collapse(run, "prod")
            with pytest.raises(RiskyError, match="query t07 lost 0.45; "):
                riskguard.assert_no_topic_collapse(run, "prod", max_loss=0.42)
            with pytest.raises(TypeError, match="unknown option 'max_los'; did you mean 'max_loss'"):
                riskguard.assert_no_topic_collapse(run, "prod", max_los=0.42)
            with pytest.raises(ValueError, match="tolerance has no meaning for no_topic_collapse"):
                riskguard.assert_no_topic_collapse(run, "prod", tolerance=0.42)
            riskguard.check("not_inferior", run, "prod", tolerance=0.3, alpha=0)
        """
    )
    result = pytester.runpytest("--riskguard", "--riskguard-no-yaml")
    result.assert_outcomes(passed=1)
