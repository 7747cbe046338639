"""The commands ``riskguard study`` and ``riskguard replay``."""

from __future__ import annotations

import csv
import io
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
from pytest_riskguard.reports import Plot, Section, Table, counted, document, listed

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
VALUES = ("measure", "part", "row", "column", "value", "low", "high")


@click.command()
@click.argument("name", metavar="NAME|list", type=click.Choice(["list", *STUDIES]))
@system_options(
    "SYSTEM",
    "missing",
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
        rows = [(key, one.question, one.paper) for key, one in STUDIES.items()]
        shown = Table("", dict.fromkeys(("study", "question", "paper"), "text"), rows)
        click.echo("\n".join(shown.lines(80, indent=0)))
        return 0
    systems, pools = _pools(inputs, STUDIES[name], table)
    sections = [import_module(f"pytest_riskguard.studies.{name}").study(pool) for pool in pools]
    values = [(pool.measure, *value) for pool, part in zip(pools, sections, strict=True) for value in _values(part)]
    title = f"riskguard study {name}"
    report = Section(title, parts=sections)
    if len(sections) == 1:
        report = replace(sections[0], title=f"{title}: {sections[0].title}")
    if form == "html":
        click.echo(report.to_page())
    elif form == "csv":
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows([VALUES, *values])
        click.echo(written.getvalue(), nl=False)
    elif form == "json":
        content = {
            "study": name,
            "systems": {system.name: system.digest for system in systems},
            "qrels": next((system.qrels_digest for system in systems if system.qrels_digest), None),
            "answers": [line for part in sections for line in part.text],
            "values": [dict(zip(VALUES, value, strict=True)) for value in values],
        }
        click.echo(document(SCHEMA, content), nl=False)
    else:
        Outputs().finish(_small(report), "")
    return 0


def _pools(inputs: Inputs, study: Study, table: Path | None) -> tuple[list[TopicScores], list[Pool]]:
    """The systems, and for each measure their pool."""
    from pytest_riskguard.studies.pool import Pool

    named = (*inputs.named_baselines, *inputs.runs)
    baselines = len(inputs.named_baselines) or study.has_baseline
    make = partial(Pool.of, alphas=inputs.alphas or study.alphas)
    if table is not None:
        columns = {str(column.measure): column for column in read_scores(table)}
        names = [one.text for one in named]
        names += [] if inputs.runs else [*columns]
        for name in names:
            if name not in columns:
                raise UsageError(f"{table}: expected a column {name!r:.60}, found {listed(tuple(columns), most=5)}")
        systems = [replace(columns[name], name=name, measure=None) for name in dict.fromkeys(names)]
        measure = (inputs.collection.measures or ("scores",))[0]
        return systems, [make(systems, [()] * len(systems), baselines=names[:baselines], measure=measure)]
    if not named:
        raise UsageError("expected systems: runs, stored baselines, or a table of scores with --scores TABLE")
    pools, systems = [], list[TopicScores]()
    for measure in inputs.measures():
        every = [*dict.fromkeys([*inputs.baselines, *inputs.systems])]
        found, missing = inputs.together(every, measure, **inputs.options)
        systems = [*found]
        named_first = [system.name for system in systems[:baselines]]
        pools.append(make(systems, missing, baselines=named_first, measure=measure))
    return systems, pools


def _values(section: Section) -> Iterator[tuple[object, ...]]:
    """Every figure of a section: its part, row and column, and the value, or the ends of an interval."""
    for part in section.parts:
        match part:
            case Section():
                yield from _values(part)
            case Table():
                for row in part.rows:
                    for column, cell in zip([*part.columns][1:], row[1:], strict=True):
                        value, ends = (None, cell) if isinstance(cell, tuple) else (cell, (None, None))
                        yield part.title, row[0], column, value, *ends
            case Plot():
                for point in part.marks:
                    yield part.title, point.text, point.x, point.y, point.low, point.high
                for line in part.lines:
                    for x, y in line.points:
                        yield part.title, line.text or line.means, x, y, None, None


def _small(section: Section) -> Section:
    """The section without tables that are too large for a terminal."""
    parts = list[Section | Table]()
    left = 0
    for part in section.parts:
        if isinstance(part, Section):
            parts.append(_small(part))
        elif isinstance(part, Table) and len(part.columns) <= MAX_COLUMNS and len(part.rows) <= MAX_ROWS:
            parts.append(part)
        else:
            left += 1
    what = counted(left, "chart or larger table", "charts or larger tables")
    rest = [f"--html has {what} more, --csv all figures."] if left else []
    return replace(section, parts=parts, notes=[*section.notes, *rest])


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
    from pytest_riskguard.studies.replay import dumps, section
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
    problem = f"{problems} release{'s' * (problems > 1)} cannot be compared" if problems else ""
    return outputs.finish(section(replays), dumps(replays), problem=problem)
