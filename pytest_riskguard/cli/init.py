"""``riskguard init``: a first riskguard.yaml."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import suppress
from pathlib import Path

import click

from pytest_riskguard.cli.options import FILE
from pytest_riskguard.cli.output import unwritable
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.gates.kinds import MIN_TOPICS, OPTIONS, POLICY

TEMPLATE = """\
# What `riskguard check` and `pytest --riskguard` judge. Paths are relative to this file.
collection:
  qrels: {qrels}              # judgements: TREC, BEIR, CSV, Quepid, ... as they are
{topics}
{grades}
store: baselines                # where `riskguard baseline add NAME RUN` puts the runs you trust
measures: ["{measure}"]         # any that ir-measures knows; the first is the default
candidate: {candidate}          # the run to judge, or {{retrieve: "mypackage.search:retrieve", depth: 100}}

gates:
  # Fails when the candidate is significantly risky against the baseline, and names the topics responsible.
  #
  # alpha: a query that gets worse counts 1 + alpha = {weight:g} times, one that gets better once. At alpha 0 the
  # gate compares plain means.
  #
  # tolerance: the smallest loss that matters to you, in units of the measure. Only losses beyond it fail; `riskguard
  # power` says which ones this many queries can show.
  #
  # on_churn: in churn, queries move up and down, the mean itself (alpha 0, tolerance 0) is not significantly down,
  # and the gate would fail only because losses weigh more. `warn` says so and passes, `fail` stops the change. A
  # mean that is significantly down fails either way, if the loss at this alpha is beyond the tolerance.
  - name: no-risk
    kind: not_significantly_risky
    baseline: prod
    alpha: {alpha:g}
    tolerance: {tolerance:g}
    on_churn: {on_churn}

  # Fails when too many queries lose much, whatever the others gain: the mean may rise while one query in ten is
  # ruined. `allowed` is a share of the judged queries, or a number of them.
  - name: tail
    kind: no_topic_collapse
    baseline: prod
    max_loss: {tail[max_loss]:g}
    allowed: {tail[allowed]:g}

  # Fails when any single query loses more than this. `protected: [q12, "kind=navigational"]` names queries, or tags
  # of the topics file, that may not lose at all.
  - name: no-collapse
    kind: no_topic_collapse
    baseline: prod
    max_loss: {collapse[max_loss]:g}

# Several risk gates are each judged at their own level; `family: auto` corrects for asking several questions.
# `baselines: [prod, release]` instead of `baseline` asks about each of them and is always corrected.
"""


@click.command()
@click.option("--qrels", type=FILE, default="qrels.txt", show_default=True, help="Qrels file to name in it.")
@click.option("--topics", type=FILE, help="Topics file to name in it.")
@click.option("--measure", default="nDCG@10", show_default=True, help="Measure of the gates.")
@click.option("--candidate", type=FILE, default="runs/candidate.run", show_default=True, help="The run to judge.")
@click.option("-o", "--output", type=FILE, default="riskguard.yaml", show_default=True, help="Where to write.")
def init(qrels: Path, topics: Path | None, measure: str, candidate: Path, output: Path) -> None:
    """Write a first riskguard.yaml.

    Contains the three gates that compare asks too, and comments that explain the settings.
    """
    from pytest_riskguard.data.measures import measure_name
    from pytest_riskguard.data.qrels import read_qrels

    lowest, highest, known = 0.0, 3.0, "the lowest and the highest grade; any other is then refused"
    is_commented, too_few = "# ", False
    with suppress(DataError):  # there is no file yet
        judgements = read_qrels(output.parent / qrels)
        grades = judgements.arrays.grades
        lowest, highest = min(float(grades.min()), 0.0), float(grades.max())
        known, is_commented = "those of the judgements; any other grade is refused", ""
        too_few = len(judgements.topics) < MIN_TOPICS
    named = "  # topics: topics.tsv          # topic, query text; failures then show the query"
    text = TEMPLATE.format(
        qrels=_quoted(qrels),
        topics=named if topics is None else f"  topics: {_quoted(topics)}",
        grades=f"  {is_commented}grades: [{lowest:g}, {highest:g}]     # {known}",
        measure=measure_name(measure),
        candidate=_quoted(candidate),
        alpha=OPTIONS["alpha"].default,
        weight=1 + OPTIONS["alpha"].default,
        tolerance=OPTIONS["tolerance"].default,
        on_churn=OPTIONS["on_churn"].default,
        tail=POLICY[1][2],
        collapse=POLICY[2][2],
    )
    _write_new(output, text)
    if too_few:
        click.echo(f"no-risk needs at least {MIN_TOPICS} judged queries: until then it is inconclusive", err=True)
    add, judge = "riskguard baseline add prod RUN", "pytest --riskguard"
    if output.parent != Path():
        add += f" --config {shlex.quote(str(output))}"
        judge += f" {shlex.quote(str(output.parent))}"
    click.echo(f"wrote {output}. Next: `{add}`, then `{judge}`")


def _write_new(output: Path, text: str) -> None:
    try:
        with output.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{output} already exists; remove it first, or name another with --output") from None
    except OSError as error:
        raise unwritable(output, error) from None


def _quoted(path: Path) -> str:
    text = path.as_posix()
    return text if re.fullmatch(r"[A-Za-z][\w/.-]*", text) else json.dumps(text, ensure_ascii=False)
