"""``riskguard init``: a first riskguard.yaml that says what its settings mean."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_riskguard.cli.parameters import file_option
from pytest_riskguard.errors import UsageError

TEMPLATE = """\
# What `pytest --riskguard` judges. Paths are relative to this file.
collection:
  qrels: {qrels}              # judgements, TREC format: topic 0 document grade
{topics}
store: baselines                # where `riskguard baseline add NAME RUN` puts the runs you trust
measures: ["{measure}"]         # any that ir-measures knows; the first is the default
candidate: {candidate}          # the run to judge, or {{retrieve: "mypackage.search:retrieve", depth: 100}}

gates:
  # Fails when the candidate is significantly risky against the baseline, and names the topics responsible.
  #
  # alpha is your policy: a loss counts 1 + alpha times. At alpha 0 the gate compares plain means. At alpha 1 a topic
  # that loses 0.1 needs two topics that win 0.1. This protects the queries that work today; the price is that
  # churn alone can fail the gate: many topics move up and down and the mean stays the same. The message says whether
  # it was a loss (the mean itself is down) or churn; `on_churn: warn` lets churn pass with a warning.
  - name: no-risk
    kind: not_significantly_risky
    baseline: prod
    alpha: 1
    on_churn: fail

  # Fails when any single topic loses more than this, whatever the others do. An interval looks at all topics together
  # and may let one of them fall to nothing. `protected: [q12, "kind=navigational"]` names topics, or tags of the
  # topics file, that may not lose at all.
  - name: no-collapse
    kind: no_topic_collapse
    baseline: prod
    max_loss: 0.5

# Several risk gates are each judged at their own level; `family: holm` corrects for asking several questions.
# `baselines: [prod, release]` instead of `baseline` asks about each of them and is always corrected.
"""


@click.command()
@file_option("--qrels", default=Path("qrels.txt"), show_default=True, help="Qrels file to name in it.")
@file_option("--topics", help="Topics file to name in it.")
@click.option("--measure", default="nDCG@10", show_default=True, help="Measure of the gates.")
@click.option("--candidate", default="runs/candidate.run", show_default=True, help="The run to judge.")
@file_option("--output", default=Path("riskguard.yaml"), show_default=True, help="Where to write.")
def init(qrels: Path, topics: Path | None, measure: str, candidate: str, output: Path) -> None:
    """Write a first riskguard.yaml.

    Contains a risk gate, a gate on single topics, and comments that explain the settings.
    """
    from pytest_riskguard.evaluation.measures import measure_name

    for option, path in (("qrels", qrels), ("topics", topics), ("candidate", Path(candidate)), ("output", output)):
        if path == Path():
            raise UsageError(f"--{option} is empty: give a path")
    named = "  # topics: topics.tsv          # topic, query text; failures then show the query"
    named = named if topics is None else f"  topics: {_quoted(topics)}"
    names = {"qrels": _quoted(qrels), "candidate": _quoted(Path(candidate))}
    text = TEMPLATE.format(topics=named, measure=measure_name(measure), **names)
    try:
        with output.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{output} already exists; remove it first, or name another with --output") from None
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None
    click.echo(f"wrote {output}. Next: riskguard baseline add prod RUN, then pytest --riskguard")


def _quoted(path: Path) -> str:
    text = path.as_posix()
    plain = all(c.isalnum() or c in "/._-" for c in text) and text[0].isalpha()
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
