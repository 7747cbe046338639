"""Python, fixture, riskguard.yaml and command line give the same verdict for the same files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_riskguard import check, read_qrels, score_run
from pytest_riskguard.cli.main import run
from pytest_riskguard.evaluation import read_topics
from tests.plugin import world
from tests.plugin.world import read_report


def unnamed(verdict: dict[str, Any]) -> str:
    """The bytes of a verdict, the gate's name aside."""
    return json.dumps({**verdict, "gate": None})


def without_report(verdict: dict[str, Any]) -> dict[str, Any]:
    """What a verdict holds whether or not a report is written of it, and runs are at hand."""
    warnings = [warning for warning in verdict["warnings"] if warning["code"] != "rests_on_unjudged"]
    explanation = {**verdict["explanation"], "summary": None}  # it speaks of the documents
    blank = dict.fromkeys(("exhibits", "documents", "judgements"))
    return {**verdict, **blank, "warnings": warnings, "explanation": explanation}


@pytest.mark.parametrize(("name", "alpha"), [("loss", 1.0), ("churn", 5.0), ("good", 1.0)])
def test_every_way_in_gives_the_same_verdict(pytester, project, monkeypatch, capsys, name, alpha):
    folder = project(name)
    pytester.makepyfile(
        test_fixture=f"""
        def test_fixture(riskguard):
            riskguard.check("not_significantly_risky", riskguard.run("candidate.run"), "prod", alpha={alpha})
        """
    )
    pytester.runpytest("--riskguard", "--riskguard-report=report.json")
    by_yaml, by_fixture = read_report(folder / "report.json")["verdicts"]
    assert (by_yaml["gate"], by_fixture["gate"]) == ("no-risk", "test_fixture.py::test_fixture")

    monkeypatch.chdir(folder)
    capsys.readouterr()
    run(["compare", "candidate.run", "--baseline", "prod", "--measure", "AP", "--alpha", str(alpha), "--json", "-"])
    (by_command,) = json.loads(capsys.readouterr().out)["verdicts"]

    qrels, queries = read_qrels(folder / "qrels.txt"), read_topics(folder / "topics.tsv").queries
    candidate, baseline = (
        score_run(folder / file, qrels, ["AP"], queries=queries)[0] for file in ("candidate.run", "prod.run")
    )
    by_python = check("not_significantly_risky", candidate, baseline, alpha=alpha).to_dict()
    assert len({unnamed(verdict) for verdict in (by_yaml, by_fixture, by_command)}) == 1
    assert by_yaml["exhibits"] is not None
    assert unnamed(without_report(by_yaml)) == unnamed(without_report(by_python))

    plain = check(
        "not_significantly_risky",
        dict(zip(candidate.topics, candidate.values.tolist(), strict=True)),
        dict.fromkeys(reversed(world.TOPICS), 0.5),
        alpha=alpha,
    ).to_dict()
    for key in ("outcome", "reason", "estimates", "intervals", "power"):
        assert plain[key] == by_yaml[key], key
