"""``riskguard diff``: what changed between two runs, without judgements."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import click

from pytest_riskguard.cli.inputs import Inputs, system_options
from pytest_riskguard.cli.judge_next import judging_table
from pytest_riskguard.cli.main import ExitStatus
from pytest_riskguard.cli.options import place_words
from pytest_riskguard.cli.output import Outputs, ensure_apart, output_options, typed_command, write_text
from pytest_riskguard.engine.question import Stored
from pytest_riskguard.errors import UsageError
from pytest_riskguard.text import clean, counted

#: What the list of pairs is called where nobody named it.
TABLE = "to-judge.tsv"


@click.command()
@system_options(
    "BASELINE CANDIDATE", "format", "ties", metavar="BASELINE CANDIDATE", scores=False, first=2, judged=False
)
@click.option("--slice", metavar="TAG=VALUE", help="Compare only the queries with this tag. Needs a topics file.")
@output_options("the report, or the documents to judge first,", ".tsv")
def diff(inputs: Inputs, outputs: Outputs, slice: str | None) -> ExitStatus:
    """Show what changed between two runs, without judgements.

    Compares the first 10 results of each query: overlap, first results, results that are gone. It measures change,
    not harm, and ends with the documents to judge first: with these judged, compare can say whether the change does
    harm. BASELINE is a file or the name of a stored baseline; NAME=RUN gives a run another name than its file's.
    """
    from pytest_riskguard.reports.rankings import dumps, section

    outputs.withdraw()
    if not (inputs.named_baselines and len(inputs.runs) == 1):
        raise UsageError("expected two runs, as in riskguard diff BASELINE CANDIDATE")
    table = next((path for path in outputs.paths if path.suffix.lower() == ".tsv"), None)
    ensure_apart(table, *inputs.files)
    outputs = replace(outputs, paths=tuple(path for path in outputs.paths if path != table))
    outputs.check(*inputs.files)
    difference = inputs.engine.difference(slice, *inputs.baselines, *inputs.candidates)
    if table is not None:
        write_text(judging_table(difference.to_judge, difference.queries, ("grade",)), table)
    step = _step(difference.to_judge, table, inputs)
    topics = inputs.engine.sources.topics
    shown, page = (section(difference, topics, step, page=page) for page in (False, True))
    return outputs.finish(shown, dumps(difference), page=page)


def _step(pairs: list[tuple[str, str]], table: Path | None, inputs: Inputs) -> str:
    """How to get from here to a verdict."""
    sources, (baseline,) = inputs.engine.sources, inputs.baselines
    lists = clean(str(table)) if table else f"`{typed_command()} -o {TABLE}`"
    judge, qrels = "Judge", list[str]()
    if not sources.is_judged:
        judge = "Fill in its column grade (0: not relevant, 1: relevant), then judge"
        qrels = ["--qrels", str(table or TABLE)]
    commands = [["compare", *(run.text for run in (*inputs.named_baselines, *inputs.runs)), *place_words("compare")]]
    if isinstance(baseline, Stored) and not sources.store_of(baseline).manifest(baseline.name).is_judged:
        commands.insert(0, ["baseline", "rescore", baseline.name, *place_words("rescore")])
    if not pairs:
        return ""
    return (
        f"{lists} lists {counted(len(pairs), 'document')} of the queries that moved most. {judge} the change with "
        + " and ".join(f"`{shlex.join(['riskguard', *words, *qrels])}`" for words in commands)
    )
