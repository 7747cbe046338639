"""``riskguard ltr report``: trained models against baselines, in the papers' columns and with verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import Reports, json_option, show_study, terminal_width, write_text
from pytest_riskguard.cli.parameters import (
    FILE,
    Collection,
    NamedPath,
    baseline_option,
    collection_options,
    gate_options,
    named_path,
)
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.kinds import KINDS, OPTIONS, NotSignificantlyRisky, options_of
from pytest_riskguard.text import clean, counted

if TYPE_CHECKING:
    from pytest_riskguard.cli.inputs import Inputs, System
    from pytest_riskguard.evaluation.scores import TopicScores
    from pytest_riskguard.gates.kinds import Correction
    from pytest_riskguard.ltr.model_comparison import ModelComparison
    from pytest_riskguard.ltr.report import TrainReport

KIND = NotSignificantlyRisky.kind
#: Options of the gate that a report of models takes; slices and live systems it does not.
GATE_OPTIONS = tuple(name for name in options_of(KINDS[KIND]) if name not in ("slice", "max_latency_p95_ms"))


@click.group()
def ltr() -> None:
    """Learning to rank."""


@ltr.command("report")
@click.argument("models", type=named_path, nargs=-1, metavar="[[NAME=]MODEL]...")
@baseline_option()
@collection_options(*GATE_OPTIONS, "family", files=2)
@gate_options("alpha")
@json_option("the figures")
@click.option("--html", type=FILE, help="Write a page with the Pareto curve here. Needs the extra [report].")
@click.option("--markdown", type=FILE, help="Write the tables as Markdown here.")
def train_report(
    models: tuple[NamedPath, ...],
    baselines: tuple[NamedPath, ...],
    collection: Collection,
    alphas: tuple[float, ...],
    json_path: str | None,
    html: Path | None,
    markdown: Path | None,
) -> int:
    """Compare trained models by mean and risk.

    Each MODEL is a run, a stored baseline or, with --scores, a table of per-topic scores. The report gives each
    model's mean, risk, reward, wins and losses against every baseline and on average over them, as in the papers on
    risk-sensitive learning to rank, and its verdicts of not_significantly_risky.

    Without --qrels and --scores, riskguard.yaml supplies what is not given, as for compare. The exit status is 0
    whatever the verdicts are, but 3 if a model cannot be compared.
    """
    from pytest_riskguard.cli.inputs import Inputs
    from pytest_riskguard.ltr.report import dumps
    from pytest_riskguard.ltr.report_section import section

    reports = Reports(json_path, html, markdown)
    reports.withdraw()
    if not models:
        raise UsageError("no model: name at least one run, stored baseline or table of scores")
    inputs = Inputs(collection, (*models, *baselines), kind=KIND)
    reports.check(*inputs.files)
    asked = Asked.of(inputs, models, baselines, {**collection.settings, **({"alphas": alphas} if alphas else {})})
    report = asked.report(Path(models[0].text))
    shown = section(report)
    text = shown.to_text(max(terminal_width(), 80))
    show_study("\n".join(filter(None, (text, asked.from_file))), dumps(report), json_path=json_path)
    if markdown is not None:
        write_text(shown.to_markdown(), markdown, option="--markdown")
    if html is not None:
        write_text(shown.to_page(), html, option="--html")
    if not (incomparable := report.incomparable):
        return ExitStatus.PASSED
    click.echo(f"Error: {counted(incomparable, 'verdict')} without an answer: the data cannot be compared", err=True)
    return ExitStatus.INCOMPARABLE


@dataclass(frozen=True)
class Asked:
    """The systems and gates of a report; ``from_file`` says which of them riskguard.yaml supplied."""

    inputs: Inputs
    models: Sequence[System]
    baselines: Sequence[System]
    gates: Sequence[NotSignificantlyRisky]
    correction: Correction
    from_file: str | None

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        models: Sequence[NamedPath],
        baselines: Sequence[NamedPath],
        options: Mapping[str, Any],
    ) -> Asked:
        """What the command line asks for, and riskguard.yaml where that says nothing."""
        from pytest_riskguard.cli.inputs import once

        systems, yardsticks = inputs.systems(models, option="MODEL"), _baselines(inputs, baselines)
        _refuse_both(systems, yardsticks)
        known = (*GATE_OPTIONS, "alphas", "family", "measures")
        declared = inputs.declared.unless(options, has_baselines=bool(baselines))
        taken = {name: value for name, value in declared.items() if name in known}
        values = {name: value for name, value in {**options, **taken}.items() if name in known}
        values.pop("measures", None)  # ``inputs`` knows them
        alphas, correction = values.pop("alphas", (OPTIONS["alpha"].default,)), values.pop("family", "none")
        once("--alpha", [f"{alpha:g}" for alpha in alphas])
        try:
            gates = [NotSignificantlyRisky(alpha=alpha, **values) for alpha in alphas]
        except ValueError as error:
            raise UsageError(f"{KIND}: {error}") from None
        line = inputs.declared.line(taken, has_baselines=bool(baselines))
        return cls(inputs, systems, yardsticks, gates, correction, None if line is None else clean(line, limit=1000))

    def report(self, table: Path) -> TrainReport:
        """All figures and verdicts, for every measure asked for, or every column of a ``table`` of scores."""
        from pytest_riskguard.engine.sources import Question, label
        from pytest_riskguard.ltr.report import AskedGate, TrainReport, judged_models

        engine, measures = self.inputs.engine, self.inputs.measures(table)
        systems = [*self.models, *self.baselines]
        scores = [[engine.scores(source, measure) for source in systems] for measure in measures]
        compared = [self._compared(of_measure) for of_measure in scores]
        questions = [
            Question(gate, model, baseline, measure)
            for measure, baseline, model, gate in product(measures, self.baselines, self.models, self.gates)
        ]
        verdicts = engine.verdicts(questions, correction=self.correction)
        size = len(verdicts) // len(measures)
        return TrainReport(
            gate=AskedGate.of(verdicts),
            models=tuple(map(label, self.models)),
            baselines=tuple(map(label, self.baselines)),
            qrels=next((one.qrels_digest for one in scores[0] if one.qrels_digest), None),
            digests={label(source): one.digest for source, one in zip(systems, scores[0], strict=True)},
            measures=tuple(
                judged_models(
                    of[0].measure,
                    comparison,
                    verdicts[place * size : (place + 1) * size],
                    weighted=weighted,
                    missing_topics=missing,
                )
                for place, (of, (comparison, weighted, missing)) in enumerate(zip(scores, compared, strict=True))
            ),
        )

    def _compared(self, scores: Sequence[TopicScores]) -> tuple[ModelComparison, bool, dict[str, int]]:
        """The figures of all models, whether the gate's weights count, and how many topics each system lacks."""
        from pytest_riskguard.engine.sources import label
        from pytest_riskguard.gates.alignment import align, on_one_list
        from pytest_riskguard.ltr.model_comparison import compare_models

        systems, missing = on_one_list(self.gates[0], scores)
        try:
            pair = align(self.gates[0], systems[0], systems[-1], topics=self.inputs.engine.topics)
        except ValueError as error:
            raise UsageError(str(error)) from None
        weights = pair.weights if pair.strata is None else pair.strata.weights
        values, number = [system.values for system in systems], len(self.models)
        made = compare_models(
            values[:number],
            values[number:],
            model_names=[label(model) for model in self.models],
            baseline_names=[label(baseline) for baseline in self.baselines],
            weights=weights,
        )
        names = map(label, (*self.models, *self.baselines))
        return made, weights is not None, {name: len(topics) for name, topics in zip(names, missing, strict=True)}


def _baselines(inputs: Inputs, named: Sequence[NamedPath]) -> list[System]:
    """The baselines that are named, else those of the gate in riskguard.yaml."""
    from pytest_riskguard.engine.declared_gates import baseline_source
    from pytest_riskguard.engine.sources import Computed

    if named:
        return inputs.systems(named)
    declared = [baseline_source(baseline) for question in inputs.declared.baselines for baseline in question]
    if not declared:
        raise UsageError("no baseline: give --baseline")
    found: list[System] = []
    for source in declared:
        if isinstance(source, Computed):
            raise UsageError(
                f"riskguard.yaml has the computed baseline {source.name}: name baselines with --baseline"
            )
        found.append(source)
    return found


def _refuse_both(models: Sequence[System], baselines: Sequence[System]) -> None:
    from pytest_riskguard.engine.sources import label

    names = {label(baseline) for baseline in baselines}
    for model in models:
        if label(model) in names:
            raise UsageError(
                f"MODEL: {label(model)} is a baseline too: leave it out of one of the two, or give one another name "
                "with NAME=RUN"
            )
