"""``riskguard score`` and ``riskguard merge``: pieces of a run, scored by any scheduler and put together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import ensure_apart, unwritable
from pytest_riskguard.cli.parameters import (
    DEFAULT_MEASURE,
    FILE,
    Collection,
    GivenCollection,
    file_option,
    scored_run_options,
    surroundings,
)
from pytest_riskguard.errors import UsageError
from pytest_riskguard.text import clean, counted

if TYPE_CHECKING:
    from pytest_riskguard.evaluation.judgements.qrels import Qrels
    from pytest_riskguard.evaluation.shards.shard_reading import Asked


class ShardType(click.ParamType[tuple[int, int]]):
    """``I/N``: piece I of N."""

    name = "shard"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Two whole numbers, the first from 1 to the second."""
        if isinstance(value, tuple):
            return value
        number, slash, count = str(value).partition("/")
        digits = number + count
        is_written = slash and number and count and digits.isascii() and digits.isdigit() and len(digits) < 18
        if not (is_written and int(count)):
            self.fail(f"{value!r} is not a piece such as 2/8", param, ctx)
        if not 1 <= int(number) <= int(count):
            self.fail(f"{value!r}: expected a piece from 1/{int(count)} to {int(count)}/{int(count)}", param, ctx)
        return int(number), int(count)


@click.command()
@click.argument("run", type=FILE)
@file_option("-o", "--out", required=True, metavar="PART", help="Write the scored piece here.")
@click.option(
    "--shard", type=ShardType(), default="1/1", show_default=True, metavar="I/N", help="Score piece I of N pieces."
)
@click.option(
    "--by",
    type=click.Choice(("bytes", "files", "topics")),
    help="How RUN is divided. [default: folders by files, plain files by bytes, gzip by topics]",
)
@scored_run_options
def score(run: Path, out: Path, shard: tuple[int, int], by: str | None, collection: Collection) -> int:
    """Score a run, or a piece of it.

    What gates need of it is written to PART. RUN is a file, a folder of files, or the address of either. `riskguard
    merge` puts the pieces of a run together; commands take the part of a whole run in the place of the run.
    """
    from pytest_riskguard.evaluation.shards.part_files import content_of
    from pytest_riskguard.evaluation.shards.shard_plan import DIVISIONS, Shard, division_of
    from pytest_riskguard.evaluation.shards.shard_reading import read_shard

    ensure_apart("--out", out, run, *_judgement_files(collection))
    asked = _asked(collection, run)
    division = next((one for one in DIVISIONS if one == by), None) or division_of(run)
    part = read_shard(Shard(run, *shard, division), asked)
    _write(out, content_of(part, asked.qrels))
    what = "the run" if shard[1] == 1 else f"piece {shard[0]}/{shard[1]} of the run"
    click.echo(clean(f"wrote {out}: {what}, {counted(len(part.kept.places), 'topic')}", limit=1000))
    return ExitStatus.PASSED


@click.command()
@click.argument("part", type=FILE, nargs=-1, required=True)
@file_option("-o", "--out", metavar="PART", help="Write the part of the whole run here.")
@file_option("--scores", metavar="FILE", help="Write the scores per topic here, as a table.")
@file_option("--qrels", help="Qrels file (judgements) that the parts were scored with. [default: riskguard.yaml's]")
@file_option("--topics", help="Topics file, for judgements that name queries by their texts.")
def merge(
    part: tuple[Path, ...], out: Path | None, scores: Path | None, qrels: Path | None, topics: Path | None
) -> int:
    """Put all scored pieces of a run together.

    Each PART is what `riskguard score` wrote. Missing and repeated pieces, pieces of other runs, judgements, measures
    or versions, topics in two pieces and damaged files are refused.
    """
    from pytest_riskguard.evaluation.score_files import write_scores
    from pytest_riskguard.evaluation.shards.merging import merged, scored_part
    from pytest_riskguard.evaluation.shards.part_files import content_of, read_part_file

    if out is None and scores is None:
        raise UsageError("nothing to write: give --out, --scores, or both")
    collection = Collection(qrels, topics, None, ())
    for option, path in (("--out", out), ("--scores", scores)):
        ensure_apart(option, path, *part, *_judgement_files(collection))
    judgements, texts = _judgements(collection)
    names = [str(path) for path in part]
    parts = [read_part_file(path, judgements, source=name) for path, name in zip(part, names, strict=True)]
    whole = merged(parts, judgements, names=names)
    found = scored_part(whole, judgements, whole.origin.measures, queries=texts).scores
    if out is not None:
        _write(out, content_of(whole, judgements))
    if scores is not None:
        write_scores(scores, found)
    means = ", ".join(f"{one.measure} {one.mean:.4f}" for one in found)
    written = " and ".join(str(path) for path in (out, scores) if path is not None)
    topics_of_run = counted(len(found[0].topics), "topic")
    click.echo(clean(f"wrote {written}: {whole.origin.name}, {topics_of_run}, {means}", limit=1000))
    return ExitStatus.PASSED


def _asked(collection: Collection, run: Path) -> Asked:
    from pytest_riskguard.evaluation.shards.shard_reading import Asked

    settings = surroundings() if collection.qrels is None else None
    measures = collection.measures or (() if settings is None else settings.measures) or (DEFAULT_MEASURE,)
    qrels, texts = _judgements(collection)
    return Asked.of(collection.system(run), qrels, measures, texts=texts)


def _judgements(collection: Collection) -> tuple[Qrels, Mapping[str, str]]:
    """The judgements that options or riskguard.yaml name, and the query texts."""
    from pytest_riskguard.evaluation.collection import read_collection

    given = _given(collection)
    if given.qrels is None:
        raise UsageError("a run needs qrels to be scored with: give --qrels, or a riskguard.yaml")
    qrels, topics = read_collection(given.qrels, given.topics)
    return qrels, topics.queries if topics is not None else qrels.texts


def _given(collection: Collection) -> GivenCollection:
    """The files of judgements and topics that options or riskguard.yaml name."""
    given = collection.given
    settings = surroundings() if given.qrels is None else None
    return given if settings is None else given.or_of(settings.collection)


def _judgement_files(collection: Collection) -> list[Path]:
    given = _given(collection)
    return [file.path for file in (given.qrels, given.topics) if file is not None]


def _write(path: Path, content: bytes) -> None:
    from pytest_riskguard.reports import files

    try:
        files.write_bytes(path, content)
    except OSError as error:
        raise unwritable(str(path), error) from None
