"""``riskguard compare``: a candidate against baselines, outside pytest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.judging.file_defaults import ON_SINGLE_QUERIES
from pytest_riskguard.cli.judging.verdicts import present
from pytest_riskguard.cli.output import Reports, changed_inputs_option, detail_options, github_option, report_options
from pytest_riskguard.cli.parameters import (
    ALL_OPTIONS,
    Collection,
    NamedPath,
    SliceEntries,
    asked_alphas,
    baseline_option,
    computed_options,
    gate_options,
    in_roles,
    metadata_option,
    place_words,
    reported_options,
    runs_argument,
    slice_options,
    typed,
    typed_options,
)
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.kinds import (
    COMPUTED,
    CORRECTIONS,
    KINDS,
    OPTIONS,
    POLICY,
    NotSignificantlyRisky,
    kinds_with,
    options_of,
)
from pytest_riskguard.text import listed

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import ComputedBaseline
    from pytest_riskguard.engine.sources import Baseline, Computed, Question, Source
    from pytest_riskguard.gates.kinds import Response
    from pytest_riskguard.gates.verdict import Verdict


@click.command()
@runs_argument()
@baseline_option()
@reported_options
@click.option(
    "--gate",
    "kind",
    type=click.Choice(tuple(KINDS)),
    help="Ask this question alone. [default: not_significantly_risky, and no_topic_collapse twice: at most 5% of the "
    "queries may lose more than 0.3, and none more than 0.5]",
)
@gate_options(*ALL_OPTIONS, kinds=tuple(KINDS))
@slice_options
@computed_options
@metadata_option("--meta", help="What is known of every CANDIDATE, such as index=v8; reports say what differs.")
@click.option(
    "--family",
    type=click.Choice(CORRECTIONS),
    default="none",
    show_default=True,
    help="Correction for judging several gates; all risk gates of the command are one family.",
)
@changed_inputs_option
@report_options
@github_option
@detail_options
def compare(
    runs: tuple[NamedPath, ...],
    baselines: tuple[NamedPath, ...],
    collection: Collection,
    candidate_inside: bool,
    kind: str | None,
    alphas: tuple[float, ...],
    slices: SliceEntries,
    metadata: dict[str, str],
    family: str,
    on_changed_inputs: Response | None,
    reports: Reports,
    no_github: bool,
    verbose: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Judge runs against baselines.

    The first run is the baseline, a file or the name of a stored one, and each of the others is judged against it.
    With --baseline every run is judged. NAME=RUN gives a run another name than its file's.

    One verdict for each candidate, gate, measure, alpha, baseline and slice, in the order given; georisk_not_worse
    gives one for each candidate, measure, alpha and slice, over all baselines. Options of a gate are those of
    --gate, without it those of not_significantly_risky.

    Without --qrels and --scores, riskguard.yaml supplies what is not given: its first gate of this kind (--gate),
    then the whole file; without --gate its gates on single queries too, each about its own baselines and measures.
    This applies to baselines, measures, alpha, the family and every option of a gate; the defaults below hold without
    a file. A line after the verdicts says what was taken from it.
    """
    from pytest_riskguard.cli.inputs import Inputs
    from pytest_riskguard.engine.advice import about_runs, advised

    reports.withdraw()
    asked: dict[str, tuple[tuple[NamedPath, ...], ...]] = {word: options.pop(f"baseline_{word}") for word in COMPUTED}
    systems = [given for groups in asked.values() for group in groups for given in group]
    baselines, candidates = in_roles(runs, baselines, others=bool(systems))
    named = [*baselines, *systems]
    asked_kind = kind or NotSignificantlyRisky.kind
    for name in typed_options(options) if kind is None else ():
        if name not in options_of(NotSignificantlyRisky):
            raise UsageError(
                f"{OPTIONS[name].flag}: without --gate the default gates are asked, which set or lack "
                f"that option; add --gate {kinds_with(name)[0]}, or declare gates in a riskguard.yaml"
            )
    inputs = Inputs(collection, named, report=reports.any, kind=asked_kind, on_changed_inputs=on_changed_inputs)
    declared = inputs.declared
    if not named and not declared.baselines:
        raise UsageError(
            "no baseline: write it first, as in riskguard compare BASELINE CANDIDATE --qrels QRELS, or give "
            "--baseline, or --baseline-mean with several"
        )
    tested = inputs.candidates(candidates, metadata)
    reports.check(*(candidate.path for candidate in tested), *inputs.files)
    single, computed = inputs.systems(baselines), inputs.computed(asked, inside=candidate_inside)
    pools = (
        _pools(asked_kind, single, computed)
        if named
        else [_declared_pool(question) for question in declared.baselines]
    )
    taken = declared.unless(typed(), has_baselines=bool(named))
    values = {"alphas": asked_alphas(asked_kind, alphas), "family": family, **typed_options(options), **taken}
    alphas, correction = values.pop("alphas"), values.pop("family")
    values.pop("measures", None)  # ``inputs`` knows them
    name = "" if kind else declared.gate or POLICY[0][0]
    questions: list[Question] = []
    for candidate in tested:
        questions += inputs.questions(
            asked_kind, candidate, pools, alphas=alphas, options=values, name=name, slices=slices
        )
        for gate in declared.beside if kind is None else ():
            own = {name: value for name, value in gate.options.items() if name not in typed()}
            questions += inputs.questions(
                gate.kind,
                candidate,
                pools if named or not gate.baselines else [_declared_pool(question) for question in gate.baselines],
                alphas=alphas[:1] if "alphas" in typed() else gate.alphas,
                options={**_shared(values, gate.kind), **own},
                name=gate.name,
                measures=gate.measures,
                slices=slices,
            )
    notes = [declared.line(taken, has_baselines=bool(named))]
    if kind is None and declared.beside is ON_SINGLE_QUERIES and not collection.scores:
        questions, note = _within_its_scale(questions)
        notes.append(note)
    verdicts = inputs.engine.verdicts(questions, correction=correction)
    verdicts = [
        advised(verdict, partial(about_runs, question, verdict, where=place_words(), here=Path.cwd()))
        for question, verdict in zip(questions, verdicts, strict=True)
    ]
    config = inputs.config
    del inputs, declared, questions  # reports need nothing of the runs
    return present(
        verdicts,
        reports=reports,
        verbose=verbose,
        quiet=quiet,
        no_github=no_github,
        folder=Path.cwd(),
        notes=tuple(note for note in notes if note is not None),
        roles=_roles(verdicts),
        config=config,
    )


def _roles(verdicts: Sequence[Verdict]) -> str:
    """``prod (baseline) against a, b``: what is judged, and against what."""
    candidates = tuple(dict.fromkeys(verdict.candidate for verdict in verdicts))
    baselines = tuple(dict.fromkeys(name for verdict in verdicts for name in verdict.baselines))
    word = "baseline" if len(baselines) == 1 else "baselines"
    return f"{listed(candidates, most=5)} against {listed(baselines, most=5)} ({word})"


def _within_its_scale(questions: Sequence[Question]) -> tuple[list[Question], str | None]:
    """Those that the default limits of single queries fit, which are for scores from 0 to 1, and what is left out."""
    from pytest_riskguard.evaluation.measures import span

    measures = {question.measure or "" for question in questions}
    unlimited = tuple(sorted(measure for measure in measures if math.isinf(span(measure))))
    kept = [question for question in questions if not (question.gate.by_topic and question.measure in unlimited)]
    if len(kept) == len(questions):
        return kept, None
    have = "has" if len(unlimited) == 1 else "have"
    return kept, (
        f"{listed(unlimited, most=5)} {have} no greatest value, so single queries were not judged; give a limit: "
        "--gate no_topic_collapse --max-loss LIMIT"
    )


def _shared(values: dict[str, Any], kind: str) -> dict[str, Any]:
    """Those of the options of one gate that a gate of another kind has too."""
    return {name: value for name, value in values.items() if name in options_of(KINDS[kind])}


def _declared_pool(systems: Sequence[str | ComputedBaseline]) -> tuple[Baseline, tuple[Source, ...]]:
    """The baselines of one question of a gate of riskguard.yaml."""
    from pytest_riskguard.engine.declared_gates import baseline_source
    from pytest_riskguard.engine.sources import Computed

    first, *pool = (baseline_source(system) for system in systems)
    return first, tuple(source for source in pool if not isinstance(source, Computed))


def _pools(
    kind: str, single: Sequence[Source], computed: Sequence[Computed]
) -> list[tuple[Baseline, tuple[Source, ...]]]:
    """For each question its baseline and, if the gate compares a pool, the other systems."""
    if not KINDS[kind].is_pool:
        return [(baseline, ()) for baseline in (*single, *computed)]
    if computed:
        raise UsageError(f"--gate {kind}: a pool takes no computed baselines; give its systems with --baseline")
    return [(single[0], tuple(single[1:]))]
