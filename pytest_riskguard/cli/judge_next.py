"""``riskguard judge-next``: which documents to judge before a verdict is believed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.inputs import engine_for, measures_of, once, slices_asked, source_of
from pytest_riskguard.cli.options import (
    baseline_option,
    leniency_options,
    question_options,
    run_options,
    slice_options,
)
from pytest_riskguard.cli.output import ExitStatus
from pytest_riskguard.cli.parameters import FILE, NamedPath
from pytest_riskguard.errors import UsageError
from pytest_riskguard.text import clean

if TYPE_CHECKING:
    from pytest_riskguard.gates.unjudged import ToJudge

#: Kinds of gates on one baseline, each asked with its own defaults.
KINDS = ("not_significantly_risky", "not_inferior", "no_topic_collapse")
#: A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@")
#: An id that begins so and yet can do nothing there, such as -12 or @user.
_HARMLESS = re.compile(r"[+@-][\w.-]*\Z")
HEADER = ("topic", "document", "query")


@click.command("judge-next")
@click.argument("candidate", type=FILE)
@baseline_option(required=True)
@run_options
@question_options
@slice_options
@click.option(
    "--gate", "kind", type=click.Choice(KINDS), default=KINDS[0], show_default=True, help="The question of the gate."
)
@leniency_options
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="At most this many documents.")
@click.option("--out", type=FILE, metavar="PATH", help="Write the list here, not to standard output.")
def judge_next(
    candidate: Path,
    baselines: tuple[NamedPath, ...],
    qrels: Path | None,
    topics: Path | None,
    store: Path | None,
    measures: tuple[str, ...],
    alphas: tuple[float, ...],
    slices: tuple[str, ...],
    smallest_slice: int | None,
    budget: int | None,
    out: Path | None,
    **options: Any,
) -> int:
    """List the documents whose judgement would settle a verdict.

    Most useful first, as a table with tabs: topic, document, query. With several measures, alphas, baselines or
    slices the list is for all of these verdicts together.
    """
    from pytest_riskguard.gates import unjudged as lists
    from pytest_riskguard.gates.kinds import gate_of
    from pytest_riskguard.sources import Question, RunFile

    engine, stored = engine_for(qrels, topics, store, measures, baselines, scores=False)
    theirs = [source_of(given, stored, scores=False) for given in baselines]
    once("--baseline", [source.label for source in theirs])
    once("--alpha", [f"{alpha:g}" for alpha in alphas])
    try:
        gates = [gate_of("judge-next", alpha=alpha, **options) for alpha in alphas]
    except ValueError as error:
        raise UsageError(f"--gate {options['kind']}: {error}") from None
    known = measures_of(measures, candidate, scores=False)
    asked = slices_asked(slices, smallest_slice, engine, RunFile(candidate), known[0])
    questions = [
        Question(replace(gate, slice=part), RunFile(candidate), other, measure)
        for measure in known
        for gate in gates
        for other in theirs
        for part in asked
    ]
    found = [lists.judge_next(engine.rejudged(question)) for question in questions]
    listed = lists.together(found)
    wanted = [one for one in listed if _is_plain(one.topic) and _is_plain(one.document)]
    _write(table(wanted[:budget], engine.queries), out)
    click.echo(_said(len(wanted), budget, len(found), sum(map(bool, found))), err=True)
    if left_out := len(listed) - len(wanted):
        click.echo(f"left out: {left_out} with an id that no line of text can show as it is", err=True)
    return ExitStatus.PASSED


def table(documents: Sequence[ToJudge], queries: Mapping[str, str]) -> str:
    """The list as text: a header, then one line for each document.

    What a spreadsheet would take for a formula begins with an apostrophe, ids only where that could do something.
    """
    rows = [HEADER]
    for one in documents:
        query = clean(queries.get(one.topic, ""), limit=1000)
        rows.append(
            (_id_cell(one.topic), _id_cell(one.document), f"'{query}" if query.startswith(_FORMULA) else query)
        )
    return "".join("\t".join(row) + "\n" for row in rows)


def _id_cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) and not _HARMLESS.match(text) else text


def _is_plain(text: str) -> bool:
    """Whether an id can stand in a line as it is: printable, and no command to a CI system."""
    return clean(text, limit=len(text)) == text


def _write(text: str, out: Path | None) -> None:
    from pytest_riskguard.reports.files import write_text

    if out is None:
        click.echo(text, nl=False)
        return
    try:
        write_text(out, text)
    except OSError as error:
        raise UsageError(f"--out {out}: cannot write ({error.strerror})") from None


def _said(wanted: int, budget: int | None, verdicts: int, unsettled: int) -> str:
    what = "the verdict" if verdicts == 1 else f"none of the {verdicts} verdicts"
    if unsettled == 0:
        verb = "does not depend" if verdicts == 1 else "depends"
        return f"{what} {verb} on documents that nobody judged"
    shown = "" if budget is None or wanted <= budget else f"the first {budget} of "
    documents = "1 document" if wanted == 1 else f"{wanted} documents"
    which = "the verdict" if verdicts == 1 else f"{unsettled} of {verdicts} verdicts"
    return f"{shown}{documents} to judge; {which} could change. Add the judgements to the qrels, and ask again."
