"""``riskguard diff``: what changed between two runs, without judgements."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from pytest_riskguard.cli.inputs import Inputs
from pytest_riskguard.cli.judge_next import judging_table
from pytest_riskguard.cli.main import ExitStatus
from pytest_riskguard.cli.options import (
    Collection,
    NamedPath,
    collection_options,
    grouped,
    place_words,
    repeated,
    system,
)
from pytest_riskguard.cli.output import Outputs, ensure_apart, output_options, typed_command, write_text
from pytest_riskguard.engine.question import Stored
from pytest_riskguard.errors import UsageError
from pytest_riskguard.text import clean, counted, did_you_mean

#: What the list of pairs is called where nobody named it.
TABLE = "to-judge.tsv"


def _inputs(systems: tuple[NamedPath, ...], collection: Collection, slices: tuple[str, ...]) -> Inputs:
    if len(systems) != 2:
        raise UsageError(f"expected two runs, as in riskguard diff BASELINE CANDIDATE; found {len(systems)}")
    about: dict[str, Any] = {
        "alphas": (),
        "slices": slices,
        "argument": "BASELINE CANDIDATE",
        "first": 0,
        "kind": None,
    }
    return Inputs(collection, systems, (), **about)


@click.command()
@grouped(
    "inputs",
    _inputs,
    click.argument("systems", nargs=-1, type=system, metavar="BASELINE CANDIDATE"),
    collection_options("format", "ties", scores=False, judged=False),
    repeated(
        "--slice",
        "slices",
        metavar="TAG=VALUE|TAG",
        help="Only queries with this tag; TAG alone: no other tag in the table of tags. Needs a topics file.",
    ),
)
@output_options("the report", ".tsv (the documents to judge first)", of_verdicts=False)
def diff(inputs: Inputs, outputs: Outputs) -> ExitStatus:
    """Show what changed between two runs, without judgements.

    Compares the first 10 results of each query: overlap, first results, results that are gone. It measures change,
    not harm, and ends with the documents to judge first: with these judged, compare can say whether the change does
    harm. BASELINE is a file or the name of a stored baseline; NAME=RUN gives a run another name than its file's.
    """
    from pytest_riskguard.gates.rankings import cause, changes
    from pytest_riskguard.gates.surprise import refuse_unrelated
    from pytest_riskguard.reports.rankings import Difference, dumps, section

    outputs.withdraw()
    tables = [path for path in outputs.paths if path.suffix.lower() == ".tsv"]
    for path in tables:
        ensure_apart(path, *inputs.files)
    outputs = replace(outputs, paths=tuple(path for path in outputs.paths if path not in tables))
    outputs.check(*inputs.files)
    sources, texts = inputs.engine.sources, inputs.engine.sources.topics
    before, after = map(sources.rankings, inputs.systems)
    among, tags = _among(
        inputs, sorted(before.lists.keys() | after.lists.keys()), {} if texts is None else texts.tags
    )
    found = changes(before.lists, after.lists, among)
    refuse_unrelated(found, after.name, before.name)
    queries = {**before.queries, **after.queries, **({} if texts is None else texts.queries)}
    why = cause(before.lists, after.lists)
    difference = Difference(before.name, after.name, found, why, queries, tags)
    pairs = difference.to_judge()
    for path in tables:
        write_text(judging_table(pairs, queries, ("grade",)), path)
    steps = _steps(pairs, tables, inputs)
    shown, page = (section(difference, steps=steps, page=page) for page in (False, True))
    return outputs.finish(shown, dumps(difference), page=page)


def _among(
    inputs: Inputs, topics: Sequence[str], tags: Mapping[str, Mapping[str, str]]
) -> tuple[list[str], Mapping[str, Mapping[str, str]]]:
    """The topics that ``--slice`` leaves, and the tags that it leaves of these."""
    from pytest_riskguard.gates.kinds import parse_slice

    shown = set[str]()
    for entry in inputs.asked_slices:
        tag, value = parse_slice(entry)
        known = {name: text for topic in topics for name, text in tags.get(topic, {}).items()}
        if tag not in known:
            there = f"there are {', '.join(sorted(known))}" if known else "tags are further columns of --topics"
            raise UsageError(f"--slice: no query has a tag {tag!r:.60}{did_you_mean(tag, known) or f'; {there}'}")
        if value is None:
            shown.add(tag)
            continue
        topics = [topic for topic in topics if tags.get(topic, {}).get(tag) == value]
        if not topics:
            raise UsageError(f"--slice: no query has {entry!r:.60}")
    if shown:
        tags = {topic: {name: of[name] for name in of.keys() & shown} for topic, of in tags.items()}
    return [*topics], tags


def _steps(pairs: Sequence[tuple[str, str]], tables: Sequence[Path], inputs: Inputs) -> list[str]:
    """How to get from here to a verdict."""
    queries = len({topic for topic, _ in pairs})
    table = clean(str(tables[0] if tables else TABLE))
    to_judge = f"{counted(len(pairs), 'document')} of {counted(queries, 'query', 'queries')}, first results first"
    first = f"{table} lists {to_judge}." if tables else f"`{typed_command()} -o {TABLE}` lists {to_judge}."
    runs = [*(one.text for one in inputs.runs), *place_words("compare")]
    if inputs.engine.sources.is_judged:
        compare = shlex.join(["riskguard", "compare", *runs])
        return [f"{first} `{compare}` judges the change by the judgements that there are."]
    qrels, rescore = ["--qrels", table], ""
    for source in inputs.systems:
        if isinstance(source, Stored) and not inputs.engine.sources.store_of(source).manifest(source.name).is_judged:
            command = ["riskguard", "baseline", "rescore", source.name, *place_words("rescore"), *qrels]
            rescore = f"`{shlex.join(command)}` and "
    compare = shlex.join(["riskguard", "compare", *runs, *qrels])
    return [
        f"{first} Fill in its column grade (0: not relevant, 1: relevant), then judge the change with "
        f"{rescore}`{compare}`"
    ]
