"""A project whose gates use every input that a verdict can depend on, judged with and without what was kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.config.items import GateItem, all_items
from pytest_riskguard.config.load import load_gates
from pytest_riskguard.config.schema import Config
from pytest_riskguard.engine.declared_gates import DeclaredGates, engine_of
from pytest_riskguard.engine.kept_verdicts.asked_file import AskedFile
from pytest_riskguard.engine.kept_verdicts.kept import KeptVerdicts
from pytest_riskguard.gates.kinds import KINDS, OPTIONS, options_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.plugin.relay import Held, _as_carried, _as_plain, _as_verdict
from pytest_riskguard.reports import html
from pytest_riskguard.reports import json as report
from pytest_riskguard.reports.ci.github import annotation
from pytest_riskguard.reports.ci.junit import properties
from pytest_riskguard.reports.markdown import render as markdown
from pytest_riskguard.reports.terminal import gates_table
from pytest_riskguard.reports.terminal.failure import explain
from pytest_riskguard.run_context import Detail, Screen
from tests.plugin import world

COLLECTION = {
    "qrels": "qrels.txt",
    "topics": "topics.tsv",
    "documents": "documents.jsonl",
    "document_url": "https://example.org/{id}",
}
#: Another value of each option of a gate than its default. A new option fails the test that reads this.
VALUES: Mapping[str, Any] = {
    "alpha": 5,
    "level": 0.9,
    "tradeoff": "smooth",
    "convention": "minus",
    "slice": "kind=other",
    "max_latency_p95_ms": 100,
    "method": "student_t",
    "tolerance": 0.02,
    "on_inconclusive": "warn",
    "weighted": True,
    "on_churn": "fail",
    "missing": "zero",
    "max_mde": 0.05,
    "reference": "second",
    "max_loss": 0.45,
    "max_share": 0.9,
    "allowed": 2,
    "protected": ["t03"],
}
#: What a kind needs besides its name and its baseline.
NEEDED: Mapping[str, Mapping[str, Any]] = {
    "not_inferior": {"tolerance": 0.01},
    "equivalent": {"tolerance": 0.01},
    "georisk_not_worse": {"baselines": ["prod", "second", "third"]},
}
assert set(VALUES) == set(OPTIONS)


def write_project(folder: Path, candidate: Mapping[str, int] = world.LOSS) -> None:
    """Judgements, topics with tags and weights, titles, three stored baselines of which one has a replicate."""
    world.write_collection(folder)
    world.store(folder)
    world.store(folder, "second", world.GOOD)
    world.store(folder, "third", world.CHURN)
    world.write_run(folder / "replicate.run", {"t01": 3, "t09": 1}, tag="r")
    store = Store(folder / "baselines")
    collection: Any = {"qrels": folder / "qrels.txt", "topics": folder / "topics.tsv", "allow_ci": True}
    store.add_replicate("third", folder / "replicate.run", **collection)
    world.write_run(folder / "newer.run", {"t02": 1, "t30": 3}, tag="n")
    store.promote("second", folder / "newer.run", kind="previous", note="better", **collection)
    world.write_run(folder / "candidate.run", candidate)
    rows = ["topic\tquery\tkind\tweight"]
    for number, topic in enumerate(world.TOPICS, start=1):
        kind, weight = "brand" if number == 3 else "other", 1 if number <= 15 else 9
        rows.append(f"{topic}\t{world.QUERIES[topic]}\t{kind}\t{weight}")
    (folder / "topics.tsv").write_text("\n".join(rows) + "\n")
    lines = [{"_id": name, "title": f"About {name}"} for name in ("good", *(f"bad{rank}" for rank in range(1, 21)))]
    (folder / "documents.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def write_gates(folder: Path, gates: Sequence[Mapping[str, Any]], **settings: Any) -> None:
    """A riskguard.yaml with these gates; JSON is YAML."""
    content = {"collection": COLLECTION, "measures": ["AP"], "candidate": "candidate.run", "gates": gates, **settings}
    (folder / "riskguard.yaml").write_text(json.dumps(content, indent=1))


def gate(kind: str, **options: Any) -> dict[str, Any]:
    """A gate of a kind, with what it needs, against ``prod``."""
    needed = NEEDED.get(kind, {})
    baseline = {} if {"baseline", "baselines"} & {*needed, *options} else {"baseline": "prod"}
    return {"name": "a-gate", "kind": kind, **baseline, **needed, **options}


def settable(kind: str) -> list[str]:
    """The options of a kind that a riskguard.yaml may set to something else than their defaults."""
    fixed = ("alpha", "tradeoff") if kind == "equivalent" else ()
    return [name for name in options_of(KINDS[kind]) if name not in fixed]


def with_option(kind: str, option: str) -> dict[str, Any]:
    """Options of which one has another value than its default, and those that this one needs."""
    if option == "tradeoff" and kind == "not_inferior":  # a tolerance is in units of the measure
        return {"tradeoff": VALUES["tradeoff"], "tolerance": 0}
    if option == "tradeoff" and kind == "no_drift":  # the smooth trade-off has no other alpha
        return {"tradeoff": VALUES["tradeoff"], "alpha": 1}
    if option == "on_churn" and kind == "georisk_not_worse":
        return {"on_churn": "warn"}
    return {option: VALUES[option]}


class Judged:
    """One run over the gates of a folder in this process, as pytest or ``riskguard check`` makes it."""

    def __init__(self, folder: Path, *, report: bool = False, **replaced: Any) -> None:
        self.settings: Config = load_gates(folder / "riskguard.yaml")
        self.items = all_items(self.settings)
        self.kept = KeptVerdicts(AskedFile.of(self.settings), report=report, **replaced)
        engine = engine_of(self.settings, report=report)
        self._declared = DeclaredGates(self.settings, engine, _no_live_system, **replaced)
        #: The items that were judged, in contrast to those whose verdicts were kept.
        self.anew: list[str] = []

    def judge(self, item: GateItem) -> Verdict:
        """Judge an item."""
        self.anew.append(item.id)
        return self._declared.verdict(item)

    def verdicts(self) -> list[Verdict]:
        """The verdicts on all items."""
        return [self.kept.verdict(item.id, partial(self.judge, item)) for item in self.items]


def _no_live_system(*_: object) -> Any:
    raise AssertionError("no gate has a live system")


def shown(verdict: Verdict, *, report_wanted: bool) -> dict[str, str]:
    """Everything that any report shows of a verdict, byte for byte."""
    texts = {str(detail): explain(verdict, Screen(detail, 100)) for detail in Detail}
    texts["ascii"] = explain(verdict, Screen(Detail.EVERYTHING, 60, blocks=False), reproduce="again", report="more")
    texts["table"] = "\n".join(gates_table.lines([("t", verdict)], Screen(), colour=False))
    texts["junit"] = repr(properties(verdict))
    texts["annotation"] = repr(annotation(verdict, file="f", line=1))
    sent = verdict if report_wanted else verdict.without_diagnostics()
    texts["sent"] = json.dumps(_as_plain(sent))
    short = replace(sent, rankings=None)
    assert repr(_as_carried(short)) == repr(_as_verdict(_as_plain(short)))
    held = Held.of(sent)
    assert held is not None
    texts["held"] = explain(held.verdict(), Screen(Detail.EVERYTHING))
    if report_wanted:
        texts["json"] = report.dumps([verdict])
        texts["html"] = html.render([verdict])
        texts["markdown"] = markdown([verdict])
    return texts
