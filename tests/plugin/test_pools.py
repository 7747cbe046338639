"""Several baselines in a riskguard.yaml and in the fixture: pools, one gate on each, computed ones."""

import pytest

from tests.plugin import world


@pytest.fixture
def judged(pytester, project):
    """The verdicts of gates on the baselines ``prod`` and ``better``, by gate."""

    def judged(name, *gates, head="", arguments=()):
        project(name)
        if not (pytester.path / "baselines" / "better").exists():
            world.store(pytester.path, "better", dict.fromkeys(world.TOPICS[:10], 1))
        return world.judge(pytester, gates, head=head, arguments=arguments)

    return judged


def test_a_gate_on_several_baselines_is_an_item_for_each_and_a_family(judged):
    result, verdicts = judged(
        "good",
        "name: each, kind: not_significantly_risky, baselines: [prod, better]",
        "name: quiet, kind: no_topic_collapse, baselines: [prod, better]",
        "name: alone, kind: not_significantly_risky, baseline: prod",
    )
    result.assert_outcomes(passed=5)
    assert list(verdicts) == ["alone", "each[better]", "each[prod]", "quiet[better]", "quiet[prod]"]
    assert [verdicts[name]["family"] and verdicts[name]["family"]["size"] for name in verdicts] == [
        None,
        2,
        2,
        None,
        None,
    ]
    assert verdicts["each[better]"]["baselines"] == ["better"]


@pytest.mark.slow
def test_the_fixture_takes_a_list_of_baselines(pytester, project):
    project("loss")
    world.store(pytester.path, "better", dict.fromkeys(world.TOPICS[:10], 1))
    pytester.makepyfile(
        """
        import pytest

        def test_pool(riskguard):
            candidate = riskguard.run("candidate.run")
            riskguard.assert_georisk_not_worse(candidate, ["prod", "better"], reference="better", alpha=5)

        def test_check(riskguard):
            candidate = riskguard.run("candidate.run")
            verdict = riskguard.check("georisk_not_worse", candidate, ["prod", riskguard.run("better.run")])
            assert set(verdict.estimates.georisk) == {"candidate", "prod", "better"}

        def test_mappings_are_told_apart(riskguard):
            candidate, *baselines = [{str(topic): score for topic in range(12)} for score in (0.3, 0.4, 0.5)]
            verdict = riskguard.check("georisk_not_worse", candidate, baselines)
            assert set(verdict.estimates.georisk) == {"candidate", "baseline 1", "baseline 2"}

        @pytest.mark.parametrize("baselines", [[], ["prod", None], "nowhere"])
        def test_wrong(riskguard, baselines):
            with pytest.raises((TypeError, AssertionError)) as caught:
                riskguard.assert_georisk_not_worse(riskguard.run("candidate.run"), baselines)
            print(caught.value)

        def test_a_list_for_another_kind(riskguard):
            with pytest.raises(TypeError, match="a list, with at least one, is for georisk_not_worse"):
                riskguard.check("not_inferior", riskguard.run("candidate.run"), ["prod"])
        """
    )
    result = pytester.runpytest("--riskguard", "--riskguard-no-yaml", "-rA")
    result.assert_outcomes(passed=6, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*riskier than better; 12 of 30 queries lost, *",
            "*GeoRisk difference -*, 95% interval -*, must reach 0 *",
            "*baseline: expected one; a list, with at least one, is for georisk_not_worse only*",
        ]
    )
