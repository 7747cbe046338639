"""``riskguard show`` and ``riskguard report``, and the reports of ``riskguard compare``."""

import copy
import errno
import json
import os
import re
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard import check
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import files
from pytest_riskguard.reports import json as report_json
from pytest_riskguard.reports.comparisons import KnownGate, Report
from tests.plugin.world import CHURN, GOOD, LOSS, TOPICS, differences, read_report
from tests.reports.html.verdicts import pair
from tests.reports.test_json import KINDS as VERDICTS

RISK = "--gate not_significantly_risky"
COMPARE = f"compare {{0}}.run --baseline prod --measure AP {RISK}"


@pytest.fixture
def page(monkeypatch):
    """Stands for the writer of pages."""
    module = types.ModuleType("pytest_riskguard.reports.html")
    module.ensure_available = lambda: None  # type: ignore[attr-defined]
    module.render = lambda report: f"<html>{len(report.verdicts)}"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pytest_riskguard.reports.html", module)
    return module


@pytest.mark.parametrize(("name", "status"), [("good", 0), ("loss", 1), ("nowhere", 3)])
def test_what_was_judged_is_shown_again_with_the_same_words_and_status(command, name, status):
    judged = command(f"{COMPARE.format(name)} -o r.json")
    again = command("show r.json")
    assert judged.status == again.status == status
    assert judged.out.splitlines()[0] == f"{name} against prod (baseline)"
    shown = re.sub(r"\A.*\n|  from riskguard.yaml.*\n", "", judged.out)
    shown = re.sub(r"store it as the baseline:\n .*\n", "it can become the baseline\n", shown)
    shown = re.sub(r"(lists those to judge first):\n .*\n", r"\1\n", shown)
    assert shown == again.out
    assert again.err == ""


@pytest.mark.parametrize("line", [COMPARE.format("loss"), "show r.json"])
def test_as_much_is_said_as_is_asked_for(command, line):
    command(f"{COMPARE.format('loss')} -o r.json")
    assert len(command(f"{line} -q").out.splitlines()) == 1
    few, everything = command(line).out, command(f"{line} -v").out
    assert "worst 5 of 12" in few
    assert "t12" in everything
    assert "t12 " not in few


def test_each_verdict_says_its_gate_and_its_systems(command):
    asked = f"{COMPARE.format('loss')} --baseline old=churn.run"
    command(f"{asked} -o r.json")
    for line in ("show r.json -q", f"{asked} -q"):
        first, second = command(line).out.splitlines()
        assert first.startswith("FAIL loss against prod: the mean fell 0.50 -> 0.34; ")
        assert second.startswith(
            "PASS WITH CARE loss against old: losses counted twice outweigh gains; 15 of 30 queries lost, 15 gained "
        )
    report = json.loads(Path("r.json").read_text())
    report["verdicts"][0]["gate"] = "no-risk"
    report["verdicts"][1]["gate"] = "\x1b[2J" + "n" * 200
    Path("r.json").write_text(json.dumps(report))
    assert command("show r.json").out.splitlines()[2] == "  no-risk: loss against prod"  # after the run's answer
    first, second = command("show r.json -q").out.splitlines()
    assert first.startswith("FAIL no-risk: loss against prod: the mean fell 0.50 -> 0.34; ")
    assert second.startswith(f"PASS WITH CARE [2J{'n' * 56}…: loss against old: ")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("report r.json -o r.json", "r.json would overwrite the file that this command reads"),
        ("report r.json -o link.json", "link.json would overwrite the file that this command reads"),
        (f"{COMPARE.format('loss')} -o loss.run", "loss.run would overwrite the file that this command"),
        (f"{COMPARE.format('loss')} --qrels qrels.txt -o qrels.txt", "qrels.txt would overwrite"),
        ("compare loss.run --baseline prod -o qrels.txt", "qrels.txt would overwrite"),
        ("compare loss.run --baseline prod -o riskguard.yaml", "riskguard.yaml would overwrite"),
        ("compare loss.run --baseline prod -o topics.tsv", "topics.tsv would overwrite"),
        ("replay good.run loss.run -o loss.run", "loss.run would overwrite"),
        ("check -o candidate.run", "candidate.run would overwrite"),
        ("comment r.json --commit 0123456 -o r.json", "r.json would overwrite"),
        ("check --candidate loss.run -o loss.run", "loss.run would overwrite"),
        ("check --baseline prod=loss.run -o loss.run", "loss.run would overwrite"),
        ("judge-next loss.run --baseline prod -o qrels.txt", "qrels.txt would overwrite"),
        ("judge-next --gate no-risk -o topics.tsv", "topics.tsv would overwrite"),
        ("power loss.run --baseline prod -o loss.run", "loss.run would overwrite"),
    ],
)
def test_no_report_replaces_a_file_that_is_read_or_another_report(command, refused, page, line, said):
    command(f"{COMPARE.format('loss')} -o r.json")
    Path("link.json").symlink_to("r.json")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    refused(line, said)
    assert before == {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def test_compare_writes_all_reports_at_once_and_report_the_same(command, page):
    ended = command(f"{COMPARE.format('loss')} -o r.json -o r.html -o r.md")
    assert ended.status == 1
    again = command("report r.json -o again.md -o again.html")
    assert (again.status, again.out, again.err) == (0, "", "")
    assert Path("again.md").read_bytes() == Path("r.md").read_bytes()
    assert Path("r.html").read_text() == "<html>1"
    assert Path("r.md").read_text(encoding="utf-8").startswith("## riskguard: Don't ship: 1 gate failed")
    assert read_report(Path("r.json"))["verdicts"][0]["outcome"] == "fail"


def test_a_report_that_cannot_be_written_does_not_keep_the_others_from_being_written(command, monkeypatch):
    write_text = files.write_text

    def on_a_full_disk(path: Path, text: str) -> None:
        if path.name == "r.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_text(path, text)

    Path("r.json").write_text(report_json.dumps(Report([VERDICTS["pass"]()])))
    monkeypatch.setattr(files, "write_text", on_a_full_disk)
    ended = command(f"{COMPARE.format('good')} -o r.json -o r.md")
    assert (ended.status, ended.err) == (3, "Error: --output r.json: cannot write (No space left on device)\n")
    assert not Path("r.json").exists()
    assert Path("r.md").exists()


def test_a_path_where_no_report_can_be_is_a_wrong_option_and_nothing_is_judged(refused):
    Path("folder.json").mkdir()
    Path("link.json").symlink_to("../elsewhere.json")
    for path in ("folder.json", "nowhere/r.json", "link.json"):
        refused(f"{COMPARE.format('good')} -o {path} -o r.md", f"{path}: cannot write (")
    assert not Path("r.md").exists()


REPORTS_ASKED = "-o r.json -o r.html -o r.md -o r.xml"
REPORT_FILES = tuple(Path(f"r.{suffix}") for suffix in ("json", "html", "md", "xml"))


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("line", "status"),
    [(COMPARE.format("loss"), 130), ("check", 130), ("check nowhere", 2)],
)
def test_no_report_of_an_earlier_run_stands_for_one_that_ended_before_it_could_write(
    command, monkeypatch, line, status
):
    command(f"{COMPARE.format('good')} {REPORTS_ASKED}")
    assert all(path.exists() for path in REPORT_FILES)
    for module in ("check", "compare"):
        monkeypatch.setattr(f"pytest_riskguard.cli.{module}.present", killed)
    assert command(f"{line} {REPORTS_ASKED}").status == status
    assert not any(path.exists() for path in REPORT_FILES)


def test_no_page_of_an_earlier_report_stands_for_one_that_cannot_be_read(command):
    command(f"{COMPARE.format('good')} -o good.json")
    command("report good.json -o r.html")
    Path("bad.json").write_text("{}")
    assert command("report bad.json -o r.html").status == 3
    assert not Path("r.html").exists()


def test_a_file_that_is_no_report_stays_until_a_report_replaces_it(command, done, monkeypatch):
    content = "# Notes\n\nriskguard says:\n\n## riskguard: Ship\n"
    Path("r.md").write_text(content)
    Path("link.md").symlink_to("r.md")
    with monkeypatch.context() as patched:
        patched.setattr("pytest_riskguard.cli.compare.present", killed)
        for name in ("r.md", "link.md"):
            assert command(f"{COMPARE.format('good')} -o {name}").status == 130
            assert Path("r.md").read_text() == content
    done(f"{COMPARE.format('good')} -o link.md")
    assert Path("r.md").read_text(encoding="utf-8").startswith("## riskguard: Ship")


def test_without_the_extra_nothing_is_judged_and_the_command_to_install_it_is_said(command, done, refused, page):
    def missing() -> None:
        raise UsageError("HTML needs the extra [report]: pip install 'pytest-riskguard[report]'")

    page.ensure_available = missing
    refused(
        f"{COMPARE.format('good')} -o r.html -o r.json",
        "--output r.html: HTML needs the extra [report]: pip install 'pytest-riskguard[report]'",
    )
    done(f"{COMPARE.format('good')} -o r.json -o r.md")
    assert command("report r.json -o r.html").status == 2
    done("report r.json -o again.md")


@pytest.mark.slow
def test_what_the_report_leaves_to_be_derived_is_said_as_at_first(command):
    """Groups of topics, which slices are risky, references that pass, the rank: no fields of the JSON report."""
    rows = [f"{topic}\tsome words\t{'new' if place < 20 else 'old'}" for place, topic in enumerate(TOPICS)]
    Path("tags.tsv").write_text("\n".join(["topic\tquery\tage", *rows]) + "\n")
    line = f"compare loss.run --baseline good.run --baseline churn.run --measure AP --topics tags.tsv {RISK}"
    for gate in ("not_significantly_risky", "georisk_not_worse"):
        command(f"{line} --gate {gate} -o r.json -o first.html")
        command("report r.json -o again.html")
        first, again = (Path(name).read_text() for name in ("first.html", "again.html"))
        assert again == first
        assert "age=old" in first


def test_a_report_without_verdicts_says_so(command):
    Path("r.json").write_text(report_json.dumps(Report([])))
    ended = command("show r.json")
    assert (ended.status, ended.out) == (3, "no gate was judged\n")


def test_a_gate_of_the_report_that_was_not_judged_is_named_and_is_no_pass(command, done):
    gates = [
        KnownGate("a.yaml::a", 3, "judged", 2, (0,)),
        KnownGate("a.yaml::b", 4, "crashed", 0, ()),
    ]
    passed = report_json.dumps(Report([VERDICTS["pass"]()], gates))
    Path("r.json").write_text(passed)
    ended = command("show r.json")
    assert ended.status == 3
    assert ended.out.startswith("PASS (after 2 failures) ")
    assert ended.out.endswith("not judged (its worker crashed): a.yaml::b\n")
    done("report r.json -o r.md")
    assert "not judged" in Path("r.md").read_text(encoding="utf-8")
    Path("r.json").write_text(report_json.dumps(Report([VERDICTS["pass"]()], gates[:1])))
    done("show r.json")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "r.json: expected a JSON report of riskguard: line 1: not JSON"),
        ("[]", "r.json: expected a JSON report of riskguard: expected an object, found a list"),
        ('{"a": ' * 100_000, "r.json: expected a JSON report of riskguard: nested too deeply"),
        ('{"a": 1, "schema": "a", "schema": "b"}', "key 'schema' appears twice"),
        ("{}", "expected a JSON report of riskguard (schema: 'riskguard-report/1'), found schema None"),
        (
            '{"schema": "sarif"}',
            "expected a JSON report of riskguard (schema: 'riskguard-report/1'), found schema 'sarif'",
        ),
        (
            '{"schema": "riskguard-report/2"}',
            "expected the format riskguard-report/1, found riskguard-report/2: it was written by a newer riskguard; "
            "upgrade to read it",
        ),
        ('{"schema": "riskguard-report/1"}', "r.json: verdicts: expected a list, found None"),
        (
            '{"schema": "riskguard-report/1", "verdicts": [1]}',
            "r.json: verdicts[0]: expected an object, found a whole number",
        ),
        (
            '{"schema": "riskguard-report/1", "verdicts": [{}]}',
            "r.json: verdicts[0]: missing key 'gate'",
        ),
        ("\xff", "not UTF-8"),
        ("version https://git-lfs.github.com/spec/v1\n", "git-lfs"),
    ],
)
def test_what_is_no_report_is_refused_with_its_name(refused, content, said):
    Path("r.json").write_bytes(content.encode("latin-1"))
    for line in ("show r.json", "report r.json -o r.md"):
        refused(line, said, status=3)
    assert not Path("r.md").exists()


def test_a_report_that_is_too_large_is_not_read(command, refused, monkeypatch, set_limit):
    command(f"{COMPARE.format('good')} -o r.json")
    set_limit("REPORT_BYTES", 100)
    ended = command("show r.json")
    assert ended.status == 3
    size = f"{Path('r.json').stat().st_size:,}"
    assert f"r.json: expected at most 100 bytes in a report, found {size}; if the file is right, set" in ended.err
    monkeypatch.setenv("RISKGUARD_LIMITS", "much")
    refused("show r.json", "RISKGUARD_LIMITS: expected a factor above 0, such as 2, found 'much'")


def damaged(name: str, path: str, *value: Any) -> dict[str, Any]:
    """A report with another value at a place, or with nothing there; places of a list are negative numbers."""
    report = copy.deepcopy(made(name))
    *outer, last = (int(key) if key.startswith("-") else key for key in path.split("."))
    node = report["verdicts"][0]
    for key in outer:
        node = node[key]
    if value:
        (node[last],) = value
    else:
        del node[last]
    return report


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (("loss", "kind", "other"), "kind: expected 'not_significantly_risky', "),
        (("loss", "outcome", "maybe"), "outcome: expected 'pass', 'fail', 'inconclusive' or 'incomparable'"),
        (("loss", "alpha", "1"), "alpha: expected a number, found text"),
        (("loss", "baselines", []), "baselines: expected at least 1, found []"),
        (("loss", "intervals", [{}]), "missing key 'intervals[0].method'"),
        (
            ("charts", "exhibits.candidate.-1"),
            "exhibits.candidate: expected 20 values as topics has, found 19",
        ),
        (
            ("charts", "exhibits.alphas.-1"),
            "exhibits.curves['lower']: expected 12 values as alphas has, found 13",
        ),
        (
            ("charts", "exhibits.curves.urisk"),
            "exhibits.curves: expected lower, upper, urisk, found lower, upper",
        ),
        (
            ("charts", "exhibits.candidate.-1", 1e308),
            "exhibits.candidate: expected numbers up to 1e+150, found 1e+308",
        ),
        (("loss", "topics.count", 0), "topics.count: expected wins, losses and ties that add up to it, found 0"),
        (
            ("loss", "topics", {"count": 2**62, "wins": 2**62}),
            "topics.count: expected at most 1,000,000 topics, found 4,611,686,018,427,387,904",
        ),
    ],
)
def test_what_no_verdict_says_is_refused_with_its_place(refused, damage, said):
    Path("r.json").write_text(json.dumps(damaged(*damage)))
    for what in ("show", "report -o r.md"):
        refused(f"{what} r.json", f"verdicts[0]: {said}", status=3)


CONTRADICTIONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a failure called a pass": ("loss", {"outcome": "pass", "reason": None}, "outcome: expected 'fail', which "),
    "a pass called a failure": ("pass", {"outcome": "fail", "reason": "loss"}, "outcome: expected 'pass', which "),
    "a limit far below the bound": ("pass", {"intervals.*.upper": -0.38}, "a decisive interval of "),
    "a limit above the bound": ("loss", {"intervals.*.upper": 0.1}, "a decisive interval of "),
    "a p-value below the level": (
        "pass",
        {"estimates.decision_p_value": 0.0001},
        "a p-value of 0.0001 at level 0.95",
    ),
    "a collapse called a pass": ("collapse", {"outcome": "pass", "reason": None}, "a flip set of "),
    "a pool that lost": ("pool", {"outcome": "pass", "reason": None}, "outcome: expected 'fail', which "),
    "a pass for a reason": ("pass", {"reason": "loss"}, "reason: expected none beside the outcome 'pass'"),
    "a failure for none": ("loss", {"reason": None}, "reason: expected one beside the outcome 'fail'"),
    "a pass with a problem": (
        "pass",
        {"problem": "no such file"},
        "problem: expected none beside the outcome 'pass'",
    ),
    "nothing compared for no cause": ("incomparable", {"problem": None}, "problem: expected one beside the outcome"),
    "more changes than topics": ("loss", {"topics.changed": 31}, "topics.changed: expected at most 30, found 31"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_verdict_that_contradicts_its_own_figures_is_refused(command, name):
    wrong, changes, said = CONTRADICTIONS[name]
    report = copy.deepcopy(made(wrong))
    for path, value in changes.items():
        nodes = [report["verdicts"][0]]
        *outer, last = path.split(".")
        for key in outer:
            nodes = [inner for node in nodes for inner in (node if key == "*" else [node[key]])]
        for node in nodes:
            node[last] = value
    Path("r.json").write_text(json.dumps(report))
    for line in (
        "show r.json",
        "comment r.json --commit 0123456",
        "report r.json -o r.md",
    ):
        ended = command(line)
        assert ended.status == 3
        assert "r.json: verdicts[0]: " in ended.err
        assert said in ended.err
        assert "ship" not in ended.out
    assert not Path("r.md").exists()


def test_fields_of_a_later_version_are_let_be(command):
    report = report_json.plain(Report([VERDICTS["loss"]()]))
    report["new"] = report["verdicts"][0]["new"] = {"x": 1}
    Path("r.json").write_text(json.dumps(report))
    assert command("show r.json").status == 1


def pool() -> Verdict:
    systems = [
        {topic: after for topic, (_, after) in differences(ranks).items()} for ranks in (LOSS, {}, GOOD, CHURN)
    ]
    baselines = dict(zip(("prod", "good", "churn"), systems[1:], strict=True))
    return check("georisk_not_worse", systems[0], baselines)


MAKERS = {**VERDICTS, "pool": pool, "charts": lambda: pair(20)}


@cache
def made(name: str) -> dict[str, Any]:
    """A report of one of them, made once; a test changes a copy."""
    return report_json.plain(Report([MAKERS[name]()]))


def test_compare_tells_github_what_failed(command, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    ended = command(f"{COMPARE.format('loss')} --measure RR")
    said = [line for line in ended.out.splitlines() if line.startswith("::")]
    assert len(said) == 2
    assert said[0].startswith(
        "::error title=riskguard%3A not_significantly_risky::the mean fell 0.50 -> 0.34; 12 of 30 queries lost, none "
    )
    assert Path("summary.md").read_text(encoding="utf-8").startswith("## riskguard: Don't ship: 2 gates failed")
    assert "::" not in command(COMPARE.format("good")).out
    assert "::error title=" in command(f"{COMPARE.format('loss')} -o -").err  # standard output stays JSON
    monkeypatch.setenv("GITHUB_WORKSPACE", str(Path.cwd()))
    assert "\n::error file=riskguard.yaml,line=6,title=" in command("check --candidate loss.run").out
