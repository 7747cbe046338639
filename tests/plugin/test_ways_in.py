"""Python, fixture, riskguard.yaml and command line give the same verdict for the same files."""

import json
from typing import Any

import jsonschema
import pytest

from pytest_riskguard import check, score_run
from pytest_riskguard.cli.main import run
from pytest_riskguard.data import read_qrels, read_topics
from pytest_riskguard.gates.kinds import KINDS, options_of
from pytest_riskguard.plugin.fixture import Riskguard
from tests.plugin import world
from tests.plugin.world import read_report
from tests.reports.schema import SCHEMA_FILE

HEAD = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP]
candidate: candidate.run
gates:
"""


def slow(*case: Any) -> Any:
    return pytest.param(*case, marks=pytest.mark.slow)


def unnamed(verdict: dict[str, Any]) -> str:
    """The bytes of a verdict, the gate's name aside."""
    return json.dumps({**verdict, "gate": None})


def without_report(verdict: dict[str, Any]) -> dict[str, Any]:
    """What a verdict holds whether or not a report is written of it, and runs are at hand."""
    warnings = [warning for warning in verdict["warnings"] if warning["code"] != "rests_on_unjudged"]
    blank = dict.fromkeys(("exhibits", "documents", "judgements"))
    figures = [figure for figure in verdict["figures"] if not figure.startswith("unjudged documents")]
    return {**verdict, **blank, "warnings": warnings, "summary": "", "figures": figures}


@pytest.fixture
def judged(pytester, project, monkeypatch, capsys):
    """The verdicts of one gate in a riskguard.yaml, of the fixture's ``check`` and of ``riskguard compare``."""

    def judged(name: str, kind: str, options: dict[str, Any], baselines: tuple[str, ...] = ("prod",)) -> list[Any]:
        folder = project(name)
        for other in baselines[1:]:
            world.store(folder, other, dict.fromkeys(world.TOPICS[:10], 1))
        pool = KINDS[kind].is_pool
        asked = f"baselines: [{', '.join(baselines)}]" if pool else "baseline: prod"
        keys = "".join(f", {option}: {value}" for option, value in options.items())
        (folder / "riskguard.yaml").write_text(f"{HEAD}  - {{name: a-gate, kind: {kind}, {asked}{keys}}}\n")
        given = list(baselines) if pool else "prod"
        pytester.makepyfile(
            test_fixture=f"""
            def test_fixture(riskguard):
                riskguard.check({kind!r}, riskguard.run("candidate.run"), {given!r}, **{options!r})
            """
        )
        pytester.runpytest("--riskguard", "--riskguard-report=report.json")
        report = read_report(folder / "report.json")
        jsonschema.validate(report, read_report(SCHEMA_FILE), cls=jsonschema.Draft202012Validator)
        by_yaml, by_fixture = report["verdicts"]
        assert (by_yaml["gate"], by_fixture["gate"]) == ("a-gate", "test_fixture.py::test_fixture")

        (folder / "riskguard.yaml").write_text(HEAD.replace("gates:\n", ""))  # which has no options for the command
        monkeypatch.chdir(folder)
        capsys.readouterr()
        words = []
        for option, value in options.items():
            words += ["--alpha", str(value)] if option == "alpha" else ["--set", f"{option}={value}"]
        named = [word for baseline in baselines for word in ("--baseline", baseline)]
        run(["compare", "candidate.run", *named, "--gate", kind, *words, "-o", "-"])
        (by_command,) = json.loads(capsys.readouterr().out)["verdicts"]
        return [by_yaml, by_fixture, by_command]

    return judged


@pytest.mark.parametrize(
    ("name", "kind", "options", "outcome"),
    [
        ("loss", "not_significantly_risky", {}, "fail"),
        ("loss", "no_topic_collapse", {"max_loss": 0.3, "allowed": 12}, "pass"),
        slow("churn", "not_significantly_risky", {"alpha": 5.0, "on_churn": "fail"}, "fail"),
        slow("good", "not_significantly_risky", {"tolerance": 0.0}, "pass"),
        slow("loss", "no_topic_collapse", {"max_loss": 0.3, "allowed": 0.05}, "fail"),
    ],
)
def test_every_way_in_gives_the_same_verdict(pytester, judged, name, kind, options, outcome):
    verdicts = judged(name, kind, options)
    by_yaml = verdicts[0]
    assert by_yaml["outcome"] == outcome
    assert options.items() <= (by_yaml | by_yaml["options"]).items()

    folder = pytester.path
    qrels, queries = read_qrels(folder / "qrels.txt"), read_topics(folder / "topics.tsv").queries
    candidate, baseline = (
        score_run(folder / file, qrels, ["AP"], queries=queries)[0] for file in ("candidate.run", "prod.run")
    )
    by_python = check(kind, candidate, baseline, **options).to_dict()
    assert len({unnamed(verdict) for verdict in verdicts}) == 1
    assert by_yaml["exhibits"] is not None
    assert unnamed(without_report(by_yaml)) == unnamed(without_report(by_python))

    plain = check(
        kind,
        dict(zip(candidate.topics, candidate.values.tolist(), strict=True)),
        dict.fromkeys(reversed(world.TOPICS), 0.5),
        **options,
    ).to_dict()
    for key in ("outcome", "reason", "estimates", "intervals", "power"):
        assert plain[key] == by_yaml[key], key


@pytest.mark.parametrize(
    ("kind", "options", "defaults"),
    [
        ("not_significantly_risky", {}, {"alpha": 1, "tolerance": 0.005, "on_churn": "warn"}),
        slow("georisk_not_worse", {}, {"alpha": 1, "tolerance": 0, "on_churn": "fail"}),
        slow("not_inferior", {}, {"alpha": 1, "tolerance": 0}),
        slow("equivalent", {"tolerance": 0.1}, {"alpha": 0}),
    ],
)
def test_the_defaults_of_a_kind_are_those_of_every_way_in(judged, kind, options, defaults):
    baselines = ("prod", "other") if KINDS[kind].is_pool else ("prod",)
    for verdict in judged("good", kind, options, baselines):
        assert defaults.items() <= (verdict | verdict["options"]).items()
    assert {option: options_of(KINDS[kind])[option].default for option in defaults} == defaults


def test_type_checkers_know_the_assertions_of_the_fixture():
    names = {f"assert_{kind}" for kind in KINDS}
    assert {name for name in Riskguard.__annotations__ if name.startswith("assert_")} == names
