"""``riskguard judge-next``: which documents to judge before a verdict is believed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli import judging_lists
from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import ensure_apart, write_text
from pytest_riskguard.cli.parameters import (
    FILE,
    INTERVAL_OPTIONS,
    Collection,
    NamedPath,
    SliceEntries,
    asked_alphas,
    baseline_option,
    gate_kind_option,
    gate_options,
    run_options,
    slice_options,
    typed_options,
)
from pytest_riskguard.gates.kinds import KINDS
from pytest_riskguard.text import clean, counted

if TYPE_CHECKING:
    from pytest_riskguard.gates.rankings.unjudged import ToJudge

#: Kinds of gates on one baseline; each is asked with its own defaults.
_KINDS = tuple(kind for kind, cls in KINDS.items() if not cls.is_pool)
#: A spreadsheet reads a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@")
#: An id that begins with one of these and yet is harmless in a spreadsheet, such as -12 or @user.
_HARMLESS = re.compile(r"[+@-][\w.-]*\Z")
HEADER = ("topic", "document", "query")


@click.command("judge-next")
@click.argument("candidate", type=FILE)
@baseline_option(required=True)
@run_options
@gate_kind_option(_KINDS)
@gate_options(*INTERVAL_OPTIONS, "on_churn", "max_mde", kinds=_KINDS)
@slice_options
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="At most this many documents.")
@click.option("--out", type=FILE, metavar="PATH", help="Write the list here instead of to standard output.")
@click.option(
    "--format",
    "list_format",
    type=click.Choice(list(judging_lists.FORMATS)),
    help="Write what this tool imports, or a table with an empty column for the grades.",
)
def judge_next(
    candidate: Path,
    baselines: tuple[NamedPath, ...],
    collection: Collection,
    kind: str,
    alphas: tuple[float, ...],
    slices: SliceEntries,
    budget: int | None,
    out: Path | None,
    list_format: str | None,
    **options: Any,
) -> int:
    """List the documents whose judgement would settle a verdict.

    Writes a table, separated by tabs, of topic, document and query, most useful first. Several measures, alphas,
    baselines or slices share one list.
    """
    from pytest_riskguard.cli.inputs import Inputs
    from pytest_riskguard.gates.rankings import unjudged as lists

    inputs = Inputs(collection, baselines)
    ensure_apart("--out", out, candidate, *inputs.files)
    pools = [(baseline, ()) for baseline in inputs.systems(baselines)]
    asked: Any = {"alphas": asked_alphas(kind, alphas), "slices": slices, "options": typed_options(options)}
    questions = inputs.questions(kind, candidate, pools, **asked)
    compared = [inputs.engine.rejudged(question) for question in questions]
    documents = [lists.judge_next(rejudged) for rejudged in compared]
    listed = lists.together(documents)
    wanted = [row for row in listed if _is_plain(row.topic) and _is_plain(row.document)]
    written = table if list_format is None else judging_lists.FORMATS[list_format]
    text = written(wanted[:budget], inputs.engine.queries)
    write_text(text, None if out is None else str(out), option="--out")
    settled = all(rejudged.tried.certain for rejudged in compared)
    click.echo(_said(len(wanted), budget, len(documents), sum(map(bool, documents)), settled=settled), err=True)
    if left_out := len(listed) - len(wanted):
        click.echo(f"left out: {left_out} with an id that cannot be printed as is", err=True)
    return ExitStatus.PASSED


def table(documents: Sequence[ToJudge], queries: Mapping[str, str]) -> str:
    """The list as text: a header, then one line for each document.

    An apostrophe precedes what a spreadsheet would read as a formula, unless it is an id that is harmless there.
    """
    rows = [HEADER]
    for to_judge in documents:
        query = clean(queries.get(to_judge.topic, ""), limit=1000)
        query = f"'{query}" if query.startswith(_FORMULA) else query
        rows.append((_id_cell(to_judge.topic), _id_cell(to_judge.document), query))
    return "".join("\t".join(row) + "\n" for row in rows)


def _id_cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) and not _HARMLESS.match(text) else text


def _is_plain(text: str) -> bool:
    """Whether an id can stand in a line as it is: printable, and no command to a CI system."""
    return clean(text, limit=len(text)) == text


def _said(wanted: int, budget: int | None, verdicts: int, unsettled: int, *, settled: bool) -> str:
    if unsettled == 0:
        which = "the verdict" if verdicts == 1 else f"any of the {verdicts} verdicts"
        if settled:
            return f"no judgement of the unjudged documents in the first ranks can change {which}"
        return f"no judgement of the unjudged documents in the first ranks that was tried changes {which}"
    shown = "" if budget is None or wanted <= budget else f"the first {budget} of "
    which = "the verdict" if verdicts == 1 else f"{unsettled} of {verdicts} verdicts"
    to_judge = f"{shown}{counted(wanted, 'document')} to judge; {which} could change"
    return f"{to_judge}. Add the judgements to the qrels, and ask again."
