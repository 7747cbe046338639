"""``baseline:`` of a gate that looks back: stored baselines, and the runs that they held earlier."""

import json

import pytest

from tests.plugin import world

YAML = """\
collection: {{qrels: qrels.txt, topics: topics.tsv}}
measures: [AP]
candidate: step4.run
gates:
  - {{name: slow, kind: no_drift, baseline: {since}, tolerance: {tolerance}, level: 0.95}}
"""


@pytest.fixture
def chain(folder, command, done):
    """``main`` held the runs step0 to step3; in each, three more topics fall from 0.5 to 0.1."""
    ranks: dict[str, int] = {}
    for number in range(5):
        ranks |= dict.fromkeys(world.TOPICS[3 * number - 3 : 3 * number] if number else (), 10)
        world.write_run(folder / f"step{number}.run", ranks)
    done("baseline add main step0.run --note release-12")
    for number in range(1, 4):
        done(f"baseline update main step{number}.run --note 'change {number}'")
    done("baseline add release-12 step0.run")

    def check(since, tolerance=0.05):
        (folder / "riskguard.yaml").write_text(YAML.format(since=json.dumps(since), tolerance=tolerance))
        ended = command("check -o report.json")
        return ended, world.read_report(folder / "report.json")["verdicts"][0]

    return check


def test_a_gate_looks_back_to_an_earlier_run_by_its_number_or_to_the_oldest(chain):
    for since in ("main/oldest", "main/1", "main/0001"):
        ended, verdict = chain(since)
        assert (ended.status, verdict["outcome"], verdict["reason"]) == (1, "fail", "loss")
        assert (verdict["kind"], verdict["baselines"], verdict["alpha"]) == ("no_drift", [since], 0)
        assert verdict["estimates"]["mean_difference"] == pytest.approx(-0.4 * 12 / 30)
        runs = [run["run"] for run in verdict["lineage"]["runs"]]
        assert runs == ["main/history/0001", "main/history/0002", "main/history/0003", "main", "step4"]
        assert f"drifted since {since}" in ended.out
    ended, verdict = chain("main/oldest", tolerance=0.3)
    assert (ended.status, verdict["outcome"]) == (0, "pass")
    _, verdict = chain("main/0003")
    assert verdict["estimates"]["mean_difference"] == pytest.approx(-0.08)
    assert [run["run"] for run in verdict["lineage"]["runs"]] == ["main/history/0003", "main", "step4"]


def test_a_baseline_without_a_run_means_the_run_that_it_holds(chain):
    ended, verdict = chain("release-12")
    assert (ended.status, verdict["lineage"]) == (1, None)
    assert verdict["estimates"]["mean_difference"] == pytest.approx(-0.16)
    for since in ("main", "main/4"):
        _, verdict = chain(since)
        assert verdict["estimates"]["mean_difference"] == pytest.approx(-0.04)


def test_what_it_cannot_mean_is_said(chain, command, folder):
    for since, words in {
        "main/7": "no earlier run '7'; expected the number of an earlier run, or oldest: it has 0001, 0002, 0003",
        "main/release-13": "no earlier run 'release-13'",
        "nobody": "no baseline 'nobody'",
        "nobody/1": "no baseline 'nobody'",
    }.items():
        (folder / "riskguard.yaml").write_text(YAML.format(since=json.dumps(since), tolerance=0.05))
        ended = command("check")
        assert ended.status in (2, 3)
        assert words in " ".join((ended.out + ended.err).split())
