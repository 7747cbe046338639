"""``riskguard compare`` takes from riskguard.yaml what its command line does not say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugin import world
from tests.plugin.world import read_report

FILE = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
measures: [AP]
candidate: candidate.run
family: auto
gates:
  - name: risk
    kind: not_significantly_risky
    baseline: prod
    alpha: [5, 2]
    tolerance: 0.01
    method: bca
    on_churn: fail
  - {name: second, kind: not_significantly_risky, baseline: prod, alpha: 7}
  - {name: pool, kind: georisk_not_worse, baselines: [prod, other], reference: other, tolerance: 0.02}
  - {name: both, kind: not_inferior, baselines: [prod, other], tolerance: 0.4}
  - {name: typical, kind: no_topic_collapse, baseline: other, max_loss: 0.6, allowed: 2,
     protected: [t30]}
"""


@pytest.fixture
def judged(command, folder):
    """The verdicts of a command and what it printed."""
    world.store(folder, "other", {"t01": 1, "t02": 3})
    folder.joinpath("riskguard.yaml").write_text(FILE, encoding="utf-8")

    def verdicts(line: str) -> tuple[list[dict[str, Any]], str]:
        ended = command(f"compare good.run {line} -o report.json")
        assert ended.err == ""
        return read_report(folder / "report.json")["verdicts"], ended.out

    return verdicts


def test_everything_that_is_not_given_is_that_of_the_first_risk_gate_and_of_the_gates_on_single_queries(judged):
    verdicts, out = judged("")
    assert [(v["gate"], v["kind"], v["measure"], v["alpha"], v["baselines"]) for v in verdicts] == [
        ("risk", "not_significantly_risky", "AP", 5, ["prod"]),
        ("risk", "not_significantly_risky", "AP", 2, ["prod"]),
        ("typical", "no_topic_collapse", "AP", 1, ["other"]),
    ]
    *risks, typical = verdicts
    for verdict in risks:
        assert (verdict["tolerance"], verdict["method"], verdict["options"]["on_churn"]) == (0.01, "bca", "fail")
        assert verdict["family"]["size"] == 2
    assert {key: (typical | typical["options"])[key] for key in ("max_loss", "allowed", "protected", "family")} == {
        "max_loss": 0.6,
        "allowed": 2,
        "protected": ["t30"],
        "family": None,
    }
    assert "from riskguard.yaml, gate risk" in " ".join(out.split())


def test_verdicts_are_those_of_check(judged, command, folder):
    path = folder / "riskguard.yaml"
    path.write_text(FILE.replace("alpha: [5, 2]", "alpha: 7"))
    first, typical = judged("--set family=none --set tolerance=0.005 --set method=auto --set on_churn=warn")[0]
    path.write_text(FILE.replace("family: auto\n", "").replace("candidate.run", "good.run"))
    assert command("check second typical -o checked.json").status == 1
    second, collapse = read_report(folder / "checked.json")["verdicts"]
    assert first == {**second, "gate": "risk"}
    assert typical == collapse


def test_a_gate_on_single_queries_keeps_its_own_measures_and_baselines_unless_others_are_given(judged, folder):
    path = folder / "riskguard.yaml"
    path.write_text(FILE.replace("kind: no_topic_collapse,", "kind: no_topic_collapse, measure: [RR, P@5],"))

    def asked(line: str) -> list[tuple[str, list[str]]]:
        return [(v["measure"], v["baselines"]) for v in judged(line)[0] if v["gate"] == "typical"]

    assert asked("") == [("RR", ["other"]), ("P@5", ["other"])]
    assert asked("--measure AP") == [("AP", ["other"])]
    assert asked("--baseline prod") == [("RR", ["prod"]), ("P@5", ["prod"])]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--alpha 3", {"alpha": 3, "tolerance": 0.01}),
        ("--alpha 1 --set tolerance=0", {"alpha": 1, "tolerance": 0}),  # even where that is the default
        ("--measure nDCG@5", {"measure": "nDCG@5", "tolerance": 0.01}),
        ("--baseline other=prod.run", {"baselines": ["other"], "tolerance": 0.01}),
        ("--set family=none", {"family": None}),
    ],
)
def test_what_is_given_wins(judged, line, expected):
    *risks, typical = judged(line)[0]
    assert len(risks) >= 1
    for verdict in risks:
        assert {key: verdict[key] for key in expected} == expected
    of_both = {key: value for key, value in expected.items() if key not in ("alpha", "tolerance")}
    assert {key: typical[key] for key in of_both} == of_both


def test_the_reference_of_a_pool_stays_with_its_baselines(judged):
    (verdict,), _ = judged("--gate georisk_not_worse --baseline prod --baseline third=churn.run")
    assert verdict["baselines"] == ["prod", "third"]
    assert verdict["options"]["reference"] is None


def test_other_judgements_are_judged_by_the_command_line_alone(judged):
    verdicts, out = judged("--baseline prod=prod.run --qrels qrels.txt --measure AP")
    assert [verdict["gate"] for verdict in verdicts] == ["no-risk", "tail", "no-collapse"]
    assert {verdict["alpha"] for verdict in verdicts} == {1}
    assert (verdicts[0]["tolerance"], verdicts[0]["options"]["on_churn"]) == (0.005, "warn")
    assert "from riskguard.yaml" not in out


def test_a_file_without_gates_on_single_queries_asks_about_none(command, folder):
    ended = command("compare loss.run --baseline prod -o report.json")
    assert [verdict["gate"] for verdict in read_report(folder / "report.json")["verdicts"]] == ["no-risk"]
    assert "tail" not in ended.out


def test_a_file_without_a_gate_of_the_kind_still_has_its_measures(judged, command, folder):
    folder.joinpath("riskguard.yaml").write_text(FILE[: FILE.index("gates:")].replace("family: auto\n", ""))
    verdicts, _ = judged("--baseline prod")
    assert [verdict["gate"] for verdict in verdicts] == ["no-risk", "tail", "no-collapse"]  # nor any other
    assert {(v["measure"], v["alpha"]) for v in verdicts} == {("AP", 1)}
    assert command("compare good.run").status == 2


def test_slices_are_judged_only_if_they_are_asked_for(judged, folder):
    path = folder / "riskguard.yaml"
    path.write_text(FILE.replace("on_churn: fail", "on_churn: fail\n    slice: kind=code"))
    rows = [f"{topic}\t{world.QUERIES[topic]}\tcode" for topic in world.TOPICS]
    folder.joinpath("topics.tsv").write_text("\n".join(["topic\tquery\tkind", *rows]) + "\n")
    verdicts, _ = judged("")
    assert [verdict["options"]["slice"] for verdict in verdicts] == [None, None, None]
