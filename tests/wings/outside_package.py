"""A package of somebody else, in a folder as an installer would leave it: one of everything that can be added."""

from pathlib import Path

MODULE = '''
import csv, io, json, os
import click
from pytest_riskguard.cli import output_options, system_options
from pytest_riskguard.hookspecs import hookimpl
from pytest_riskguard.reports import Section, document


@click.command("count-lines")
@click.argument("file", type=click.Path(exists=True))
def count_lines(file):
    """Count the lines of a file."""
    click.echo(len(open(file).readlines()))


@click.command("losers")
@system_options("RUN", "tolerance", baseline="A run to lose against.")
@output_options("the runs")
def losers(inputs, outputs):
    """Name the runs that are significantly risky."""
    outputs.check(*inputs.files)
    pairs = [(run, baseline) for run in inputs.systems for baseline in inputs.baselines]
    options = inputs.options
    verdicts = inputs.verdicts("not_significantly_risky", pairs, measures=inputs.measures(), **options)
    lost = [verdict.candidate for verdict in verdicts if not verdict.passed]
    shown = Section("losers", lost)
    return outputs.finish(shown, document("losers/1", {"lost": lost}), problem=lost and "lost")


@hookimpl
def riskguard_commands():
    return [count_lines, losers]


def rankings(content):
    rows = json.loads(content)
    if not isinstance(rows, dict):
        raise ValueError("a mapping of queries to documents")
    return {query: {doc: -place for place, doc in enumerate(documents)} for query, documents in rows.items()}


def judgements(content):
    return {query: dict.fromkeys(documents, 1) for query, documents in json.loads(content).items()}


def scores(content):
    return dict(line.split() for line in content.decode().splitlines())


@hookimpl
def riskguard_formats():
    return {"shelf": {"rankings": rankings, "judgements": judgements, "scores": scores}}


def first_hit(documents, grades):
    """1 if the first document is relevant."""
    return float(bool(documents) and grades.get(documents[0], 0) > 0)


@hookimpl
def riskguard_measures():
    return {"FirstHit": first_hit}


def as_csv(report):
    out = io.StringIO()
    csv.writer(out).writerows([v["gate"], v["outcome"]] for v in report["verdicts"])
    return out.getvalue()


@hookimpl
def riskguard_reports():
    return {".csv": as_csv}


@hookimpl
def riskguard_verdict(verdict):
    with open(os.environ["OUTSIDE_LOG"], "a") as log:
        log.write(f"{verdict.gate} {verdict.outcome}\\n")
'''


def install(folder: Path, *, module: str = MODULE, name: str = "outside") -> Path:
    """The package in a folder that stands for site-packages; the folder."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[riskguard]\n{name} = {name}_plugin\n")
    (folder / f"{name}_plugin.py").write_text(module)
    return folder
