"""``riskguard judge-next``: the unjudged documents on which a verdict depends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path

import click
from click.core import ParameterSource

from pytest_riskguard.cli.inputs import Inputs, system_options
from pytest_riskguard.cli.main import ExitStatus
from pytest_riskguard.cli.options import FILE, SETTINGS, slice_option, the_config
from pytest_riskguard.cli.output import ensure_apart, write_text
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Question
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.kinds import KINDS, Gate
from pytest_riskguard.text import clean, counted

#: Kinds of gates on one baseline; each is asked with its own defaults.
_KINDS = tuple(kind for kind, cls in KINDS.items() if not (cls.is_pool or cls.of_rankings))
#: What may be said beside the name of a declared gate, which gives all other settings.
_BESIDE_A_GATE = {"systems", "baselines", "kind", "budget", "output"}
#: A spreadsheet reads a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@")
_MAX_TEXT = 1000


@click.command("judge-next")
@system_options(
    "CANDIDATE",
    *SETTINGS,
    metavar="[BASELINE] CANDIDATE...",
    baseline="A run file, or the name of a stored baseline.",
    scores=False,
    required=False,
    first=2,
)
@slice_option
@click.option(
    "--gate",
    "kind",
    default=_KINDS[0],
    metavar="KIND|NAME",
    help=f"The question: {', '.join(_KINDS)}; or a gate of riskguard.yaml, or one of its items, such as "
    f"no-risk[AP-5], which gives all other settings. [default: {_KINDS[0]}]",
)
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="At most this many documents.")
@click.option("-o", "--output", type=FILE, metavar="PATH", help="Write the list here instead of to standard output.")
def judge_next(inputs: Inputs, budget: int | None, output: Path | None) -> int:
    """List the documents whose judgement would settle a verdict.

    Writes a table, separated by tabs, of topic, document and query, most useful first. Several candidates, measures,
    alphas, baselines or slices share one list.

    The first run is the baseline, a file or the name of a stored one; with --baseline every run is a candidate. A
    gate of riskguard.yaml names both: a run then takes the place of its candidate, --baseline NAME=RUN that of a
    stored baseline, as for riskguard check.
    """
    from pytest_riskguard.gates import unjudged

    asked = _of_runs if inputs.kind in KINDS else _of_gate
    engine, questions = asked(str(inputs.kind), inputs, output)
    lists = [unjudged.judge_next(engine.rejudged(question)) for question in questions]
    listed = unjudged.together(lists)
    wanted = [row for row in listed if all(map(_is_plain, row))]
    write_text(judging_table([(row.topic, row.document) for row in wanted[:budget]], engine.sources.queries), output)
    click.echo(_summary(len(wanted), budget, len(lists), sum(map(bool, lists))), err=True)
    if left_out := len(listed) - len(wanted):
        click.echo(f"left out {counted(left_out, 'document')} with an id that cannot be printed as it is", err=True)
    return ExitStatus.PASSED


def _of_runs(kind: str, inputs: Inputs, output: Path | None) -> tuple[Engine, list[Question]]:
    """What the options ask."""
    _refuse_others(kind, KINDS[kind])
    if not (inputs.named_baselines and inputs.runs):
        raise UsageError(
            "expected a baseline and a candidate, as in riskguard judge-next BASELINE CANDIDATE --qrels QRELS, or "
            "--gate with the name of a gate of riskguard.yaml"
        )
    ensure_apart(output, *inputs.files)
    (gates,) = inputs.gates
    return inputs.engine, [one for run in inputs.candidates for one in inputs.questions(gates, run)]


def _of_gate(name: str, inputs: Inputs, output: Path | None) -> tuple[Engine, list[Question]]:
    """What a gate of riskguard.yaml asks, at the level that its family leaves it."""
    from pytest_riskguard.cli.check import asked_for, code_from, declared_gates
    from pytest_riskguard.config.items import all_items
    from pytest_riskguard.config.load import load_gates

    context = click.get_current_context()
    typed = {one for one in context.params if context.get_parameter_source(one) is not ParameterSource.DEFAULT}
    if said := typed - _BESIDE_A_GATE:
        raise UsageError(f"--gate {name}: the gate says all but its runs; leave out {', '.join(sorted(said))}")
    if len(context.params["systems"]) > 1:
        raise UsageError(f"--gate {name}: the gate names its baseline; give at most one run, its candidate")
    settings = load_gates(the_config())
    items = asked_for(all_items(settings), [name], also=_KINDS)
    for item in items:
        _refuse_others(name, item.gate)
    run, replaced = next(iter(inputs.runs), None), inputs.named_baselines
    declared, engine, files = declared_gates(settings, run, replaced)
    ensure_apart(output, *files)
    with code_from(settings):
        return engine, [declared.question(item) for item in items]


def _refuse_others(name: str, gate: Gate | type[Gate]) -> None:
    """Refuse gates that no judgement settles, or that are about several baselines."""
    if gate.is_pool:
        raise UsageError(f"--gate {name} compares a pool; judge-next is about one baseline")
    if gate.of_rankings:
        raise UsageError(f"--gate {name} asks for no judgements; riskguard diff lists what to judge first")


def judging_table(
    documents: Sequence[tuple[str, str]], queries: Mapping[str, str], to_fill: tuple[str, ...] = ()
) -> str:
    """Pairs of topic and document as a table: a header, then one line for each, with empty columns ``to_fill``.

    No spreadsheet runs a cell as a formula: a space, which readers remove, stands before it.
    """
    from pytest_riskguard.data.headers import number
    from pytest_riskguard.data.scores import tab_separated

    table: list[Sequence[str]] = [("topic", "document", "query", *to_fill)]
    for topic, document in documents:
        cells = (topic, document, clean(queries.get(topic, ""), limit=_MAX_TEXT), *([""] * len(to_fill)))
        table.append([f" {cell}" if cell.startswith(_FORMULA) and isnan(number(cell)) else cell for cell in cells])
    return tab_separated(table)


def _is_plain(text: str) -> bool:
    """Whether an id can stand in a line as it is: printable, and no command to a CI system."""
    return clean(text, limit=len(text)) == text


def _summary(wanted: int, budget: int | None, verdicts: int, unsettled: int) -> str:
    """What the list is for."""
    if unsettled == 0:
        return "none of the cases that were tried for the unjudged documents changes a verdict"
    shown = "" if budget is None or wanted <= budget else f"the first {budget} of "
    which = "the verdict" if verdicts == 1 else f"{unsettled} of {verdicts} verdicts"
    to_judge = f"{shown}{counted(wanted, 'document')} to judge; {which} could change"
    return f"{to_judge}. Add the judgements to the qrels, and ask again."
