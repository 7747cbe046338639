"""``riskguard compare`` with several baselines."""

import json

import pytest

AP = "--measure AP"


def verdicts(ended):
    return json.loads(ended.out)["verdicts"]


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        (
            "loss.run --baseline prod --baseline good.run --alpha 5",
            1,
            "FAIL riskier than prod; 12 of 30 queries lost, none gained (AP)",
        ),
        (
            "loss.run --baseline prod --baseline good.run --set reference=good",
            1,
            "FAIL riskier than good; ",
        ),
        ("good.run --baseline prod --baseline loss.run", 0, "GeoRisk difference +0.04, 95% interval +0.01 to +0.07"),
        (
            "good.run --baseline prod --baseline nowhere.run",
            3,
            "INCOMPARABLE baselines: no baseline 'nowhere.run'",
        ),
        (
            "good.run --baseline prod --set reference=bm25",
            2,
            "'bm25' is not a baseline of this gate; expected prod",
        ),
        ("good.run --baseline prod --set weighted=true", 2, "weighted has no meaning for georisk_not_worse"),
    ],
)
def test_a_gate_over_a_pool_has_its_status(command, line, status, said):
    ended = command(f"compare {line} {AP} --gate georisk_not_worse")
    assert ended.status == status
    assert said in " ".join((ended.out + ended.err).split())


def test_a_pool_is_judged_in_a_family_too(command):
    pool = f"compare good.run --baseline prod --baseline loss.run {AP} --gate georisk_not_worse"
    (verdict,) = verdicts(command(f"{pool} --set family=auto -o -"))
    assert (verdict["outcome"], verdict["family"]["size"]) == ("pass", 1)
