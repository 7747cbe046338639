"""``riskguard init``: a first riskguard.yaml, about what lies in its folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import click

from pytest_riskguard.cli.look import Plan, is_absent, planned
from pytest_riskguard.cli.options import FILE, NamedPath
from pytest_riskguard.cli.output import Detail, show, unwritable
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.kinds import KINDS, OPTIONS, POLICY, options_of
from pytest_riskguard.text import clean

TEMPLATE = """\
# What `riskguard check` and `pytest --riskguard` judge. Paths are relative to this file.
collection:
  qrels: {qrels}              # {judgements}: TREC, BEIR, CSV, Quepid, ... as they are
{topics}
{grades}
store: baselines                # where `riskguard baseline add NAME RUN` puts the runs you trust
measures: ["{measure}"]         # any that ir-measures knows; the first is the default
{candidate}

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
    alpha: {options[alpha].default:g}
    tolerance: {options[tolerance].default:g}
    on_churn: {options[on_churn].default}

  # Fails when too many queries lose much, whatever the others gain: the mean may rise while one query in ten is
  # ruined. `allowed` is a share of the judged queries, or a number of them.
  - name: tail
    kind: no_topic_collapse
    baseline: prod
    max_loss: {policy[1][2][max_loss]:g}
    allowed: {policy[1][2][allowed]:g}

  # Fails when any single query loses more than this. `protected: [q12, "kind=navigational"]` names queries, or tags
  # of the topics file, that may not lose at all.
  - name: no-collapse
    kind: no_topic_collapse
    baseline: prod
    max_loss: {policy[2][2][max_loss]:g}

# Several risk gates are each judged at their own level; `family: auto` corrects for asking several questions.
# `baselines: [prod, release]` instead of `baseline` asks about each of them and is always corrected.
"""
#: The same where nothing is judged.
UNJUDGED = """\
# What `riskguard check` and `pytest --riskguard` judge. Paths are relative to this file.
collection: {{{in_line}}}         # qrels: no judgements were found; with some, gates can tell harm from change
store: baselines                # where `riskguard baseline add NAME RUN` puts the runs you trust
{candidate}

gates:
  # Measures change, not harm: fails when more queries change than you expect. Each limit is a share of the queries,
  # or a number of them.
  - name: no-surprise
    kind: no_surprise
    baseline: prod
    max_empty: {surprise[max_empty].default:g}                # had results, and have none
    max_shorter: {surprise[max_shorter].default:g}           # have fewer results in the first 10
    max_changed_first: {surprise[max_changed_first].default:g}      # have another first result
    min_overlap: {surprise[min_overlap].default:g}            # share less than this of the first 10 results ...
    allowed: {surprise[allowed].default:g}                # ... but for so many
"""
_LIVE = "{{retrieve: {}, depth: 100}}"
_A_LIVE_ONE = _LIVE.format('"mypackage.search:retrieve"')


@click.command()
@click.option("--qrels", type=FILE, help="Judgements to name in it. [default: those found, else qrels.txt]")
@click.option("--topics", type=FILE, help="Topics file to name in it. [default: the one found]")
@click.option("--measure", default="nDCG@10", show_default=True, help="Measure of the gates.")
@click.option("--candidate", metavar="RUN|SEARCH", help="What to judge: a run, or package.module:function.")
@click.option("-o", "--output", type=FILE, default="riskguard.yaml", show_default=True, help="Where to write.")
def init(qrels: Path | None, topics: Path | None, measure: str, candidate: str | None, output: Path) -> None:
    """Write a first riskguard.yaml.

    Looks by content in its folder, and up to two folders down, for judgements, runs, topics and functions that
    search, and imports none. Two runs are judged before it writes. Contains the three gates that compare asks too,
    and comments that explain the settings. On a terminal it asks first.
    """
    from pytest_riskguard.data.measures import measure_name

    measure = measure_name(measure)
    if os.path.exists(output):  # noqa: PTH110 - Path.exists raises if a name is too long
        raise UsageError(f"{output} already exists; remove it first, or name another with --output")
    plan = planned(output.parent, qrels, topics, candidate)
    click.echo("\n".join(plan.lines))
    text = _text(plan, measure, output.parent)
    fault = _judge_once(text, plan, output)
    if sys.stdin.isatty() and not click.confirm(f"Write {output}?", default=True):
        click.echo("nothing was written")
        return
    try:
        with output.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise unwritable(output, error) from None
    about = ", whose gate measures change, not harm: there are no judgements" if plan.is_unjudged else ""
    click.echo(f"wrote {output}{about}. Next: {fault or _next(plan, output)}")


def _text(plan: Plan, measure: str, folder: Path) -> str:
    """The file."""
    grades, candidate, judged = "  # grades: [0, 3]", plan.candidate, plan.judgements
    if judged is not None:
        lowest, highest = min(float(judged.arrays.grades.min()), 0.0), float(judged.arrays.grades.max())
        grades = f"  grades: [{lowest:g}, {highest:g}]"
    about = f"the run to judge, or {_A_LIVE_ONE}"
    named = f"# candidate: candidate.run       # none was found: {about}"
    if isinstance(candidate, str):
        named = f"candidate: {_LIVE.format(json.dumps(candidate))}     # called with each query"
    elif candidate is not None:
        absent = "not there yet; " * is_absent(candidate, folder)
        named = f"candidate: {_quoted(candidate)}          # {absent}{about}"
    no_topics = "  # topics: topics.tsv          # topic, query text; failures then show the query"
    return (UNJUDGED if plan.is_unjudged else TEMPLATE).format(
        in_line="" if plan.topics is None else f"topics: {json.dumps(plan.topics.as_posix())}",
        surprise=options_of(KINDS["no_surprise"]),
        qrels=_quoted(plan.qrels or Path("qrels.txt")),
        judgements="not there yet; judgements" if plan.judgements is None else "judgements",
        topics=no_topics if plan.topics is None else f"  topics: {_quoted(plan.topics)}",
        grades=f"{grades}     # the lowest and the highest grade; any other is refused",
        measure=measure,
        candidate=named,
        options=OPTIONS,
        weight=1 + OPTIONS["alpha"].default,
        policy=POLICY,
    )


def _judge_once(text: str, plan: Plan, output: Path) -> str:
    """Check the text as a riskguard.yaml, and show how its gates judge two runs that are there.

    What to mend where they cannot be compared.
    """
    from pytest_riskguard.cli.check import declared_gates
    from pytest_riskguard.config import yaml_lines
    from pytest_riskguard.config.items import all_items
    from pytest_riskguard.config.problems import checked
    from pytest_riskguard.reports import words
    from pytest_riskguard.reports.comparisons import answer

    settings = checked(yaml_lines.parse(text.encode()), output, require_gates=True)
    candidate = plan.candidate
    if plan.baseline is None or not isinstance(candidate, Path):
        return ""
    if is_absent(candidate, output.parent) or (plan.qrels and not plan.judgements):
        return ""
    prod = NamedPath("prod", str(output.parent / plan.baseline))
    declared, _, _ = declared_gates(settings, None, [prod])
    verdicts = [declared.verdict(item) for item in all_items(settings)]
    if all(verdict.outcome == "incomparable" for verdict in verdicts):
        click.secho(clean(f"No verdict: {words.fault(verdicts[0])}", limit=400), bold=True)
        return words.remedy(verdicts[0])
    click.secho(answer(verdicts).title, bold=True)
    show(verdicts, Detail(quiet=True))
    return ""


def _next(plan: Plan, output: Path) -> str:
    """The commands to type."""
    where = [] if output.parent == Path() else ["--config", str(output)]

    def typed(*words: str) -> str:
        return f"`riskguard {shlex.join([*words, *where])}`"

    run = [] if plan.baseline is None else [Path(os.path.relpath(output.parent / plan.baseline)).as_posix()]
    first = []
    if plan.judgements is None and not plan.is_unjudged:
        first = [f"write {output.parent / (plan.qrels or 'qrels.txt')}, the judgements"]
    steps = [typed("check", *([] if plan.candidate else ["--candidate", "RUN"]))]
    if (output.parent / "baselines/prod").exists():
        return ", then ".join([*first, *steps])
    if isinstance(plan.candidate, str) and not run:
        steps = ["change the search", *steps]
    elif not run:
        run = ["RUN"]
    return ", then ".join([*first, typed("baseline", "add", "prod", *run), *steps])


def _quoted(path: Path) -> str:
    text = path.as_posix()
    return text if re.fullmatch(r"[A-Za-z][\w/.-]*", text) else json.dumps(text, ensure_ascii=False)
