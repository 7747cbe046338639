"""``riskguard power``: plans from two runs, from scores and from a baseline alone."""

import json
from pathlib import Path

import numpy as np
import pytest

from pytest_riskguard.inference.power import minimum_detectable_effect, topics_needed
from pytest_riskguard.risk.tradeoff import linear
from tests.plugin import world
from tests.snapshots import golden

#: What the gate sees of URisk itself; where churn only warns, falls are those of the mean.
STRICT = "power loss.run --baseline prod --measure AP --set on_churn=fail"
ASKED = "--set tolerance=0.002 --set level=0.99 --power 0.9"
LOSS = np.array([ours - theirs for theirs, ours in world.differences(world.LOSS).values()])


def test_from_two_runs_it_says_what_the_gate_sees(command):
    ended = command(f"{STRICT} --alpha 0 --alpha 1 --set method=student_t {ASKED} -o -")
    assert ended.status == 0
    report = json.loads(ended.out)
    assert report["schema"] == "riskguard-power/1"
    for plan, alpha in zip(report["plans"], (0, 1), strict=True):
        sd = float(np.std(linear(LOSS, alpha=alpha), ddof=1))
        seen = 0.002 + minimum_detectable_effect(sd, 30, level=0.99, power=0.9)
        assert (plan["candidate"], plan["baseline"], plan["measure"]) == ("loss", "prod", "AP")
        assert (plan["alpha"], plan["topics"], plan["changed"]) == (alpha, 30, 12)
        assert (plan["tolerance"], plan["power"], plan["level"]) == (0.002, 0.9, 0.99)
        assert plan["standard_deviation"] == pytest.approx(sd)
        assert plan["minimum_detectable_effect"] == pytest.approx(seen)
        assert [effect["size"] for effect in plan["effects"]] == [0.005, 0.01, 0.02, 0.05]
        for effect in plan["effects"]:
            assert effect["topics_needed"] == topics_needed(sd, effect["size"] - 0.002, level=0.99, power=0.9)
        # on a terminal the same, with four decimals
        assert f"{sd:.4f}" in ended.err
        assert f"{seen:.4f}" in ended.err
        assert str(plan["effects"][1]["topics_needed"]) in ended.err


def test_on_a_terminal_it_is_a_table_with_words(command, done):
    out = done(f"{STRICT} --set tolerance=0 --effect 0.1 --effect 0.2")
    assert max(map(len, out.splitlines())) <= 100
    alone = [command(f"power --baseline ./loss.run --measure AP --alpha {alpha}").out for alpha in (0, 1)]
    golden(Path(__file__).parent / "golden" / "power.txt", "\n".join([out, *alone]))


def test_a_stored_baseline_that_does_not_vary_is_no_error(done):
    out = done("power --baseline prod --measure AP")
    assert "nothing varies: there is nothing to plan from" in out


@pytest.mark.slow
def test_from_scores_every_column_is_planned_for(command, done, refused, folder):
    rng = np.random.default_rng(1)
    for name in ("a", "b"):
        rows = [f"{topic},{rng.random():.3f},{10 * rng.random():.3f}\n" for topic in world.TOPICS]
        folder.joinpath(f"{name}.csv").write_text("topic,AP,clicks\n" + "".join(rows))
    for line in ("a.csv --baseline old=b.csv", "--baseline b.csv --correlation 0.8"):
        plans = json.loads(command(f"power --scores {line} --effect 0.1 -o -").out)["plans"]
        assert [plan["measure"] for plan in plans] == ["AP", "clicks"]
        assert plans[1]["standard_deviation"] > 3 * plans[0]["standard_deviation"]
    folder.joinpath("b.csv").write_text("topic,AP,clicks\nt01,0.5,1\n")
    refused("power --scores a.csv --baseline old=b.csv --measure AP", "the topics differ", status=3)
    done("power --scores a.csv --baseline old=b.csv --measure AP --set missing=zero")


def test_with_fewer_than_ten_topics_it_says_that_every_gate_is_inconclusive(command, folder):
    for count in (9, 10):
        folder.joinpath("few.csv").write_text("topic,AP\n" + "".join(f"t{i},{i / 20}\n" for i in range(count)))
        assert ("too few topics" in command("power --scores --baseline few.csv").out) == (count == 9)


def test_the_baseline_comes_first(command):
    named = command("power churn.run --baseline prod.run --qrels qrels.txt --measure AP")
    assert command("power prod.run churn.run --qrels qrels.txt --measure AP") == named
    alone = command("power prod.run --qrels qrels.txt --measure AP --correlation 0.5")
    assert command("power --baseline prod.run --qrels qrels.txt --measure AP --correlation 0.5") == alone
    assert (alone.status, " 0.7 " in alone.out) == (0, False)
