"""The commands ``riskguard study`` and ``riskguard replay``."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from pytest_riskguard.cli import Outputs, output_options, system_options
from pytest_riskguard.data import read_scores
from pytest_riskguard.errors import UsageError
from pytest_riskguard.reports import Plot, Section, Table, counted, document

if TYPE_CHECKING:
    from pytest_riskguard.cli import Inputs
    from pytest_riskguard.data import TopicScores
    from pytest_riskguard.studies.pool import Pool


class Study(NamedTuple):
    """A study: the module of its name makes a ``Section`` of a pool."""

    question: str
    paper: str
    alphas: tuple[float, ...]
    has_baseline: bool


STUDIES = {
    "baselines": Study("does the order by risk depend on the baseline?", "ECIR 2014", (5.0, 10.0), False),
    "risk": Study("which systems are risky, and on which topics?", "SIGIR 2014", (0.0, 1.0, 5.0, 10.0), True),
    "georisk": Study("which systems keep up with the whole pool?", "SIGIR 2016", (0.0, 1.0, 5.0, 20.0), False),
    "smooth": Study("does it matter if small losses count less?", "AIRS 2019", (1.0,), True),
    "intervals": Study("do confidence intervals agree?", "ADCS 2019", (0.0, 9.0), True),
}
SCHEMA = "riskguard-study/1"
#: Larger tables are left out of a terminal.
MAX_COLUMNS, MAX_ROWS = 14, 60
#: What a line of CSV holds.
VALUES = ("part", "row", "column", "value", "low", "high")


@click.command()
@click.argument("name", metavar="NAME|list", type=click.Choice(["list", *STUDIES]))
@system_options(
    "SYSTEM",
    *("format", "ties"),
    baseline="A system that is a baseline, in the pool as well. [default, where a study needs one: the first SYSTEM]",
    scores=False,
    required=False,
    usual="those of the paper",
)
@click.option(
    "--scores",
    "table",
    type=click.Path(path_type=Path),
    metavar="TABLE",
    help="A table of per-topic scores, a column for each system; each SYSTEM is a column then, by default all are.",
)
@click.option("--html", "form", flag_value="html", help="Print a page with charts (needs the extra [report]).")
@click.option("--json", "form", flag_value="json", help="Print all figures as JSON.")
@click.option("--csv", "form", flag_value="csv", help="Print all figures, those of charts too, as CSV.")
def study(inputs: Inputs, name: str, table: Path | None, form: str | None) -> int:
    """Study systems as a paper did; nothing is judged.

    `riskguard study list` says what there is. SYSTEMs are run files, stored baselines, or columns of a table of
    scores. All tables are printed as text, but for those that are too large for a terminal.
    """
    if name == "list":
        for key, one in STUDIES.items():
            click.echo(f"{key:<11}{one.question:<52}{one.paper}")
        return 0
    systems, pool = _pool(inputs, STUDIES[name], table)
    found: Section = import_module(f"pytest_riskguard.studies.{name}").study(pool)
    report = replace(found, title=f"riskguard study {name}: {found.title}")
    values = [*_values(found)]
    match form:
        case "html":
            click.echo(report.to_page())
        case "csv":
            csv.writer(sys.stdout, lineterminator="\n").writerows([VALUES, *values])
        case "json":
            content = {
                "study": name,
                "measure": pool.measure,
                "systems": {system.name: system.digest for system in systems},
                "qrels": next((system.qrels_digest for system in systems if system.qrels_digest), None),
                "answers": report.text,
                "values": [dict(zip(VALUES, value, strict=True)) for value in values],
            }
            click.echo(document(SCHEMA, content), nl=False)
        case _:
            parts = [
                part
                for part in report.parts
                if isinstance(part, Table) and len(part.columns) <= MAX_COLUMNS and len(part.rows) <= MAX_ROWS
            ]
            more = counted(len(report.parts) - len(parts), "chart or larger table", "charts or larger tables")
            notes = [*report.notes, f"--html also has {more}; --csv has all figures."]
            Outputs().finish(replace(report, parts=parts, notes=notes), "")
    return 0


def _pool(inputs: Inputs, study: Study, table: Path | None) -> tuple[list[TopicScores], Pool]:
    """The systems, and the pool that they are."""
    from pytest_riskguard.studies.pool import Pool

    baselines, runs = (
        {one.text: one.name or one.text for one in named} for named in (inputs.named_baselines, inputs.runs)
    )
    if table is not None:
        measure = (*inputs.collection.measures, "scores")[0]
        names = baselines | (runs or {str(column.measure): str(column.measure) for column in read_scores(table)})
        systems = [replace(one, name=names[str(one.measure)]) for one in read_scores(table, [*names])]
    elif not runs:
        raise UsageError("expected systems: runs, stored baselines, or a table of scores with --scores TABLE")
    else:
        measure, *others = inputs.measures()
        if others:
            raise UsageError(f"a study is of one measure: name it with --measure; found {measure}, {others[0]}")
        every = [*dict.fromkeys([*inputs.baselines, *inputs.systems])]
        systems = [*inputs.together(every, measure)]
    first = [system.name for system in systems[: len(baselines) or study.has_baseline]]
    return systems, Pool(measure, systems, baselines=first, alphas=inputs.alphas or study.alphas)


def _values(section: Section) -> Iterator[tuple[object, ...]]:
    """Every figure of a section: its part, row and column, and the value, or the ends of an interval."""
    for part in section.parts:
        if isinstance(part, Table):
            for row in part.rows:
                for column, cell in zip([*part.columns][1:], row[1:], strict=True):
                    yield (
                        part.title,
                        row[0],
                        column,
                        *((None, *cell) if isinstance(cell, tuple) else (cell, None, None)),
                    )
        elif isinstance(part, Plot):
            for point in part.marks:
                place = ("", point.x) if part.rows else (f"{point.x:.12g}", point.y)
                yield part.title, point.text, *place, point.low, point.high
            for line in part.lines:
                if part.rows:
                    yield part.title, line.text, "", None, *(x for x, _ in line.points)
                elif line.text:
                    yield from ((part.title, line.text, f"{x:.12g}", y, None, None) for x, y in line.points)


@click.command()
@system_options(
    "RUN",
    *("level", "method", "tolerance", "missing"),
    baseline="Judge every release against this run or stored baseline, not each against the one before it.",
    alphas=(0.0, 1.0, 2.0, 5.0, 10.0),
)
@click.option(
    "--regretted",
    multiple=True,
    metavar="NAME",
    help="A release that should not have been shipped. Repeatable.",
)
@output_options("the figures")
def replay(inputs: Inputs, outputs: Outputs, regretted: tuple[str, ...]) -> int:
    """Judge past releases under several alphas.

    RUNs are releases, oldest first: run files, or stored baselines. A single stored baseline stands for all the runs
    that it has held. The table shows which of them would have passed under which alpha, so that it can be chosen on
    releases whose effects are known. The exit status is 0 whatever the answers are, but 3 if two releases cannot be
    compared.
    """
    from pytest_riskguard.studies.replay import SCHEMA, section
    from pytest_riskguard.studies.replay import replay as replayed

    outputs.check(*inputs.files)
    if len(inputs.baselines) > 1:
        raise UsageError("--baseline: releases are judged against one baseline")
    replays = []
    for measure in inputs.measures():
        runs = inputs.history(measure)
        against = [inputs.engine.scores(baseline, measure) for baseline in inputs.baselines]
        try:
            replays.append(
                replayed(
                    runs,
                    partial(inputs.verdicts, measures=[measure]),
                    alphas=inputs.alphas,
                    baseline=against[0] if against else None,
                    regretted=regretted,
                    **inputs.options,
                )
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
    problems = sum(release.problem is not None for made in replays for release in made.releases)
    problem = f"{counted(problems, 'release')} cannot be compared" if problems else ""
    return outputs.finish(section(replays), document(SCHEMA, {"replays": replays}), problem=problem)
