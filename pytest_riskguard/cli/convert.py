"""``riskguard convert``: a file of one format as a file of another."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import ensure_apart, unwritable
from pytest_riskguard.cli.parameters import FILE, file_option
from pytest_riskguard.data.given_file import TIES, Ties
from pytest_riskguard.data.records import KINDS
from pytest_riskguard.text import clean

if TYPE_CHECKING:
    from pytest_riskguard.data.records import Kind


@click.command()
@click.argument("input", type=FILE)
@click.argument("out", type=FILE)
@click.option("--to", metavar="FORMAT", help="The format of OUT. [default: detected from its name]")
@click.option(
    "--format", "format_", metavar="FORMAT", help="The format of INPUT. [default: detected from its content]"
)
@click.option("--kind", type=click.Choice(KINDS), help="What INPUT holds, where its content fits several kinds.")
@file_option("--topics", help="Topics file, for formats that identify queries by their texts.")
@click.option("--download", is_flag=True, help="Let ir_datasets download what this machine lacks of irds:NAME.")
@click.option("--ties", type=click.Choice(TIES), help="Which order of rankings counts where scores are equal.")
def convert(
    input: Path,
    out: Path,
    *,
    to: str | None,
    format_: str | None,
    kind: Kind | None,
    topics: Path | None,
    download: bool,
    ties: Ties | None,
) -> int:
    """Write file INPUT in another format.

    INPUT holds judgements, rankings, topics or per-topic scores in any format that riskguard reads; FILE#PART is one
    of several systems in a file. What OUT cannot hold is listed.
    """
    from dataclasses import replace

    from pytest_riskguard.data import conversion
    from pytest_riskguard.data.collection import read_topics
    from pytest_riskguard.data.given_file import GivenFile
    from pytest_riskguard.reports import files

    given = replace(GivenFile.of(input), format=format_, ties=ties, download=download)
    ensure_apart("OUT", out, given.path, *([] if topics is None else [topics]))
    known = None if topics is None else read_topics(topics)
    converted = conversion.convert(given, out, kind=kind, to=to, topics=known)
    content = gzip.compress(converted.content, mtime=0) if out.suffix == ".gz" else converted.content
    try:
        files.write_bytes(out, content)
    except OSError as error:
        raise unwritable(f"OUT {out}", error) from None
    formats = f"{converted.source.name} -> {converted.target.name}"
    click.echo(clean(f"wrote {out}: {converted.holds} ({formats})", limit=1000))
    for lost in converted.lost:
        click.echo(clean(f"lost: {lost}", limit=1000), err=True)
    return ExitStatus.PASSED
