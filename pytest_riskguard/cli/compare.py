"""``riskguard compare``: runs against baselines, without a riskguard.yaml."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.inputs import Inputs, system_options
from pytest_riskguard.cli.options import SETTINGS, named_here, reader_here, slice_option
from pytest_riskguard.cli.output import Detail, Outputs, detail_options, output_options, present
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.kinds import KINDS, NotSignificantlyRisky, options_of
from pytest_riskguard.text import listed

if TYPE_CHECKING:
    from pytest_riskguard.engine.question import Question
    from pytest_riskguard.gates.verdict import Verdict


@click.command()
@system_options(
    "CANDIDATE",
    *(*SETTINGS, "family", "on_changed_inputs"),
    metavar="[BASELINE] CANDIDATE...",
    baseline="A run file, or the name of a stored baseline.",
    first=2,
)
@click.option(
    "--gate",
    "kind",
    type=click.Choice(tuple(KINDS)),
    help="Ask this question alone. [default: not_significantly_risky, and no_topic_collapse twice: at most 5% of the "
    "queries may lose more than 0.3, and none more than 0.5]",
)
@slice_option
@output_options("the report", ".md", ".xml (JUnit)")
@detail_options
def compare(inputs: Inputs, outputs: Outputs, detail: Detail) -> int:
    """Judge runs against baselines.

    The first run is the baseline, a file or the name of a stored one, and each of the others is judged against it;
    a table ranks several. With --baseline every run is judged. A run may be a folder with a file for each response,
    and --qrels a folder of BEIR. NAME=RUN gives a run another name than its file's.

    One verdict for each candidate, gate, measure, alpha, baseline and slice, in the order given; georisk_not_worse
    gives one for each candidate, measure, alpha and slice, over all baselines. Options of a gate are those of
    --gate, without it those of not_significantly_risky.

    Without --qrels and --scores, riskguard.yaml names judgements, topics, store and measures; riskguard check asks
    its gates.
    """
    from pytest_riskguard.engine.advice import advised

    outputs.withdraw()
    inputs.report, inputs.keep_in = bool(outputs.paths), outputs.kept_in
    if inputs.kind is None:
        for name in inputs.options:
            if name not in options_of(NotSignificantlyRisky):
                kind = next(kind for kind, cls in KINDS.items() if name in options_of(cls))
                raise UsageError(
                    f"{name}: without --gate the default gates are asked, which set or lack that option; add --gate "
                    f"{kind}, or declare gates in a riskguard.yaml"
                )
    if not inputs.named_baselines:
        raise UsageError(
            "no baseline: write it first, as in riskguard compare BASELINE CANDIDATE --qrels QRELS, or give "
            "--baseline; riskguard check --candidate RUN asks the gates of a riskguard.yaml"
        )
    outputs.check(*inputs.files)
    _refuse_without_judgements(inputs)
    questions: list[Question] = []
    for candidate in inputs.candidates:
        for gates in inputs.gates:
            questions += inputs.questions(gates, candidate)
    notes = list[str]()
    if inputs.kind is None and not inputs.collection.scores:
        questions, notes = _with_fitting_limits(questions)
    verdicts = inputs.engine.verdicts(questions, correction=inputs.collection.settings.get("family", "none"))
    qrels, _ = inputs.collection.files(inputs.config)
    if qrels is not None and qrels.path.is_dir() and any(verdict.outcome != "incomparable" for verdict in verdicts):
        notes.append(f"judged by {inputs.engine.sources.qrels.path_name}")
    reader, config = reader_here(outputs.report), inputs.config
    many = len(inputs.candidates) > 1
    verdicts = [
        advised(
            verdict,
            question,
            reader,
            accept=f"{verdict.baseline}={verdict.candidate}" if many else "",
            named="" if verdict.error is None else named_here(verdict.error),
        )
        for question, verdict in zip(questions, verdicts, strict=True)
    ]
    del inputs, questions  # reports need nothing of the runs
    return present(
        verdicts,
        outputs=outputs,
        detail=detail,
        notes=notes,
        roles=_roles(verdicts),
        configs=[] if config is None else [config.path],
    )


def _refuse_without_judgements(inputs: Inputs) -> None:
    """Runs that nobody judged: name both ways on, the first as it is typed here."""
    needed = inputs.kind is None or not KINDS[inputs.kind].of_rankings
    if inputs.collection.scores or not needed or inputs.engine.sources.is_judged:
        return
    systems = shlex.join(one.text for one in (*inputs.named_baselines[:1], *inputs.runs[:1]))
    raise UsageError(
        f"no judgements, without which nobody can say whether a change does harm: `riskguard diff {systems}` shows "
        "what changed, and lists what to judge first; with judgements add --qrels QRELS, or write a riskguard.yaml; "
        "files that hold a score for each query need --scores"
    )


def _roles(verdicts: Sequence[Verdict]) -> str:
    """``a, b against prod (baseline)``: what is judged, and against what."""
    candidates = tuple(dict.fromkeys(verdict.candidate for verdict in verdicts))
    baselines = tuple(dict.fromkeys(name for verdict in verdicts for name in verdict.baselines))
    word = "baseline" if len(baselines) == 1 else "baselines"
    return f"{listed(candidates, most=5)} against {listed(baselines, most=5)} ({word})"


def _with_fitting_limits(questions: Sequence[Question]) -> tuple[list[Question], list[str]]:
    """Leave out those about single queries whose measure has no greatest value, and say so.

    The default limits of ``no_topic_collapse`` are for scores from 0 to 1.
    """
    from pytest_riskguard.data.measures import span

    measures = {question.measure or "" for question in questions}
    unlimited = {measure for measure in measures if math.isinf(span(measure))}
    kept = [question for question in questions if not (question.gate.by_topic and question.measure in unlimited)]
    if len(kept) == len(questions):
        return kept, []
    return kept, [
        f"single queries were not judged where the measure has no greatest value "
        f"({listed(sorted(unlimited), most=5)}); give a limit: --gate no_topic_collapse --set max_loss=LIMIT"
    ]
