"""The JSON report."""

from __future__ import annotations

import json
import os
import threading

import jsonschema
import pytest

from pytest_riskguard import check
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import json as report_json
from tests.plugin.world import CHURN, GOOD, LOSS
from tests.reports.test_terminal import asked, verdict

VERDICTS = {
    "loss": lambda: verdict(LOSS),
    "churn": lambda: verdict(CHURN, alpha=5),
    "churn let through": lambda: verdict(CHURN, alpha=5, on_churn="warn"),
    "pass": lambda: verdict(GOOD),
    "nothing changed": lambda: verdict({}),
    "too few": lambda: check("not_significantly_risky", {"1": 0.5}, {"1": 0.4}),
    "too weak": lambda: verdict(GOOD, max_mde=1e-9),
    "incomparable": lambda: check("not_significantly_risky", {"1": float("inf")}, {"1": 0.4}),
    "not shown": lambda: asked("not_inferior", CHURN, tolerance=0.01),
    "collapse": lambda: asked("no_topic_collapse", LOSS, max_loss=0.1, max_share=0.5, protected=["t07"]),
    "minus, smooth": lambda: verdict(LOSS, convention="minus", tradeoff="smooth"),
    "weighted": lambda: verdict(LOSS, weights={f"t{i:02d}": float(i) for i in range(1, 31)}),
    "noise": lambda: verdict(LOSS, replicates=[{f"t{i:02d}": 0.5 - i / 100 for i in range(1, 31)}]),
    "hostile": lambda: check("not_significantly_risky", {"\ud800\n<b>": 0.1}, {"\ud800\n<b>": 0.4}),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_report_is_valid_strict_json_and_reads_back(name, tmp_path):
    given = VERDICTS[name]()
    path = tmp_path / "report.json"
    report_json.write(path, [given])
    text = path.read_text(encoding="ascii")
    report = json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))
    schema = json.loads(report_json.SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.validate(report, schema, cls=jsonschema.Draft202012Validator)
    assert report["schema"] == "riskguard-report/1"
    assert Verdict.from_dict(report["verdicts"][0]).to_dict() == given.to_dict()


def test_the_schema_is_a_schema_and_refuses_what_is_not_a_report():
    schema = json.loads(report_json.SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    broken = report_json.report([verdict(LOSS)])
    broken["verdicts"][0]["outcome"] = "maybe"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema, cls=jsonschema.Draft202012Validator)


def test_a_report_that_cannot_be_written_leaves_the_old_one_and_no_remains(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    report_json.write(path, [])
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        report_json.write(path, [verdict(LOSS)])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_keeps_pointing_and_its_file_keeps_its_mode(tmp_path):
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    report_json.write(link, [])
    assert link.is_symlink()
    assert json.loads(target.read_text())["verdicts"] == []
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    report_json.write(pipe, [])
    reader.join(timeout=10)
    assert json.loads(received[0])["schema"] == "riskguard-report/1"
    assert pipe.is_fifo()
