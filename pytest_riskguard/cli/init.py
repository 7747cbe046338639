"""``riskguard init`` and ``riskguard schema``: a first riskguard.yaml, and its schema for editors."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import unwritable, write_text
from pytest_riskguard.cli.parameters import NumberType, file_option
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.gates.kinds import MAX_ALPHA, MIN_TOPICS, OPTIONS, POLICY
from pytest_riskguard.gates.option_types import Number

if TYPE_CHECKING:
    from pytest_riskguard.evaluation.judgements.qrels import Qrels
    from pytest_riskguard.gates.power_plan import Plan, PolicyCost

#: What a query that gets worse costs, in queries that get as much better.
WORSE_COSTS = 2.0
#: What is assumed of a candidate that does not exist yet, and the falls of its mean that are asked about.
CORRELATION, HARMS = 0.9, (0.01, 0.02, 0.05)

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
@file_option(
    "--baseline",
    metavar="RUN",
    help="A run, to say what the policy costs on your own topics. [default: as the calibration study found it]",
)
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
    baseline: Path | None,
    worse_costs: float | None,
    yes: bool,
    output: Path,
) -> None:
    """Write a first riskguard.yaml.

    Contains the three gates that compare asks too, and comments that explain the settings. In a terminal it asks how
    many judged queries there are, and for --worse-costs if it is not given. Beside the file it writes
    riskguard.schema.json, a JSON Schema that the first line names: editors with the YAML language server use it to
    complete and check the file.
    """
    from pytest_riskguard.config.json_schema import MODELINE, SCHEMA_NAME
    from pytest_riskguard.evaluation.measures import measure_name

    for option, path in (("qrels", qrels), ("topics", topics), ("candidate", Path(candidate)), ("output", output)):
        if path == Path():
            raise UsageError(f"--{option} names no file: give a path")
    schema_file = output.parent / SCHEMA_NAME
    if output.exists():
        raise _exists(output)
    if schema_file.exists() and not _is_schema(schema_file):
        raise UsageError(f"{schema_file} already exists and is not riskguard's schema; move it to another folder")
    name = measure_name(measure)
    asks = not yes and _on_a_terminal()
    judgements = _judgements(output.parent / qrels)
    queries = None if judgements is None else len(judgements.topics)
    queries = _asked_queries(queries) if asks else queries
    tolerance, on_churn = OPTIONS["tolerance"].default, OPTIONS["on_churn"].default
    if worse_costs is None:
        worse_costs = _asked_cost() if asks else WORSE_COSTS
    plan = None
    if baseline is not None:
        files = (output.parent / qrels, None if topics is None else output.parent / topics)
        plan = _plan_on(baseline, files, name, worse_costs - 1, tolerance)
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
        **_policy(worse_costs, queries, on_churn, plan),
    )
    _write_new(text, output)
    write_text(_schema_text(), schema_file, option="--output")
    if queries is not None and queries < MIN_TOPICS:
        click.echo(f"no-risk needs at least {MIN_TOPICS} judged queries: until then it is inconclusive", err=True)
    here = output.parent == Path()
    run = "RUN" if baseline is None else shlex.quote(str(baseline))
    add = f"riskguard baseline add prod {run}" + ("" if here else f" --config {shlex.quote(str(output))}")
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
    from pytest_riskguard.evaluation.judgements.qrels import read_qrels

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


def _asked_queries(counted: int | None) -> int | None:
    known = 0 if counted is None else counted
    words = "How many judged queries do you have?" + (" (0: not known yet)" if counted is None else "")
    return int(click.prompt(words, type=click.IntRange(min=0), default=known)) or None


def _asked_cost() -> float:
    question = "Does a query that gets worse cost more than one that gets as much better gains?"
    if not click.confirm(question, default=True):
        return 1.0
    times = NumberType(Number(1, 1 + MAX_ALPHA))
    return float(click.prompt("How many times as much?", type=times, default=f"{WORSE_COSTS:g}"))


def _plan_on(baseline: Path, files: tuple[Path, Path | None], measure: str, alpha: float, tolerance: float) -> Plan:
    """What the policy costs on these topics, by the rule of judgement; ``files`` are judgements and topics."""
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.engine.sources import RunFile
    from pytest_riskguard.formats.given_file import GivenFile
    from pytest_riskguard.gates.kinds import gate_of
    from pytest_riskguard.gates.power_plan import plan_from_baseline

    given = GivenFile.of(baseline)
    engine = Engine(qrels=files[0], topics=files[1], measures=[measure])
    scores = engine.scores(RunFile(given.path, given=given), measure)
    gate = gate_of("no-risk", alpha=alpha, tolerance=tolerance)
    options: dict[str, Any] = {"correlation": CORRELATION, "power": 0.8, "effects": HARMS}
    return plan_from_baseline(gate, scores, topics=engine.topics, **options)


def _policy(worse_costs: float, queries: int | None, on_churn: str, plan: Plan | None) -> dict[str, str]:
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
    if plan is not None and plan.cost is not None:
        lines += cost_on(plan.cost, topics=plan.topics, correlation=CORRELATION)
    else:
        lines += cost_of_failing(alpha, queries, clusters=None if plan is None else plan.clusters)
    comment = "\n".join(f"  # {line}".rstrip() for line in lines)
    return {"alpha": f"{alpha:g}", "on_churn": on_churn, "policy": comment}


def _quoted(path: Path) -> str:
    text = path.as_posix()
    plain = all(c.isalnum() or c in "/._-" for c in text) and text[0].isalpha()
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


#: Share of pairs of equally good systems, every topic of which differs, that a gate with ``method: auto`` and
#: ``on_churn: fail`` fails, in percent, by topics and alpha. The study's table whole-gates.csv has the same figures.
EVERY_TOPIC: Mapping[int, Mapping[float, float]] = {
    12: {1: 13.0, 5: 50.3, 10: 67.5},
    20: {1: 19.0, 5: 70.1, 10: 86.6},
    25: {1: 23.0, 5: 80.0, 10: 92.5},
    50: {1: 39.6, 5: 97.0, 10: 99.8},
    100: {1: 65.2, 5: 100.0, 10: 100.0},
    250: {1: 95.8, 5: 100.0, 10: 100.0},
}
#: The same where one topic in ten differs, from other-differences.csv.
ONE_TOPIC_IN_TEN: Mapping[int, Mapping[float, float]] = {
    50: {1: 7.2, 5: 26.5},
    100: {1: 14.0, 5: 51.5},
    250: {1: 25.9, 5: 85.5},
}
#: The numbers of topics that a table shows.
SHOWN = (25, 50, 100, 250)
ALPHAS = tuple(EVERY_TOPIC[SHOWN[0]])


def cost_of_failing(alpha: float, queries: int | None, *, clusters: int | None = None) -> list[str]:
    """Lines that say how often churn would fail a gate at this alpha; ``queries`` is None if it is not known.

    Queries in ``clusters`` show as much as so many independent ones, at least.
    """
    known = max((a for a in ALPHAS if a <= alpha), default=ALPHAS[0])
    other = f", and {'more' if alpha > known else 'less'} often at alpha {alpha:g}" if alpha not in (0, known) else ""
    lines = [
        f"How often `fail` stops a change that leaves the mean alone (tolerance 0), at alpha {known:g}{other}:",
        "",
        _row("judged queries", map(str, SHOWN)),
        _row("every query moves", (_percent(EVERY_TOPIC[n][known]) for n in SHOWN))
        + _yours(queries, clusters, known),
    ]
    sparse = [ONE_TOPIC_IN_TEN.get(n, {}).get(known) for n in SHOWN]
    if any(sparse):
        lines.append(_row("one query in ten moves", ("" if share is None else _percent(share) for share in sparse)))
    return lines


def cost_on(cost: PolicyCost, *, topics: int, correlation: float) -> list[str]:
    """Lines that say how many of 100 changes on a team's own topics would fail."""
    rows = [("the mean stays", cost.harmless), *((f"it falls by {harm.size:g}", harm) for harm in cost.harmful)]
    return [
        "",
        f"Of 100 changes so many fail on your {topics} queries, simulated for scores that correlate {correlation:g}",
        "with those of the run you gave. `warn` stops only the losses.",
        "",
        f"  {'':<22}{'as a loss':>12}{'as churn':>12}",
        *(f"  {name:<22}{chances.loss:>12.0f}{chances.churn:>12.0f}" for name, chances in rows),
    ]


def _row(name: str, cells: Iterable[str]) -> str:
    return f"  {name:<22}" + "".join(f"{cell:>6}" for cell in cells)


def _yours(queries: int | None, clusters: int | None, alpha: float) -> str:
    """What the table says about this number of queries."""
    what = f"{queries}" if clusters is None else f"{clusters} clusters"
    queries = queries if clusters is None else clusters
    if queries is None or (queries in SHOWN and clusters is None):
        return ""
    below = max((n for n in EVERY_TOPIC if n <= queries), default=None)
    above = min((n for n in EVERY_TOPIC if n >= queries), default=None)
    low, high = (None if n is None else _percent(EVERY_TOPIC[n][alpha]) for n in (below, above))
    if low == high:
        share = str(low)
    elif low is None:
        share = f"up to {high}"
    else:
        share = f"at least {low}" if high is None else f"{low} to {high}"
    return f"   (your {what}: {share})"


def _percent(share: float) -> str:
    return f"{share:.0f}%"
