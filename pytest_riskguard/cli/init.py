"""``riskguard init`` and ``riskguard schema``: a first riskguard.yaml, and its schema for editors."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import unwritable, write_text
from pytest_riskguard.cli.parameters import NumberType, file_option
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.gates.kinds import MAX_ALPHA, MIN_TOPICS, OPTIONS, POLICY
from pytest_riskguard.gates.option_types import Number

if TYPE_CHECKING:
    from pytest_riskguard.data.qrels import Qrels

#: What a query that gets worse costs, in queries that get as much better.
WORSE_COSTS = 2.0

TEMPLATE = """\
{modeline}
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
{policy}
  - name: no-risk
    kind: not_significantly_risky
    baseline: prod
    alpha: {alpha}
    tolerance: {tolerance}
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
@file_option("--qrels", default=Path("qrels.txt"), show_default=True, help="Qrels file to name in it.")
@file_option("--topics", help="Topics file to name in it.")
@click.option("--measure", default="nDCG@10", show_default=True, help="Measure of the gates.")
@click.option("--candidate", default="runs/candidate.run", show_default=True, help="The run to judge.")
@click.option(
    "--worse-costs",
    type=NumberType(Number(1, 1 + MAX_ALPHA)),
    metavar="TIMES",
    help="A query that gets worse costs this many times what one that gets as much better gains; alpha is one less. "
    f"[default: {WORSE_COSTS:g}]",
)
@click.option("-y", "--yes", is_flag=True, help="Ask no questions, as when not run in a terminal.")
@file_option("--output", default=Path("riskguard.yaml"), show_default=True, help="Where to write.")
def init(
    qrels: Path,
    topics: Path | None,
    measure: str,
    candidate: str,
    worse_costs: float | None,
    yes: bool,
    output: Path,
) -> None:
    """Write a first riskguard.yaml.

    Contains the three gates that compare asks too, and comments that explain the settings. In a terminal it asks
    for --worse-costs if it is not given. Beside the file it writes
    riskguard.schema.json, a JSON Schema that the first line names: editors with the YAML language server use it to
    complete and check the file.
    """
    from pytest_riskguard.config.json_schema import MODELINE, SCHEMA_NAME
    from pytest_riskguard.data.measures import measure_name

    for option, path in (("qrels", qrels), ("topics", topics), ("candidate", Path(candidate)), ("output", output)):
        if path == Path():
            raise UsageError(f"--{option} names no file: give a path")
    schema_file = output.parent / SCHEMA_NAME
    if output.exists():
        raise _exists(output)
    if schema_file.exists() and not _is_schema(schema_file):
        raise UsageError(f"{schema_file} already exists and is not riskguard's schema; move it to another folder")
    name = measure_name(measure)
    judgements = _judgements(output.parent / qrels)
    tolerance, on_churn = OPTIONS["tolerance"].default, OPTIONS["on_churn"].default
    if worse_costs is None:
        worse_costs = _asked_cost() if not yes and _on_a_terminal() else WORSE_COSTS
    named = "  # topics: topics.tsv          # topic, query text; failures then show the query"
    named = named if topics is None else f"  topics: {_quoted(topics)}"
    names = {"qrels": _quoted(qrels), "candidate": _quoted(Path(candidate))}
    text = TEMPLATE.format(
        modeline=MODELINE,
        topics=named,
        grades=_grades(judgements),
        measure=name,
        tolerance=f"{tolerance:g}",
        tail=POLICY[1][2],
        collapse=POLICY[2][2],
        **names,
        **_policy(worse_costs, on_churn),
    )
    _write_new(text, output)
    write_text(_schema_text(), schema_file, option="--output")
    if judgements is not None and len(judgements.topics) < MIN_TOPICS:
        click.echo(f"no-risk needs at least {MIN_TOPICS} judged queries: until then it is inconclusive", err=True)
    here = output.parent == Path()
    add = "riskguard baseline add prod RUN" + ("" if here else f" --config {shlex.quote(str(output))}")
    judge = "pytest --riskguard" + ("" if here else f" {shlex.quote(str(output.parent))}")
    click.echo(f"wrote {output}. Next: `{add}`, then `{judge}`")


def _write_new(text: str, output: Path) -> None:
    try:
        with output.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise _exists(output) from None
    except OSError as error:
        raise unwritable(str(output), error) from None


@click.command()
def schema() -> int:
    """Print the JSON Schema of riskguard.yaml.

    init writes it as riskguard.schema.json beside riskguard.yaml; after an update of riskguard, write it again.
    """
    click.echo(_schema_text(), nl=False)
    return ExitStatus.PASSED


def _is_schema(path: Path) -> bool:
    """Whether a file is such a schema, perhaps of another version, which may be replaced."""
    from pytest_riskguard.config.json_schema import TITLE

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("title") == TITLE


def _schema_text() -> str:
    from pytest_riskguard.config.json_schema import json_schema

    return json.dumps(json_schema(), indent=2) + "\n"


def _on_a_terminal() -> bool:
    """Whether somebody sees the questions and can answer them."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _exists(output: Path) -> UsageError:
    return UsageError(f"{output} already exists; remove it first, or name another with --output")


def _judgements(qrels: Path) -> Qrels | None:
    """The judgements; None without a readable file."""
    from pytest_riskguard.data.qrels import read_qrels

    try:
        return read_qrels(qrels)
    except DataError:
        return None


def _grades(judgements: Qrels | None) -> str:
    """The line that names the scale of the grades."""
    if judgements is None:
        return "  # grades: [0, 3]     # the lowest and the highest grade; any other is then refused"
    grades = judgements.arrays.grades
    lowest, highest = min(float(grades.min()), 0.0), float(grades.max())
    return f"  grades: [{lowest:g}, {highest:g}]     # those of the judgements; any other grade is refused"


def _asked_cost() -> float:
    question = "Does a query that gets worse cost more than one that gets as much better gains?"
    if not click.confirm(question, default=True):
        return 1.0
    times = NumberType(Number(1, 1 + MAX_ALPHA))
    return float(click.prompt("How many times as much?", type=times, default=f"{WORSE_COSTS:g}"))


def _policy(worse_costs: float, on_churn: str) -> dict[str, str]:
    """What the gate's alpha and ``on_churn`` are, and the comments that explain them."""
    alpha = worse_costs - 1
    times = f"1 + alpha = {worse_costs:g}" if alpha else "1 + alpha"
    means = "Here the gate compares plain means." if alpha == 0 else "At alpha 0 the gate compares plain means."
    about = [
        f"alpha: a query that gets worse counts {times} times, one that gets better once. {means}",
        "",
        "tolerance: the smallest loss that matters to you, in units of the measure. Only losses beyond it fail; "
        "`riskguard power` says which ones this many queries can show.",
        "",
        "on_churn: in churn, queries move up and down, the mean itself (alpha 0, tolerance 0) is not significantly "
        "down, and the gate would fail only because losses weigh more. `warn` says so and passes, `fail` stops the "
        "change. A mean that is significantly down fails either way, if the loss at this alpha is beyond the "
        "tolerance.",
    ]
    lines = [part for text in about for part in textwrap.wrap(text, 112) or [""]]
    comment = "\n".join(f"  # {line}".rstrip() for line in lines)
    return {"alpha": f"{alpha:g}", "on_churn": on_churn, "policy": comment}


def _quoted(path: Path) -> str:
    text = path.as_posix()
    plain = all(c.isalnum() or c in "/._-" for c in text) and text[0].isalpha()
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
